//! The settings that tuning chose, and the runs with these settings.

use std::fmt;
use std::sync::Arc;

use rand::SeedableRng;
use sgmcmc_fit::Fit;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{ControlVariate, GradientEstimator, Layout, Result, Target, Weighted};

use super::Auto;
use super::approximation::NormalApproximation;
use super::choice::{Candidate, Choice};
use super::noise::{self, Noise};
use super::rounds::SampleFrom;
use super::search::Arm;
use crate::dynamics::Dynamics;
use crate::hamiltonian::Baoab;
use crate::metropolis::{DualAveraging, Hmc, WarmUp};
use crate::run::{Builder, CheckpointInterval, Checkpoints, InMemoryCheckpoints, Labels};

/// The mean number of leapfrog steps of a trajectory of Hamiltonian Monte Carlo.
pub(super) const LEAPFROG_STEPS: u32 = 8;
/// The number of iterations that adapt its step size, and of those that adapt its mass, too.
const ADAPTATION: u64 = 300;
const WARM_UP: u64 = 1000;
const LEAST_WARM_UP: u64 = 20;
/// The acceptance rate that it adapts to. It is higher than usual, so that few trajectories diverge.
const ACCEPTANCE: f64 = 0.9;
/// The spread of the starts, in standard deviations.
const START_SPREAD: f64 = 1.5;
/// The largest number of draws of a start, each closer to the center than the last.
const START_ATTEMPTS: usize = 20;

/// The settings that tuning chose.
#[derive(Clone, Debug)]
pub(super) enum Plan {
    /// Control variates with weighted minibatches.
    StochasticGradient(StochasticGradientPlan),
    /// Hamiltonian Monte Carlo with the full gradient.
    Hamiltonian(HamiltonianPlan),
    /// The settings of the best arm of a search.
    Search(SearchPlan),
}

/// A run with the settings of a search.
#[derive(Clone, Debug)]
pub(super) struct SearchPlan {
    pub(super) arm: Arm,
    pub(super) center: Vec<f64>,
}

/// A run with control variates and weighted minibatches.
#[derive(Clone, Debug)]
pub(super) struct StochasticGradientPlan {
    pub(super) approximation: NormalApproximation,
    pub(super) noise: Noise,
    pub(super) choice: Choice,
    /// The measured autocorrelation time divided by the predicted one.
    pub(super) slowdown: f64,
}

/// A run of Hamiltonian Monte Carlo.
#[derive(Clone, Debug)]
pub(super) struct HamiltonianPlan {
    /// The approximation whose covariance is the inverse mass. `None` if there is no usable one.
    pub(super) approximation: Option<NormalApproximation>,
}

/// Settings of a run that do not depend on its algorithm.
pub(super) struct Common {
    pub(super) seed: u64,
    pub(super) chains: usize,
    pub(super) burn_in: u64,
    pub(super) thin: u64,
    pub(super) checkpoints: Option<Checkpoints>,
}

impl<T: Target> Auto<T> {
    /// Returns a run with the settings of `plan`.
    pub(super) fn stochastic_gradient(
        &self,
        plan: &StochasticGradientPlan,
        common: Common,
    ) -> Result<Box<dyn SampleFrom<T::Params>>> {
        let StochasticGradientPlan { approximation, noise, choice, .. } = plan;
        let scheme = Weighted::new(choice.minibatch, noise.weights.clone())?;
        let gradient = ControlVariate::new(scheme).with_center(approximation.center.clone());
        let (target, h) = (self.target.clone(), choice.step_size);
        Ok(match choice.algorithm {
            Candidate::Langevin => {
                self.configured(Builder::new(target, approximation.preconditioned()?, gradient, h), common)
            }
            Candidate::Baoab { alpha } => {
                let dynamics = Baoab { alpha, covariance: approximation.covariance.clone() };
                self.configured(Builder::new(target, dynamics, gradient, h), common)
            }
        })
    }

    /// Returns `run` with common settings.
    pub(super) fn configured<D, G>(&self, run: Builder<Arc<T>, D, G>, common: Common) -> Box<dyn SampleFrom<T::Params>>
    where
        G: GradientEstimator + Clone + fmt::Debug + 'static,
        D: Dynamics<G> + Clone + fmt::Debug + 'static,
    {
        let Common { seed, chains, burn_in, thin, checkpoints } = common;
        let run = run.seed(seed).chains(chains).burn_in(burn_in).thin(thin).stop_on(&self.stop);
        let run =
            self.labels.iter().cloned().fold(run, |run, Labels { parameter, labels }| run.labels(parameter, labels));
        Box::new(match checkpoints {
            Some(Checkpoints { store, every }) => run.progress(self.progress.clone()).checkpoint(store, every),
            None => run,
        })
    }

    /// Draws starts around the center of `approximation`, in the support of the model.
    pub(super) fn starts(
        &self,
        like: &T::Params,
        layout: &Layout,
        approximation: &NormalApproximation,
        chains: usize,
        seed: u64,
    ) -> Result<Vec<T::Params>> {
        let mut rng = StreamRng::seed_from_u64(seed ^ 0x7374_6172_7473);
        let mut evaluator = self.target.evaluator(like)?;
        evaluator.set_threads(rayon::current_num_threads());
        let mut draw = || {
            let mut spread = START_SPREAD;
            for _ in 0..START_ATTEMPTS {
                let theta = noise::draw(approximation, spread, &mut rng);
                let value = evaluator.log_density(&theta, evaluator.all_rows());
                if value.is_ok_and(f64::is_finite) {
                    return self.target.unflatten(layout, like, &theta);
                }
                // The point is outside the support of the model.
                spread *= 0.7;
            }
            self.target.unflatten(layout, like, &approximation.center)
        };
        (0..chains).map(|_| draw()).collect()
    }

    /// Returns the store of checkpoints of the main run: that of the user, or one in memory that extends the run.
    pub(super) fn store(&self) -> Checkpoints {
        let in_memory = || Checkpoints { store: Arc::new(InMemoryCheckpoints::default()), every: NEVER };
        self.checkpoints.clone().unwrap_or_else(in_memory)
    }
}

/// An interval that is never reached: the run is saved at its end only.
const NEVER: CheckpointInterval = CheckpointInterval::Steps(u64::MAX);

/// The initial step size of Hamiltonian Monte Carlo, which is adapted.
pub(super) const INITIAL_STEP: f64 = 0.04;

impl HamiltonianPlan {
    /// Returns the number of iterations of the warm-up that [`dynamics`](Self::dynamics) makes.
    pub(super) fn warm_up(&self, affordable: u64) -> u64 {
        let wanted = if self.approximation.is_some() { ADAPTATION } else { WARM_UP };
        wanted.min(affordable).max(LEAST_WARM_UP)
    }

    /// Returns the algorithm with a warm-up of at most `affordable` iterations.
    pub(super) fn dynamics(&self, affordable: u64) -> Hmc {
        let warm_up = self.warm_up(affordable);
        let common = Hmc { steps: LEAPFROG_STEPS, jitter: 0.6, ..Hmc::default() };
        match &self.approximation {
            Some(approximation) => Hmc {
                covariance: approximation.covariance.clone(),
                adapt: Some(DualAveraging { iterations: warm_up, acceptance: ACCEPTANCE }),
                ..common
            },
            None => Hmc { warm_up: Some(WarmUp { acceptance: ACCEPTANCE, ..WarmUp::dense(warm_up) }), ..common },
        }
    }
}

/// Returns the coordinates of all draws, one chain after another.
pub(super) fn coordinates(fit: &Fit, layout: &Layout) -> Result<Vec<Vec<f64>>> {
    fit.chains().iter().flat_map(|chain| chain.rows()).map(|values| layout.coordinates(values)).collect()
}
