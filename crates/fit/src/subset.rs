//! Subsets of the draws, the chains and the parameters of a fit.

use sgmcmc_gradient::{Error, Layout, Result};

use super::{ChainDraws, Fit};
use crate::sink::Draw;

impl Fit {
    /// Returns this fit with every `every`-th draw of each chain, starting with the first. All draws are kept if
    /// `every` is 0 or 1.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let fit = hmc(&model, &Dataset::none(), 0.025).chains(2).sample(&zeros([2]), 100)?;
    /// assert_eq!(fit.thinned(10).chains()[0].len(), 10);
    /// assert_eq!(fit.without_first(30).chains()[0].len(), 70);
    /// assert_eq!(fit.only_chains(&[1])?.chains().len(), 1);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    #[must_use]
    pub fn thinned(&self, every: usize) -> Self {
        let every = every.max(1);
        let mut fit = self.with_draws(|chain| (0..chain.len()).step_by(every).collect());
        fit.info.thin = fit.info.thin.saturating_mul(every as u64);
        fit
    }

    /// Returns this fit without the first `draws` draws of each chain, for instance draws of the warm-up.
    #[must_use]
    pub fn without_first(&self, draws: usize) -> Self {
        let mut fit = self.with_draws(|chain| (draws.min(chain.len())..chain.len()).collect());
        let iterations = fit.info.thin.saturating_mul(fit.info.interleaved as u64).saturating_mul(draws as u64);
        fit.info.burn_in = fit.info.burn_in.saturating_add(iterations);
        fit
    }

    /// Returns this fit with the draws made after iteration `iteration` of each chain.
    #[must_use]
    pub fn after(&self, iteration: u64) -> Self {
        let mut fit =
            self.with_draws(|chain| (0..chain.len()).filter(|index| chain.iterations()[*index] > iteration).collect());
        fit.info.burn_in = fit.info.burn_in.max(iteration);
        fit
    }

    /// Returns this fit with the first `draws` draws of each chain.
    #[must_use]
    pub fn first(&self, draws: usize) -> Self {
        self.with_draws(|chain| (0..draws.min(chain.len())).collect())
    }

    /// Returns this fit with the chains of these indices, in this order.
    ///
    /// # Errors
    ///
    /// Returns an error if an index is out of range.
    pub fn only_chains(&self, chains: &[usize]) -> Result<Self> {
        if let Some(missing) = chains.iter().find(|chain| **chain >= self.chains.len()) {
            let value = missing.to_string();
            return Err(Error::Setting { name: "the number of a chain", value, expected: "chains are counted from 0" });
        }
        let mut fit = self.clone();
        fit.chains = chains.iter().map(|chain| self.chains[*chain].clone()).collect();
        fit.outcomes = chains.iter().map(|chain| self.outcomes[*chain].clone()).collect();
        let info = &mut fit.info;
        if !are_whole_runs(chains, info.interleaved) {
            info.interleaved = 1;
        }
        info.seconds = pick(&self.info.seconds, chains);
        info.iterations = pick(&self.info.iterations, chains);
        info.gradients = pick(&self.info.gradients, chains);
        Ok(fit)
    }

    /// Returns this fit with these parameters (`beta`, not `beta[3]`), in this order.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no parameter with one of these names.
    pub fn only(&self, names: &[&str]) -> Result<Self> {
        let blocks = names.iter().map(|name| self.layout.block(name)).collect::<Result<Vec<_>>>()?;
        let layout = Layout::new(blocks.iter().map(|b| (b.name.clone(), b.shape.clone(), b.constraint)))?;
        let mut values = Vec::with_capacity(layout.value_count());
        self.with_values(layout, |row| {
            values.clear();
            blocks.iter().for_each(|block| values.extend_from_slice(&row[block.values.clone()]));
            Ok(values.clone())
        })
    }

    /// Returns this fit with new values, which `values` computes from the values of each draw. `layout` is the layout
    /// of the new values.
    pub(super) fn with_values(
        &self,
        layout: Layout,
        mut values: impl FnMut(&[f64]) -> Result<Vec<f64>>,
    ) -> Result<Self> {
        let mut stats = Vec::new();
        let chains = self.chains.iter().map(|chain| {
            let mut draws = ChainDraws::with_capacity(chain.len(), layout.value_count(), chain.stat_names().to_vec());
            for index in 0..chain.len() {
                let draw = chain.draw(index, &mut stats);
                draws.push(&Draw { values: &values(draw.values)?, ..draw })?;
            }
            Ok(draws)
        });
        let chains = chains.collect::<Result<Vec<_>>>()?;
        let (mode, info, outcomes) = (self.mode.clone(), self.info.clone(), self.outcomes.clone());
        Ok(Self { layout, chains, outcomes, mode, info })
    }

    /// Returns this fit with the draws whose indices `indices` returns for each chain.
    fn with_draws(&self, indices: impl Fn(&ChainDraws) -> Vec<usize>) -> Self {
        let mut fit = self.clone();
        fit.chains = self.chains.iter().map(|chain| chain.only(&indices(chain))).collect();
        fit
    }
}

/// Returns whether `chains` consists of whole runs of `interleaved` chains, in order.
fn are_whole_runs(chains: &[usize], interleaved: usize) -> bool {
    let is_run =
        |run: &[usize]| run[0].is_multiple_of(interleaved) && run.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    interleaved > 0 && chains.chunks(interleaved).all(|run| run.len() == interleaved && is_run(run))
}

/// Returns the values with these indices. Indices out of range are skipped.
fn pick<T: Copy>(values: &[T], indices: &[usize]) -> Vec<T> {
    indices.iter().filter_map(|index| values.get(*index)).copied().collect()
}
