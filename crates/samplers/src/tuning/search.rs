//! The search for settings of posteriors without a usable normal approximation.

use std::sync::Arc;

use sgmcmc_gradient::{
    ChainRng, ControlVariate, Evaluator, GradientEstimator, MinibatchGradient, NoiseCovariance, Result, Target,
    WithoutReplacement,
};

use super::{SearchResult, SteinScorer, SuccessiveHalving};
use crate::chain::{ChainSpec, GradientChain};
use crate::dynamics::Dynamics;
use crate::langevin::{AdaptiveSgld, Sgld};

/// An algorithm and a gradient estimator of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// [`Sgld`] with control variates at the mode.
    Controlled,
    /// [`Sgld`] with plain minibatches.
    Plain,
    /// [`AdaptiveSgld`] with plain minibatches. Its draws have weights.
    Adaptive,
}

impl Method {
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Controlled => "SGLD with control variates",
            Self::Plain => "SGLD",
            Self::Adaptive => "SGLD with an adaptive step size",
        }
    }
}

/// One combination of settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Arm {
    pub(super) method: Method,
    pub(super) step_size: f64,
    pub(super) minibatch: usize,
}

/// The number of coordinates above which the search has fewer arms and draws, to bound its memory.
const MANY: usize = 1000;
/// The ratio of neighboring step sizes, and their exponents relative to the first guess.
const RATIO: f64 = 4.0;
const EXPONENTS: std::ops::RangeInclusive<i32> = -4..=2;
/// The mean factor by which [`AdaptiveSgld`] shortens its step size.
const ADAPTIVE_FACTOR: f64 = 8.0;
/// The smallest minibatch.
const MINIBATCH: usize = 256;
/// The number of gradients of single observations that estimate the scale.
const TERMS: usize = 512;

/// The result of the search.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) arm: Arm,
    /// The number of arms, of failed arms and of gradients of single observations.
    pub(super) arms: usize,
    pub(super) failed: usize,
    pub(super) cost: u64,
}

/// Searches for the settings of the smallest kernel Stein discrepancy. Returns `None` if all arms fail.
pub(super) fn search<T: Target>(
    target: &T,
    start: &T::Params,
    center: &[f64],
    budget: u64,
    seed: u64,
) -> Result<Option<Found>> {
    let mut evaluator = target.evaluator(start)?;
    let (observations, d) = (evaluator.observations(), center.len());
    let scale = curvature_scale(evaluator.as_mut(), center, seed)?;
    let sizes = if d > MANY { vec![MINIBATCH] } else { vec![MINIBATCH, 4 * MINIBATCH] };
    let methods: &[Method] = if d > MANY {
        &[Method::Plain, Method::Adaptive]
    } else {
        &[Method::Controlled, Method::Plain, Method::Adaptive]
    };
    let mut arms = Vec::new();
    for &method in methods {
        for size in &sizes {
            for exponent in EXPONENTS {
                let factor = if method == Method::Adaptive { ADAPTIVE_FACTOR } else { 1.0 };
                let step_size = factor * RATIO.powi(exponent) / scale;
                arms.push(Arm { method, step_size, minibatch: (*size).min(observations) });
            }
        }
    }
    let draws = (200_000 / d.max(1)).clamp(12, 200);
    let make = |arm: usize| start_chain(target, start, center, arms[arm], seed.wrapping_add(arm as u64));
    let settings = SuccessiveHalving { draws, budget, ..SuccessiveHalving::default() };
    let result: SearchResult = settings.run(arms.len(), make, &SteinScorer { seed, ..SteinScorer::default() })?;
    let failed = result.ranking.iter().filter(|arm| arm.error.is_some()).count();
    let found = |winner: usize| Found { arm: arms[winner], arms: arms.len(), failed, cost: result.cost };
    Ok(result.winner().map(found))
}

/// Returns the largest curvature of a coordinate, estimated by the sum of squares of the gradients of single
/// observations. In a well-specified model the two are equal on average.
fn curvature_scale(evaluator: &mut dyn Evaluator, center: &[f64], seed: u64) -> Result<f64> {
    let size = TERMS.min(evaluator.observations());
    let estimator = MinibatchGradient::new(WithoutReplacement::new(size));
    let state = estimator.init(center, evaluator)?;
    let noise = NoiseCovariance::measure(&estimator, &state, evaluator, center, size, seed)?;
    // The variance of an estimate is N²/n times that of one observation, without the factor of distinct observations.
    let share = size as f64 / evaluator.observations() as f64;
    let correction = share / (1.0 - share).max(share);
    Ok(noise.variances().iter().fold(0.0, |largest: f64, v| largest.max(correction * v)).max(f64::MIN_POSITIVE))
}

/// Starts the chain of an arm.
fn start_chain<T: Target>(
    target: &T,
    start: &T::Params,
    center: &[f64],
    arm: Arm,
    seed: u64,
) -> Result<Box<dyn GradientChain>> {
    let scheme = WithoutReplacement::new(arm.minibatch);
    let evaluator = target.evaluator(start)?;
    let rng = ChainRng::new(seed, 0);
    match arm.method {
        Method::Controlled => {
            let gradient = ControlVariate::new(scheme).with_center(center.to_vec());
            boxed(Sgld, gradient, arm.step_size, evaluator, center, rng)
        }
        Method::Plain => boxed(Sgld, MinibatchGradient::new(scheme), arm.step_size, evaluator, center, rng),
        Method::Adaptive => {
            boxed(AdaptiveSgld::default(), MinibatchGradient::new(scheme), arm.step_size, evaluator, center, rng)
        }
    }
}

fn boxed<D, G>(
    dynamics: D,
    gradient: G,
    step_size: f64,
    evaluator: Box<dyn Evaluator>,
    theta: &[f64],
    rng: ChainRng,
) -> Result<Box<dyn GradientChain>>
where
    G: GradientEstimator + std::fmt::Debug + 'static,
    D: Dynamics<G> + std::fmt::Debug + 'static,
{
    let (dynamics, gradient) = (Arc::new(dynamics), Arc::new(gradient));
    let spec = ChainSpec { dynamics, gradient, step_size: step_size.into(), temperature: 1.0.into() };
    Ok(Box::new(spec.start(evaluator, theta, rng)?))
}
