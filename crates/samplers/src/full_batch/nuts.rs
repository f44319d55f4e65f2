//! The no-U-turn sampler, by the crate [`nuts-rs`](nuts_rs): the reference to hold other methods against.
//!
//! Source: Hoffman & Gelman (2014); step size and diagonal metric are found in the warm-up. It is not a
//! [`Dynamics`](crate::Dynamics): its state is that crate's own, so that it cannot be saved, stopped or combined; it makes a [`Fit`] like
//! any other run.

use std::collections::HashMap;
use std::time::Instant;

use nuts_rs::{
    Chain as _, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError, Settings, Storable, Value,
};
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use sgmcmc_core::rng::StreamRng;
use sgmcmc_core::{ChainRng, Error, Evaluator, Result, Target};

use crate::fit::{Bias, ChainDraws, Fit, RunInfo};
use crate::run::Starts;
use crate::sink::Draw;

/// The no-U-turn sampler.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `warm_up` | 1000 | iterations that find step size and metric, and make no draws | ≥ 1 |
/// | `max_depth` | 10 | a trajectory has at most 2 to the power of this steps | ≥ 1 |
/// | `chains` | 4 | run side by side on threads | ≥ 1 |
/// | `seed` | 0 | of all randomness | |
///
/// Statistics with every draw: `acceptance_rate`, `diverging`, `energy`, `n_steps`, `tree_depth`, `step_size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nuts {
    /// Iterations that find step size and metric.
    pub warm_up: u64,
    /// The largest number of doublings of a trajectory.
    pub max_depth: u64,
    /// How many chains are run.
    pub chains: usize,
    /// The seed of all randomness.
    pub seed: u64,
}

impl Default for Nuts {
    fn default() -> Self {
        Self { warm_up: 1000, max_depth: 10, chains: 4, seed: 0 }
    }
}

/// ArviZ's names of the statistics, and those of the crate.
const STATS: [(&str, &str); 6] = [
    ("acceptance_rate", "mean_tree_accept"),
    ("diverging", "diverging"),
    ("energy", "energy"),
    ("n_steps", "n_steps"),
    ("tree_depth", "depth"),
    ("step_size", "step_size"),
];

/// log p(θ|x) as that crate wants it.
struct Density(Box<dyn Evaluator>);

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Model(Error),
    #[error("the density is not finite")]
    NotFinite,
}

impl LogpError for Failure {
    /// A place without a density ends a trajectory; a model that fails ends the chain.
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
    /// `draws` draws of every chain, kept in memory.
    ///
    /// # Errors
    ///
    /// If a setting is out of range, the start is not in the support, or the model fails.
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
        let places = (0..self.chains).map(|chain| start.place(target, self.chains, self.seed, chain));
        let places = places.collect::<Result<Vec<_>>>()?;
        let Some((first, _)) = places.first() else { return Err(Error::EmptyModel) };
        let (layout, observations) = (first.layout().clone(), first.observations());
        let chains: Vec<Sampled> = places
            .into_par_iter()
            .enumerate()
            .map(|(chain, (evaluator, theta))| self.chain(chain, evaluator, &theta, draws))
            .collect::<Result<_>>()?;
        let info = RunInfo {
            algorithm: format!("{self:?}"),
            gradient: "FullGradient".into(),
            step_size: "found in the warm-up".into(),
            observations,
            minibatch: None,
            seed: self.seed,
            burn_in: self.warm_up,
            thin: 1,
            interleaved: 1,
            iterations: vec![self.warm_up + draws as u64; self.chains],
            gradients: chains.iter().map(|chain| chain.gradients).collect(),
            undefined: vec![0; self.chains],
            seconds: chains.iter().map(|chain| chain.seconds).collect(),
            bias: Bias::Exact,
            version: env!("CARGO_PKG_VERSION").into(),
        };
        Ok(Fit::new(layout, chains.into_iter().map(|chain| chain.draws).collect())?.with_info(info))
    }

    fn check(&self) -> Result<()> {
        let refuse = |name, expected| Err(Error::Setting { name, value: "0".into(), expected });
        if self.chains == 0 {
            return refuse("the number of chains", "run at least 1 chain");
        }
        if self.warm_up == 0 {
            return refuse("the length of the warm-up", "take at least 1 iteration; 1000 are usual");
        }
        if self.max_depth == 0 {
            return refuse("the largest depth of a tree", "allow at least 1 doubling; 10 are usual");
        }
        Ok(())
    }

    fn chain(&self, chain: usize, evaluator: Box<dyn Evaluator>, theta: &[f64], draws: usize) -> Result<Sampled> {
        let began = Instant::now();
        let layout = evaluator.layout().clone();
        let mut settings = DiagNutsSettings::default();
        (settings.num_tune, settings.num_draws) = (self.warm_up, draws as u64);
        settings.maxdepth = self.max_depth;
        let failed = |error: &dyn std::fmt::Display| {
            // Behind the first line there may be a backtrace.
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
            let number = |wanted: &str| {
                let value = all.iter().find(|(name, _)| *name == wanted).and_then(|(_, value)| value.as_ref());
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

/// The metric of the first iterations is made of the gradient at the start, none of whose entries may be zero: coordinates in which it is (a
/// weight of zero with a normal prior and no data) are moved a little, at random.
///
/// # Errors
///
/// If the density does not change there either.
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
            value: format!("0 for {}", evaluator.layout().coordinate(index)),
            expected: "the posterior must depend on every parameter; start elsewhere, or give it a prior",
        }),
    }
}

/// How far a coordinate is moved where the gradient is zero.
const NUDGE: f64 = 0.1;

/// A scalar statistic as a number.
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
mod tests {
    use super::*;
    use sgmcmc_core::{Analytic, AnalyticModel, Named, zeros};

    /// −x²/2 − `slope` y²/2: in y the density does not change if that is zero.
    #[derive(Debug)]
    struct Stationary {
        slope: f64,
    }

    impl AnalyticModel for Stationary {
        fn observations(&self) -> usize {
            0
        }

        fn dim(&self) -> usize {
            2
        }

        fn observation(&self, _theta: &[f64], _row: usize, _weight: f64, _grad: &mut [f64]) -> f64 {
            0.0
        }

        fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
            grad[0] -= theta[0];
            grad[1] -= self.slope * theta[1];
            -0.5 * (theta[0].powi(2) + self.slope * theta[1].powi(2))
        }
    }

    fn sample(slope: f64) -> Result<Fit> {
        let start = Named::new().with("x", zeros([1])).with("y", zeros([1]));
        Nuts { chains: 1, warm_up: 200, ..Nuts::default() }.sample(&Analytic::new(Stationary { slope }), &start, 500)
    }

    #[test]
    fn a_start_without_slope_is_left() {
        let fit = sample(4.0).unwrap();
        let sd = |k: usize| {
            let draws = fit.chains()[0].element(k);
            (draws.iter().map(|x| x * x).sum::<f64>() / draws.len() as f64).sqrt()
        };
        assert!((0.8..1.2).contains(&sd(0)) && (0.4..0.6).contains(&sd(1)), "{} {}", sd(0), sd(1));
    }

    #[test]
    fn a_parameter_without_density_is_named() {
        let refused = sample(0.0).unwrap_err().to_string();
        assert!(refused.contains("0 for y"), "{refused}");
    }
}
