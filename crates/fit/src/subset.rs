//! Subsets of the draws, the chains and the parameters of a fit.

use std::borrow::Cow;

use sgmcmc_gradient::{Error, Layout, Mode, Result};

use super::{ChainDraws, Fit};
use crate::sink::Draw;

impl Fit {
    /// Returns `count` draws of all chains, spaced evenly and chosen in proportion to their weights. A draw is repeated if
    /// there are fewer.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no draw with a positive weight.
    pub fn evenly_spaced(&self, count: usize) -> Result<Vec<&[f64]>> {
        let draws: Vec<(&[f64], f64)> =
            self.chains.iter().flat_map(|chain| chain.rows().zip(chain.weights().iter().copied())).collect();
        let total: f64 = draws.iter().map(|(_, weight)| weight).sum();
        if draws.is_empty() || total.is_nan() || total <= 0.0 {
            return Err(Error::Draws { reason: "there are none: make draws first".into() });
        }
        let (mut chosen, mut position, mut passed) = (Vec::with_capacity(count), 0, draws[0].1);
        for k in 0..count {
            let target = (k as f64 + 0.5) / count as f64 * total;
            while passed < target && position + 1 < draws.len() {
                position += 1;
                passed += draws[position].1;
            }
            chosen.push(draws[position].0);
        }
        Ok(chosen)
    }

    /// Returns the layout of the parameters of a model, which are the first ones of this fit. Derived quantities follow
    /// them.
    ///
    /// # Errors
    ///
    /// Returns an error if the first parameters of this fit are not those of `model`.
    pub fn parameters_like(&self, model: &Layout) -> Result<Layout> {
        let count = model.blocks().len();
        let first = self.layout.blocks().iter().take(count);
        let first = Layout::new(first.map(|block| (block.name.clone(), block.shape.clone(), block.constraint)))?
            .with_axes_of(&self.layout);
        first.check_same(model)?;
        Ok(first)
    }

    /// Returns this fit without the derived quantities that follow the parameters of `model`.
    pub(crate) fn only_parameters(&self, model: &Layout) -> Result<Cow<'_, Self>> {
        self.parameters_like(model)?;
        if model.blocks().len() == self.layout.blocks().len() {
            return Ok(Cow::Borrowed(self));
        }
        let names: Vec<&str> = model.blocks().iter().map(|block| block.name.as_str()).collect();
        self.only(&names).map(Cow::Owned)
    }

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
        let all = |chain: &usize| (*chain, (0..self.chains[*chain].len()).collect());
        fit.groups = self.groups_of(&chains.iter().map(all).collect::<Vec<_>>());
        let info = &mut fit.info;
        if !are_whole_runs(chains, info.interleaved) {
            info.interleaved = 1;
        }
        info.seconds = pick(&self.info.seconds, chains);
        info.iterations = pick(&self.info.iterations, chains);
        info.gradients = pick(&self.info.gradients, chains);
        info.undefined = pick(&self.info.undefined, chains);
        Ok(fit)
    }

    /// Returns this fit with these parameters (`beta`, not `beta[3]`), in this order.
    ///
    /// The [mode](Self::mode) has the coordinates of these parameters. Its other numbers remain those of all parameters.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no parameter with one of these names.
    pub fn only(&self, names: &[&str]) -> Result<Self> {
        let blocks = names.iter().map(|name| self.layout.block(name)).collect::<Result<Vec<_>>>()?;
        let layout = Layout::new(blocks.iter().map(|b| (b.name.clone(), b.shape.clone(), b.constraint)))?
            .with_axes_of(&self.layout);
        let mut values = Vec::with_capacity(layout.value_count());
        let fit = self.with_values(layout, |row| {
            values.clear();
            blocks.iter().for_each(|block| values.extend_from_slice(&row[block.values.clone()]));
            Ok(values.clone())
        })?;
        // A mode from a damaged file may have another length. It cannot be restricted.
        let mode = self.mode.as_ref().filter(|mode| mode.theta.len() == self.layout.dim()).map(|mode| {
            let theta = blocks.iter().flat_map(|block| &mode.theta[block.range.clone()]).copied().collect();
            Mode { theta, ..mode.clone() }
        });
        Ok(fit.with_mode(mode))
    }

    /// Returns this fit with new values, which `values` computes from the values of each draw. `layout` is the layout
    /// of the new values. The fit has no mode, because the mode has the old layout.
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
        let (info, outcomes, groups) = (self.info.clone(), self.outcomes.clone(), self.groups.clone());
        Ok(Self { layout, chains, outcomes, mode: None, info, groups })
    }

    /// Returns this fit with the draws whose indices `indices` returns for each chain.
    pub(crate) fn with_draws(&self, indices: impl Fn(&ChainDraws) -> Vec<usize>) -> Self {
        let kept: Vec<(usize, Vec<usize>)> = self.chains.iter().map(indices).enumerate().collect();
        let mut fit = self.clone();
        fit.chains = self.chains.iter().zip(&kept).map(|(chain, (_, indices))| chain.only(indices)).collect();
        fit.groups = self.groups_of(&kept);
        // The plan was for all draws.
        fit.info.planned = None;
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

#[cfg(test)]
mod tests {
    use sgmcmc_gradient::Constraint;
    use sgmcmc_gradient::mode::SearchOutcome;

    use super::*;
    use crate::RunInfo;

    /// A fit of a positive number and a simplex, whose three values have two coordinates.
    fn fit(theta: Vec<f64>) -> Fit {
        let parameter = |name: &str, length, constraint| (name.to_owned(), vec![length], Some(constraint));
        let parameters = [parameter("sigma", 1, Constraint::Positive), parameter("p", 3, Constraint::Simplex)];
        let mut chain = ChainDraws::new(4, vec![]);
        let values = &[2.0, 0.2, 0.3, 0.5];
        chain.push(&Draw { iteration: 1, values, weight: 1.0, log_posterior: 0.0, stats: &[] }).unwrap();
        let mode = Mode {
            theta,
            log_posterior: -5.0,
            gradient_norm: 0.1,
            start_log_posterior: -9.0,
            iterations: 7,
            full_passes: 9,
            outcome: SearchOutcome::Converged,
            predicted_gain: None,
        };
        Fit::new(Layout::new(parameters).unwrap(), vec![chain]).unwrap().with_mode(Some(mode))
    }

    #[test]
    fn the_mode_follows_the_layout() {
        let fit = fit(vec![0.5, -1.0, 1.0]);
        let theta = |fit: &Fit| fit.mode().unwrap().theta.clone();
        assert_eq!(theta(&fit.only(&["sigma"]).unwrap()), [0.5]);
        assert_eq!(theta(&fit.only(&["p", "sigma"]).unwrap()), [-1.0, 1.0, 0.5]);
        let derived = fit.derive_flat("variance", &[1], |values, variance| variance[0] = values[0].powi(2)).unwrap();
        assert_eq!(theta(&derived)[..3], [0.5, -1.0, 1.0]);
        assert!((theta(&derived)[3] - 1.0_f64.exp()).abs() < 1e-12);
        assert_eq!(derived.mode().unwrap().iterations, 7);
        for fit in [derived, fit] {
            assert_eq!(theta(&fit).len(), fit.layout().dim());
        }
    }

    #[test]
    fn the_costs_follow_the_chains() {
        let one = fit(vec![0.5]);
        let two = Fit::new(one.layout().clone(), [one.chains(), one.chains()].concat()).unwrap();
        let info = RunInfo {
            iterations: vec![10, 20],
            gradients: vec![11, 21],
            undefined: vec![2, 3],
            seconds: vec![0.5, 1.5],
            ..RunInfo::default()
        };
        let last = two.with_info(info).only_chains(&[1]).unwrap();
        let RunInfo { iterations, gradients, undefined, seconds, .. } = last.info();
        assert_eq!(
            (&iterations[..], &gradients[..], &undefined[..], &seconds[..]),
            (&[20][..], &[21][..], &[3][..], &[1.5][..])
        );
    }

    #[test]
    fn a_mode_that_cannot_follow_is_dropped() {
        let fit = fit(vec![0.5]);
        assert_eq!(fit.only(&["p"]).unwrap().mode(), None);
        assert_eq!(fit.derive_flat("one", &[1], |_, one| one[0] = 1.0).unwrap().mode(), None);
    }
}
