//! pSGLD, SGLD with RMSprop's matrix: θ += h/2 (M ĝ(θ) + Γ) + √(hT) M^{1/2} z, M = diag 1/(λ + √V), then V ← αV + (1−α) ḡ∘ḡ.
//!
//! ḡ is the mean gradient of the likelihood over the minibatch, (ĝ − ∇ log p(θ))/N. Sources: Li et al. (2016), algorithm 1; Şimşekli et
//! al. (2016), §3.1. As there (and not as in Li et al.) a step uses the V of the gradients before it, because a V with the step's own
//! gradient would be correlated with its noise. Cost: one gradient estimate and one gradient of the prior per step.
//!
//! The first V is ḡ∘ḡ + Var(ĝ)/N² + s²/N, s² the variance of the gradients of single observations where the chain starts. Near the mode ḡ is next to zero, and
//! under control variates so is its noise; V = ḡ∘ḡ would then make M as large as 1/λ in the first steps. In the stationary state E[ḡ∘ḡ] is Var(ĝ)/N² plus the
//! curvature over N², which is about s²/N.
//!
//! Γ is left out by default, as in practice; this leaves a bias that does not vanish with h. With `gamma` it is estimated:
//! Γᵢ = ∂Mᵢ/∂θᵢ = −Mᵢ² Wᵢ/√Vᵢ, W ← αW + (1−α) ḡᵢ ∂ᵢḡᵢ, the derivative of all of V: in 1/(1−α) short steps the chain hardly moves, so
//! that V is a function of where it is. (Li et al. derive only the newest gradient, which makes Γ smaller by 1−α.) ∂ᵢḡᵢ is estimated without bias as
//! vᵢ (Jv)ᵢ with v random signs, from a difference of gradients on the same minibatch: one more gradient estimate and prior gradient per step.

use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use sgmcmc_core::rng::StreamRng;
use sgmcmc_core::{Error, Evaluator, GradientEstimator, Oracle, Result, Rows};

use super::Scratch;
use crate::dynamics::{Dynamics, positioned};
use crate::law::Direction;
use crate::step_size::Tick;

/// SGLD with RMSprop's matrix.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `alpha` | 0.99 | memory α of the squared gradient | [0, 1] |
/// | `lambda` | 1e-5 | λ, which bounds M | > 0 |
/// | `gamma` | no | whether Γ is added | |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Psgld {
    /// Memory α of the squared gradient.
    pub alpha: f64,
    /// λ.
    pub lambda: f64,
    /// Whether Γ is added.
    pub gamma: bool,
}

impl Default for Psgld {
    fn default() -> Self {
        Self { alpha: 0.99, lambda: 1e-5, gamma: false }
    }
}

/// θ, V, and W where Γ is wanted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    v: Vec<f64>,
    w: Vec<f64>,
    #[serde(skip)]
    scratch: Scratch,
    #[serde(skip)]
    work: Work,
}

positioned!(State);

#[derive(Clone, Debug, Default)]
struct Work {
    m: Vec<f64>,
    mean: Vec<f64>,
    signs: Vec<f64>,
    moved: Vec<f64>,
    there: Vec<f64>,
}

/// How far the point of the difference is, relative to the largest coordinate.
const DIFFERENCE: f64 = 1e-4;

impl Work {
    /// The mean gradient of the likelihood, (ĝ − ∇ log p(θ))/N into `g`; ĝ itself where there are no observations.
    fn to_mean<G: GradientEstimator>(
        theta: &[f64],
        g: &mut [f64],
        prior: &mut Vec<f64>,
        oracle: &mut Oracle<G>,
    ) -> Result<()> {
        let evaluator = oracle.evaluator();
        let n = evaluator.observations();
        if n == 0 {
            return Ok(());
        }
        prior.clear();
        prior.resize(theta.len(), 0.0);
        evaluator.prior(theta, prior)?;
        g.iter_mut().zip(prior).for_each(|(g, prior)| *g = (*g - *prior) / n as f64);
        Ok(())
    }

    /// ḡ into `mean` and, where asked for, ḡᵢ ∂ᵢḡᵢ into `there`.
    fn look<G: GradientEstimator>(
        &mut self,
        theta: &[f64],
        g: &[f64],
        slopes: bool,
        oracle: &mut Oracle<G>,
    ) -> Result<()> {
        let Self { mean, signs, moved, there, .. } = self;
        mean.clear();
        mean.extend_from_slice(g);
        Self::to_mean(theta, mean, moved, oracle)?;
        if slopes {
            let far = DIFFERENCE * theta.iter().fold(1.0_f64, |largest, theta| largest.max(theta.abs()));
            let rng = oracle.noise();
            signs.clear();
            signs.extend(theta.iter().map(|_| if rng.random::<bool>() { far } else { -far }));
            let mut point = std::mem::take(&mut self.m);
            point.clear();
            point.extend(theta.iter().zip(&*signs).map(|(theta, sign)| theta + sign));
            there.resize(theta.len(), 0.0);
            oracle.again(&point, there)?;
            Self::to_mean(&point, there, moved, oracle)?;
            self.m = point;
            for ((there, mean), sign) in there.iter_mut().zip(&*mean).zip(&*signs) {
                *there = mean * (*there - mean) / sign;
            }
        }
        Ok(())
    }
}

impl<G: GradientEstimator> Dynamics<G> for Psgld {
    type State = State;

    fn check(&self) -> Result<()> {
        let refuse = |name, value: f64, expected| Err(Error::Setting { name, value: value.to_string(), expected });
        if !(0.0..=1.0).contains(&self.alpha) {
            return refuse("the memory alpha", self.alpha, "it must be between 0 and 1");
        }
        if !(self.lambda.is_finite() && self.lambda > 0.0) {
            return refuse("lambda", self.lambda, "it must be a positive number");
        }
        Ok(())
    }

    fn init(&self, theta: &[f64], _tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let (mut scratch, mut work) = (Scratch::default(), Work::default());
        oracle.fresh(theta, scratch.gradient(theta.len()))?;
        work.look(theta, &scratch.g, false, oracle)?;
        let mut v: Vec<f64> = work.mean.iter().map(|mean| mean * mean).collect();
        add_expected_square(theta, oracle, &mut v)?;
        let w = vec![0.0; if self.gamma { theta.len() } else { 0 }];
        Ok(State { theta: theta.to_vec(), v, w, scratch, work })
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { theta, v, w, scratch, work } = state;
        let log_posterior = oracle.fresh(theta, scratch.gradient(theta.len()))?;
        work.look(theta, &scratch.g, self.gamma, oracle)?;
        work.m.clear();
        work.m.extend(v.iter().map(|v| 1.0 / (self.lambda + v.sqrt())));
        if self.gamma {
            for ((g, m), (v, w)) in scratch.g.iter_mut().zip(&work.m).zip(v.iter().zip(&*w)) {
                // Γ/M joins the gradient, which the step multiplies by M.
                *g -= tick.temperature * m * w / v.sqrt().max(f64::MIN_POSITIVE);
            }
            average(w, &work.there, self.alpha, |slope| slope);
        }
        average(v, &work.mean, self.alpha, |mean| mean * mean);
        scratch.diagonal_step(theta, &work.m, tick, oracle.noise());
        Ok(log_posterior)
    }

    fn is_preconditioned(&self) -> bool {
        true
    }

    fn apply_root(&self, state: &mut State, v: &mut [f64], _transpose: bool) -> Result<()> {
        v.iter_mut().zip(&state.v).for_each(|(x, v)| *x *= (self.lambda + v.sqrt()).recip().sqrt());
        Ok(())
    }

    fn variance_ratio(&self, _state: &State, direction: &Direction<'_>) -> Option<f64> {
        Some(direction.langevin_ratio(1.0))
    }

    fn unpredicted_bias(&self) -> Option<&'static str> {
        let missing = "pSGLD without Γ has a bias that does not vanish with the step size and that the law does not predict";
        (!self.gamma).then_some(missing)
    }
}

/// Most observations whose gradients make the first V.
const FIRST_ROWS: usize = 1000;

/// Probes of the curvature where there are no gradients of single observations.
const PROBES: u32 = 4;

/// The seed of the observations and probes of the first V, which are no part of the chain's own randomness.
const FIRST_SEED: u64 = 0;

/// Adds to V the part of the mean square gradient that shows only away from the mode: Var(ĝ)/N² + s²/N. Where single observations have no gradient it
/// is the curvature over N², found along random signs.
fn add_expected_square<G: GradientEstimator>(theta: &[f64], oracle: &mut Oracle<G>, v: &mut [f64]) -> Result<()> {
    let observations = oracle.evaluator().observations();
    if observations < 2 || add_score_variances(theta, oracle.evaluator(), v).is_err() {
        return add_curvature(theta, oracle.evaluator(), v);
    }
    let all = observations as f64;
    oracle.noise_covariance(theta, FIRST_ROWS.min(observations), FIRST_SEED)?.add_variances(1.0 / (all * all), v);
    Ok(())
}

/// Adds s²/N, s² the variance of the gradients of all observations or of a sample of them.
fn add_score_variances(theta: &[f64], evaluator: &mut dyn Evaluator, v: &mut [f64]) -> Result<()> {
    let (observations, dim) = (evaluator.observations(), theta.len());
    let mut rng = StreamRng::seed_from_u64(FIRST_SEED);
    let rows = if observations <= FIRST_ROWS {
        (0..observations).collect()
    } else {
        rand::seq::index::sample(&mut rng, observations, FIRST_ROWS).into_vec()
    };
    let mut scores = vec![0.0; rows.len() * dim];
    evaluator.per_datum(theta, Rows::list(&rows), &mut scores)?;
    let n = rows.len() as f64;
    for (j, v) in v.iter_mut().enumerate() {
        let column = || scores.iter().skip(j).step_by(dim);
        let mean = column().sum::<f64>() / n;
        let variance = column().map(|score| (score - mean).powi(2)).sum::<f64>() / (n - 1.0);
        *v += variance / observations as f64;
    }
    Ok(())
}

/// Adds the mean of |sᵢ (Hs)ᵢ| over random signs s, H the Hessian of the log density, over N².
fn add_curvature(theta: &[f64], evaluator: &mut dyn Evaluator, v: &mut [f64]) -> Result<()> {
    let all = evaluator.observations().max(1) as f64;
    let mut rng = StreamRng::seed_from_u64(FIRST_SEED);
    let far = DIFFERENCE * theta.iter().fold(1.0_f64, |largest, theta| largest.max(theta.abs()));
    let mut here = vec![0.0; theta.len()];
    evaluator.posterior(theta, evaluator.all_rows(), &mut here)?;
    for _ in 0..PROBES {
        let signs: Vec<f64> = theta.iter().map(|_| if rng.random::<bool>() { far } else { -far }).collect();
        let point: Vec<f64> = theta.iter().zip(&signs).map(|(theta, sign)| theta + sign).collect();
        let mut there = vec![0.0; theta.len()];
        evaluator.posterior(&point, evaluator.all_rows(), &mut there)?;
        for ((v, sign), (here, there)) in v.iter_mut().zip(&signs).zip(here.iter().zip(&there)) {
            *v += ((there - here) / sign).abs() / (f64::from(PROBES) * all * all);
        }
    }
    Ok(())
}

fn average(running: &mut [f64], newest: &[f64], alpha: f64, of: impl Fn(f64) -> f64) {
    running
        .iter_mut()
        .zip(newest)
        .for_each(|(running, newest)| *running = alpha * *running + (1.0 - alpha) * of(*newest));
}
