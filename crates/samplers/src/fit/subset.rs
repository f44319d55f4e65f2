//! Some of the draws, some of the chains, some of the parameters.

use sgmcmc_core::{Error, Layout, Result};

use super::{ChainDraws, Fit};
use crate::sink::Draw;

impl Fit {
    /// Every `every`-th draw of each chain, from the first on; all of them if `every` is 0 or 1.
    #[must_use]
    pub fn thinned(&self, every: usize) -> Self {
        let every = every.max(1);
        let mut fit = self.with_draws(|chain| (0..chain.len()).step_by(every).collect());
        fit.info.thin = fit.info.thin.saturating_mul(every as u64);
        fit
    }

    /// Without the first `draws` draws of each chain: warm-up that was drawn.
    #[must_use]
    pub fn without_first(&self, draws: usize) -> Self {
        let mut fit = self.with_draws(|chain| (draws.min(chain.len())..chain.len()).collect());
        let iterations = fit.info.thin.saturating_mul(fit.info.interleaved as u64).saturating_mul(draws as u64);
        fit.info.burn_in = fit.info.burn_in.saturating_add(iterations);
        fit
    }

    /// The draws made after iteration `iteration` of each chain.
    #[must_use]
    pub fn after(&self, iteration: u64) -> Self {
        let mut fit =
            self.with_draws(|chain| (0..chain.len()).filter(|index| chain.iterations()[*index] > iteration).collect());
        fit.info.burn_in = fit.info.burn_in.max(iteration);
        fit
    }

    /// The first `draws` draws of each chain.
    #[must_use]
    pub fn first(&self, draws: usize) -> Self {
        self.with_draws(|chain| (0..draws.min(chain.len())).collect())
    }

    /// These chains, in this order.
    ///
    /// # Errors
    ///
    /// If there is no such chain.
    pub fn only_chains(&self, chains: &[usize]) -> Result<Self> {
        if let Some(missing) = chains.iter().find(|chain| **chain >= self.chains.len()) {
            let value = missing.to_string();
            return Err(Error::Setting { name: "the number of a chain", value, expected: "chains are counted from 0" });
        }
        let mut fit = self.clone();
        fit.chains = chains.iter().map(|chain| self.chains[*chain].clone()).collect();
        fit.endings = chains.iter().map(|chain| self.endings[*chain].clone()).collect();
        let info = &mut fit.info;
        if !are_whole_runs(chains, info.interleaved) {
            info.interleaved = 1;
        }
        info.seconds = pick(&self.info.seconds, chains);
        info.iterations = pick(&self.info.iterations, chains);
        info.gradients = pick(&self.info.gradients, chains);
        Ok(fit)
    }

    /// These parameters (`beta`, not `beta[3]`), in this order.
    ///
    /// # Errors
    ///
    /// If there is no such parameter.
    pub fn only(&self, names: &[&str]) -> Result<Self> {
        let blocks = names.iter().map(|name| self.layout.block(name)).collect::<Result<Vec<_>>>()?;
        let layout = Layout::new(blocks.iter().map(|b| (b.name.clone(), b.shape.clone(), b.constraint)))?;
        let mut values = Vec::with_capacity(layout.value_count());
        self.rewritten(layout, |row| {
            values.clear();
            blocks.iter().for_each(|block| values.extend_from_slice(&row[block.values.clone()]));
            Ok(values.clone())
        })
    }

    /// The same fit whose draws have the values that `values` makes of theirs, laid out by `layout`. The mode, which has the old
    /// coordinates, is left out.
    pub(super) fn rewritten(&self, layout: Layout, mut values: impl FnMut(&[f64]) -> Result<Vec<f64>>) -> Result<Self> {
        let mut stats = Vec::new();
        let chains = self.chains.iter().map(|chain| {
            let mut rewritten =
                ChainDraws::with_capacity(chain.len(), layout.value_count(), chain.stat_names().to_vec());
            for index in 0..chain.len() {
                let draw = chain.draw(index, &mut stats);
                rewritten.push(&Draw { values: &values(draw.values)?, ..draw })?;
            }
            Ok(rewritten)
        });
        let chains = chains.collect::<Result<Vec<_>>>()?;
        let (mode, info, endings) = (self.mode.clone(), self.info.clone(), self.endings.clone());
        Ok(Self { layout, chains, endings, mode, info })
    }

    /// The same fit with the draws of each chain that `which` lists.
    fn with_draws(&self, which: impl Fn(&ChainDraws) -> Vec<usize>) -> Self {
        let mut fit = self.clone();
        fit.chains = self.chains.iter().map(|chain| chain.only(&which(chain))).collect();
        fit
    }
}

/// Whether `chains` are all chains of some runs of `interleaved` chains each, run by run.
fn are_whole_runs(chains: &[usize], interleaved: usize) -> bool {
    let follow =
        |run: &[usize]| run[0].is_multiple_of(interleaved) && run.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    interleaved > 0 && chains.chunks(interleaved).all(|run| run.len() == interleaved && follow(run))
}

fn pick<T: Copy>(values: &[T], places: &[usize]) -> Vec<T> {
    places.iter().filter_map(|place| values.get(*place)).copied().collect()
}
