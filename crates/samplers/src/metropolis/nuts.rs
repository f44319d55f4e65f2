//! The no-U-turn sampler: see [`Nuts`].

use std::collections::HashMap;
use std::time::Instant;

use nuts_rs::{
    Chain as _, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError, Settings, Storable, Value,
};
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{ChainRng, Error, Evaluator, Result, Target, settings};

use crate::run::{ChainStart, Starts};
use sgmcmc_fit::sink::Draw;
use sgmcmc_fit::{Bias, ChainDraws, Fit, RunInfo};

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
/// [`Dynamics`](crate::dynamics::Dynamics): its state belongs to `nuts-rs`, so that it cannot be saved, stopped or
/// combined with other updates.
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

/// The names of the statistics in ArviZ and in `nuts-rs`.
const STATS: [(&str, &str); 6] = [
    ("acceptance_rate", "mean_tree_accept"),
    ("diverging", "diverging"),
    ("energy", "energy"),
    ("n_steps", "n_steps"),
    ("tree_depth", "depth"),
    ("step_size", "step_size"),
];

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

/// One chain and its cost.
struct Sampled {
    draws: ChainDraws,
    gradients: u64,
    seconds: f64,
}

impl Nuts {
    /// Makes `draws` draws of every chain and keeps them in memory.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, the start is not in the support, or the model fails.
    pub fn sample<'a, T: Target>(
        &self,
        target: &T,
        start: impl Into<Starts<'a, T::Params>>,
        draws: usize,
    ) -> Result<Fit>
    where
        T::Params: 'a,
    {
        self.check()?;
        let start = start.into();
        let starts = (0..self.chains).map(|chain| start.resolve(target, self.chains, self.seed, chain));
        let starts = starts.collect::<Result<Vec<_>>>()?;
        let Some(ChainStart { evaluator: first, .. }) = starts.first() else { return Err(Error::EmptyModel) };
        let (layout, observations) = (first.layout().clone(), first.observations());
        let chains: Vec<Sampled> = starts
            .into_par_iter()
            .enumerate()
            .map(|(chain, ChainStart { evaluator, theta })| self.chain(chain, evaluator, &theta, draws))
            .collect::<Result<_>>()?;
        let info = RunInfo {
            algorithm: format!("{self:?}"),
            gradient: "FullGradient".into(),
            step_size: "found in the warm-up".into(),
            observations,
            seed: self.seed,
            burn_in: self.warm_up,
            thin: 1,
            iterations: vec![self.warm_up + draws as u64; self.chains],
            gradients: chains.iter().map(|chain| chain.gradients).collect(),
            undefined: vec![0; self.chains],
            seconds: chains.iter().map(|chain| chain.seconds).collect(),
            bias: Bias::Exact,
            version: env!("CARGO_PKG_VERSION").into(),
            ..RunInfo::default()
        };
        Ok(Fit::new(layout, chains.into_iter().map(|chain| chain.draws).collect())?.with_info(info))
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

    /// Runs chain number `chain` from `theta`.
    fn chain(&self, chain: usize, evaluator: Box<dyn Evaluator>, theta: &[f64], draws: usize) -> Result<Sampled> {
        let began = Instant::now();
        let layout = evaluator.layout().clone();
        let mut settings = DiagNutsSettings::default();
        (settings.num_tune, settings.num_draws) = (self.warm_up, draws as u64);
        settings.maxdepth = self.max_depth;
        let failed = |error: &dyn std::fmt::Display| {
            // The lines after the first may contain a backtrace.
            let error = error.to_string();
            Error::Recorded { message: format!("NUTS, chain {chain}: {}", error.lines().next().unwrap_or_default()) }
        };
        let mut rng = ChainRng::new(self.seed, chain as u64);
        let (mut evaluator, mut theta) = (evaluator, theta.to_vec());
        leave_stationary_coordinates(evaluator.as_mut(), &mut theta, rng.noise())?;
        let math = CpuMath::new(Density(evaluator));
        let mut sampler = settings.new_chain(chain as u64, math, rng.noise()).map_err(|error| failed(&error))?;
        sampler.set_position(&theta).map_err(|error| failed(&error))?;
        let mut kept = ChainDraws::new(layout.value_count(), STATS.map(|(name, _)| name.to_owned()).to_vec());
        let (mut values, mut gradients) = (vec![0.0; layout.value_count()], 0);
        for iteration in 1..=self.warm_up + draws as u64 {
            let (position, _, mut stats, progress) = sampler.expanded_draw().map_err(|error| failed(&error))?;
            gradients += progress.num_gradients;
            if iteration <= self.warm_up {
                continue;
            }
            let dims = (&*sampler.math()).into();
            let all = stats.get_all(&dims);
            let number = |key: &str| {
                let value = all.iter().find(|(name, _)| *name == key).and_then(|(_, value)| value.as_ref());
                value.map_or(f64::NAN, as_number)
            };
            layout.values_into(&position, &mut values)?;
            let stats = STATS.map(|(_, theirs)| number(theirs));
            let log_posterior = number("logp");
            kept.push(&Draw { iteration, values: &values, weight: 1.0, log_posterior, stats: &stats })?;
        }
        Ok(Sampled { draws: kept, gradients, seconds: began.elapsed().as_secs_f64() })
    }
}

/// Moves the coordinates of `theta` with zero gradient by a small random amount.
///
/// `nuts-rs` computes its first mass matrix from the gradient at the start, whose entries must not be zero. They are
/// zero for example for a weight of zero with a normal prior and no data.
///
/// # Errors
///
/// Returns an error if the gradient of a coordinate is zero after the move too.
fn leave_stationary_coordinates(evaluator: &mut dyn Evaluator, theta: &mut [f64], rng: &mut StreamRng) -> Result<()> {
    let mut gradient = vec![0.0; theta.len()];
    let rows = evaluator.all_rows();
    evaluator.posterior(theta, rows, &mut gradient)?;
    if gradient.iter().all(|g| *g != 0.0) {
        return Ok(());
    }
    let still = theta.iter_mut().zip(&gradient).filter(|(_, g)| **g == 0.0);
    still.for_each(|(theta, _)| *theta += NUDGE * rng.sample::<f64, _>(StandardNormal));
    gradient.fill(0.0);
    evaluator.posterior(theta, rows, &mut gradient)?;
    match gradient.iter().position(|g| *g == 0.0) {
        None => Ok(()),
        Some(index) => Err(Error::Setting {
            name: "the gradient at the start",
            value: format!("0 for {}", evaluator.layout().coordinate_name(index)),
            expected: "the posterior must depend on every parameter; start elsewhere, or give it a prior",
        }),
    }
}

/// The standard deviation of the move of a coordinate with zero gradient.
const NUDGE: f64 = 0.1;

/// Converts a scalar statistic to a number.
fn as_number(value: &Value) -> f64 {
    match value {
        Value::ScalarF64(value) => *value,
        Value::ScalarF32(value) => f64::from(*value),
        Value::ScalarU64(value) => *value as f64,
        Value::ScalarI64(value) => *value as f64,
        Value::ScalarBool(value) => f64::from(u8::from(*value)),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests;
