//! The no-U-turn sampler: see [`Nuts`].

mod chain;

use std::collections::HashMap;

use nuts_rs::{CpuLogpFunc, CpuMathError, HasDims, LogpError};
use rayon::prelude::*;
use sgmcmc_gradient::{Error, Evaluator, Result, Target, settings};

use self::chain::{ChainOfNuts, Sampled};
use crate::run::{ProgressClock, ProgressOption, Starts, StopSignal, guard};
use sgmcmc_fit::{Bias, ChainOutcome, Fit, RunInfo};

/// The no-U-turn sampler (NUTS), by the crate `nuts-rs`. Requires the feature `nuts`.
///
/// # Rule
///
/// HMC whose trajectories double in length until they turn back. The warm-up adapts the step size by dual averaging and
/// a diagonal mass matrix.
///
/// # Source
///
/// Hoffman & Gelman (2014).
///
/// # Cost
///
/// Up to 2^`max_depth` full gradients per draw.
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `warm_up` | 1000 | number of iterations that adapt step size and mass and make no draws | ≥ 1 |
/// | `max_depth` | 10 | largest number of doublings of a trajectory | ≥ 1 |
/// | `chains` | 4 | number of chains, run in parallel | ≥ 1 |
/// | `seed` | 0 | seed of the random number generators | |
///
/// Statistics with every draw: `acceptance_rate`, `diverging`, `energy`, `n_steps`, `tree_depth`, `step_size`.
///
/// # Bias
///
/// None.
///
/// # When to use it
///
/// As the reference for other methods, and whenever the full gradient is affordable. It is not a
/// [`Dynamics`](crate::dynamics::Dynamics): its state belongs to `nuts-rs`, so that it cannot be saved or
/// combined with other updates. A [`StopSignal`] ends it early, with [`sample_watched`](Self::sample_watched).
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::Nuts;
/// use sgmcmc::prelude::*;
///
/// let posterior = Model::density(|x: Tensor<1>| (x - 1.0).square() * -0.5).with(&Dataset::none());
/// let fit = Nuts { warm_up: 200, chains: 2, ..Nuts::default() }.sample(&posterior, &zeros([1]), 500)?;
/// assert!((fit.summary().rows()[0].mean - 1.0).abs() < 0.3);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nuts {
    /// The number of iterations that adapt step size and mass.
    pub warm_up: u64,
    /// The largest number of doublings of a trajectory.
    pub max_depth: u64,
    /// The number of chains.
    pub chains: usize,
    /// The seed of the random number generators.
    pub seed: u64,
}

impl Default for Nuts {
    fn default() -> Self {
        Self { warm_up: 1000, max_depth: 10, chains: 4, seed: 0 }
    }
}

/// The log density log p(θ|x) for `nuts-rs`.
struct Density(Box<dyn Evaluator>);

/// An error of the density.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Model(Error),
    #[error("the density is not finite")]
    NotFinite,
}

impl LogpError for Failure {
    /// A density that is not finite ends the trajectory. An error of the model ends the chain.
    fn is_recoverable(&self) -> bool {
        matches!(self, Self::NotFinite)
    }
}

impl HasDims for Density {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".to_owned(), self.0.dim() as u64)])
    }
}

impl CpuLogpFunc for Density {
    type LogpError = Failure;
    type FlowParameters = ();
    type ExpandedVector = ();

    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> std::result::Result<f64, Failure> {
        gradient.fill(0.0);
        let rows = self.0.all_rows();
        let value = self.0.posterior(position, rows, gradient).map_err(Failure::Model)?;
        if value.is_finite() && gradient.iter().all(|g| g.is_finite()) { Ok(value) } else { Err(Failure::NotFinite) }
    }

    fn expand_vector<R: rand::Rng + ?Sized>(
        &mut self,
        _rng: &mut R,
        _array: &[f64],
    ) -> std::result::Result<(), CpuMathError> {
        Ok(())
    }
}

impl Nuts {
    /// Makes `draws` draws of every chain and keeps them in memory.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, the start is not in the support, or no chain can start. A chain
    /// that fails later keeps its draws and has the error as its outcome, see [`Fit::outcomes`].
    pub fn sample<'a, T: Target>(
        &self,
        target: &T,
        start: impl Into<Starts<'a, T::Params>>,
        draws: usize,
    ) -> Result<Fit>
    where
        T::Params: 'a,
    {
        self.sample_watched(target, start, draws, ProgressOption::Off, &StopSignal::new())
    }

    /// Makes `draws` draws of every chain like [`sample`](Self::sample), reports progress, and ends chains after their
    /// current iteration if `stop` is triggered.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`sample`](Self::sample).
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::algorithms::Nuts;
    /// use sgmcmc::fit::ChainOutcome;
    /// use sgmcmc::prelude::*;
    /// use sgmcmc::run::{ProgressOption, StopSignal};
    ///
    /// let posterior = Model::density(|x: Tensor<1>| x.square() * -0.5).with(&Dataset::none());
    /// let signal = StopSignal::new();
    /// signal.stop();
    /// let fit = Nuts::default().sample_watched(&posterior, &ones([1]), 500, ProgressOption::Off, &signal)?;
    /// assert_eq!(fit.outcomes()[0], ChainOutcome::Stopped);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn sample_watched<'a, T: Target>(
        &self,
        target: &T,
        start: impl Into<Starts<'a, T::Params>>,
        draws: usize,
        progress: ProgressOption,
        stop: &StopSignal,
    ) -> Result<Fit>
    where
        T::Params: 'a,
    {
        self.check()?;
        let start = start.into();
        let resolve = || {
            let starts = (0..self.chains).map(|chain| start.resolve(target, self.chains, self.seed, chain));
            starts.collect::<Result<Vec<_>>>()
        };
        let starts = guard(|| "a closure that draws starts".into(), resolve)?;
        let Some(first) = starts.first() else { return Err(Error::EmptyModel) };
        let (layout, observations) = (first.evaluator.layout().clone(), first.evaluator.observations());
        let total = self.warm_up.saturating_add(draws as u64);
        let chains: Vec<Sampled> = starts
            .into_par_iter()
            .enumerate()
            .map(|(index, start)| {
                let clock = ProgressClock::new(progress.clone(), None, index, 0, total);
                ChainOfNuts::new(*self, index, start.evaluator.layout(), clock).run(start, total, stop)
            })
            .collect();
        if chains.iter().all(|chain| !chain.started)
            && let Some(ChainOutcome::Failed(error)) = chains.first().map(|chain| &chain.outcome)
        {
            return Err(error.clone());
        }
        let info = RunInfo {
            algorithm: format!("{self:?}"),
            gradient: "FullGradient".into(),
            step_size: "found in the warm-up".into(),
            observations,
            seed: self.seed,
            burn_in: self.warm_up,
            thin: 1,
            iterations: chains.iter().map(|chain| chain.iterations).collect(),
            gradients: chains.iter().map(|chain| chain.gradients).collect(),
            undefined: vec![0; self.chains],
            seconds: chains.iter().map(|chain| chain.seconds).collect(),
            bias: Bias::Exact,
            version: env!("CARGO_PKG_VERSION").into(),
            ..RunInfo::default()
        };
        let (draws, outcomes) = chains.into_iter().map(|chain| (chain.draws, chain.outcome)).unzip();
        Ok(Fit::new(layout, draws)?.with_outcomes(outcomes)?.with_info(info))
    }

    /// Checks the settings.
    fn check(&self) -> Result<()> {
        settings::at_least("the number of chains", self.chains, 1, "run at least 1 chain")?;
        let expected = "take at least 1 iteration; 1000 are usual";
        settings::at_least("the length of the warm-up", self.warm_up, 1, expected)?;
        let expected = "allow at least 1 doubling; 10 are usual";
        settings::at_least("the largest depth of a tree", self.max_depth, 1, expected)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
