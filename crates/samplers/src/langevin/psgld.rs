//! SGLD with the RMSprop preconditioner: see [`Psgld`].

use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Evaluator, GradientEstimator, Oracle, Result, Rows, settings};

use super::Scratch;
use crate::dynamics::{Dynamics, impl_has_position};
use crate::law::Direction;
use crate::step_size::StepContext;

/// SGLD with the RMSprop preconditioner (pSGLD).
///
/// # Rule
///
/// θ += h/2 (M ĝ(θ) + Γ) + √(hT) M^{1/2} z, M = diag 1/(λ + √V), then V ← αV + (1 − α) ḡ∘ḡ, where
/// ḡ = (ĝ − ∇ log p(θ))/N is the mean gradient of the likelihood over the minibatch.
///
/// A step uses the V of the gradients before it. A V that contains the gradient of the step itself would be correlated
/// with its noise.
///
/// The first V is ḡ∘ḡ + Var(ĝ)/N² + s²/N, where s² is the variance of the gradients of single observations at the
/// start. Near the mode ḡ is close to zero, and with control variates so is its noise; V = ḡ∘ḡ would make M as large as
/// 1/λ in the first steps. In the stationary state E[ḡ∘ḡ] is Var(ĝ)/N² plus the curvature over N², which is about s²/N.
///
/// Γᵢ = ∂Mᵢ/∂θᵢ is zero by default, as in practice. With `gamma` it is estimated as −Mᵢ² Wᵢ/√Vᵢ, W ← αW + (1 − α) ḡᵢ
/// ∂ᵢḡᵢ. This is the derivative of all of V: in 1/(1 − α) short steps the chain hardly moves, so that V is a function
/// of the position. (Li et al. differentiate only the newest gradient, which makes Γ smaller by 1 − α.) ∂ᵢḡᵢ is
/// estimated without bias as vᵢ (Jv)ᵢ, where v are random signs, from a difference of gradients on the same minibatch.
///
/// # Source
///
/// Li et al. (2016), algorithm 1; Şimşekli et al. (2016), §3.1, for the V of the gradients before the step.
///
/// # Cost
///
/// One gradient estimate and one gradient of the prior per step; twice that with `gamma`.
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `alpha` | 0.99 | decay rate α of the mean square gradient; the memory is about 1/(1 − α) steps | [0, 1] |
/// | `lambda` | 1e-5 | regularization λ, in the unit of a mean gradient; bounds M by 1/λ | > 0 |
/// | `gamma` | `false` | whether the correction Γ is added | |
///
/// M has the unit of 1/ḡ, so h is smaller than in SGLD by the factor of a typical M.
///
/// # Bias
///
/// Without Γ there is a bias that does not vanish with h. With Γ it is O(h), apart from the variation of V.
///
/// # When to use it
///
/// For models with parameters of very different scales, such as neural networks, if a small bias is acceptable.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::Psgld;
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
///
/// let dynamics = Psgld { lambda: 0.1, gamma: true, ..Psgld::default() };
/// let fit = psgld(&model, &data, 0.02).dynamics(dynamics).minibatch(2).seed(1).sample(&zeros([1]), 500)?;
/// assert_eq!(fit.chains()[0].len(), 500);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Psgld {
    /// The decay rate α of the mean square gradient.
    pub alpha: f64,
    /// The regularization λ, which bounds M by 1/λ.
    pub lambda: f64,
    /// True if the correction Γ is added.
    pub gamma: bool,
}

impl Default for Psgld {
    fn default() -> Self {
        Self { alpha: 0.99, lambda: 1e-5, gamma: false }
    }
}

/// The position θ, the mean square gradient V, and W if Γ is estimated.
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

impl_has_position!(State);

/// The buffers of a step.
#[derive(Clone, Debug, Default)]
struct Work {
    m: Vec<f64>,
    mean: Vec<f64>,
    signs: Vec<f64>,
    moved: Vec<f64>,
    there: Vec<f64>,
}

/// The step of the gradient difference, relative to the largest coordinate.
const DIFFERENCE: f64 = 1e-4;

impl Work {
    /// Replaces ĝ in `g` by the mean gradient of the likelihood, (ĝ − ∇ log p(θ))/N. Keeps ĝ if the model has no
    /// observations.
    fn to_mean<G: GradientEstimator>(
        theta: &[f64],
        g: &mut [f64],
        prior: &mut Vec<f64>,
        oracle: &mut Oracle<G>,
    ) -> Result<()> {
        let n = oracle.evaluator().observations();
        if n == 0 {
            return Ok(());
        }
        prior.clear();
        prior.resize(theta.len(), 0.0);
        oracle.prior(theta, prior)?;
        g.iter_mut().zip(prior).for_each(|(g, prior)| *g = (*g - *prior) / n as f64);
        Ok(())
    }

    /// Writes ḡ into `mean` and, if `slopes` is true, ḡᵢ ∂ᵢḡᵢ into `there`.
    fn update_mean_gradient<G: GradientEstimator>(
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
            oracle.gradient_same_batch(&point, there)?;
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
        settings::within("the memory alpha", self.alpha, 0.0..=1.0, "it must be between 0 and 1")?;
        settings::positive("lambda", self.lambda)?;
        Ok(())
    }

    fn init(&self, theta: &[f64], _context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let (mut scratch, mut work) = (Scratch::default(), Work::default());
        oracle.gradient(theta, scratch.gradient(theta.len()))?;
        work.update_mean_gradient(theta, &scratch.g, false, oracle)?;
        let mut v: Vec<f64> = work.mean.iter().map(|mean| mean * mean).collect();
        add_expected_square(theta, oracle, &mut v)?;
        let w = vec![0.0; if self.gamma { theta.len() } else { 0 }];
        Ok(State { theta: theta.to_vec(), v, w, scratch, work })
    }

    fn step(&self, state: &mut State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { theta, v, w, scratch, work } = state;
        let log_posterior = oracle.gradient(theta, scratch.gradient(theta.len()))?;
        work.update_mean_gradient(theta, &scratch.g, self.gamma, oracle)?;
        work.m.clear();
        work.m.extend(v.iter().map(|v| 1.0 / (self.lambda + v.sqrt())));
        if self.gamma {
            for ((g, m), (v, w)) in scratch.g.iter_mut().zip(&work.m).zip(v.iter().zip(&*w)) {
                // Γ/M is added to the gradient, which the step multiplies by M.
                *g -= context.temperature * m * w / v.sqrt().max(f64::MIN_POSITIVE);
            }
            average(w, &work.there, self.alpha, |slope| slope);
        }
        average(v, &work.mean, self.alpha, |mean| mean * mean);
        scratch.diagonal_step(theta, &work.m, context, oracle.noise());
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
        let missing =
            "pSGLD without Γ has a bias that does not vanish with the step size and that the law does not predict";
        (!self.gamma).then_some(missing)
    }
}

/// The largest number of observations in the first V.
const FIRST_ROWS: usize = 1000;

/// The number of probes of the curvature if the model has no gradients of single observations.
const PROBES: u32 = 4;

/// The seed of the observations and probes of the first V. They do not use the RNG streams of the chain.
const FIRST_SEED: u64 = 0;

/// Adds Var(ĝ)/N² + s²/N to V, the part of the mean square gradient that is missing near the mode. If the model has no
/// gradients of single observations, adds the curvature over N² instead, estimated along random signs.
fn add_expected_square<G: GradientEstimator>(theta: &[f64], oracle: &mut Oracle<G>, v: &mut [f64]) -> Result<()> {
    let observations = oracle.evaluator().observations();
    if observations < 2 || add_score_variances(theta, oracle.evaluator(), v).is_err() {
        return add_curvature(theta, oracle.evaluator(), v);
    }
    let all = observations as f64;
    oracle.noise_covariance(theta, FIRST_ROWS.min(observations), FIRST_SEED)?.add_variances(1.0 / (all * all), v);
    Ok(())
}

/// Adds s²/N, where s² is the variance of the gradients of all observations or of a sample of them.
fn add_score_variances(theta: &[f64], evaluator: &mut dyn Evaluator, v: &mut [f64]) -> Result<()> {
    let (observations, dim) = (evaluator.observations(), theta.len());
    let mut rng = StreamRng::seed_from_u64(FIRST_SEED);
    let rows = if observations <= FIRST_ROWS {
        (0..observations).collect()
    } else {
        rand::seq::index::sample(&mut rng, observations, FIRST_ROWS).into_vec()
    };
    let mut scores = vec![0.0; rows.len() * dim];
    evaluator.gradient_per_observation(theta, Rows::list(&rows), &mut scores)?;
    let n = rows.len() as f64;
    for (j, v) in v.iter_mut().enumerate() {
        let column = || scores.iter().skip(j).step_by(dim);
        let mean = column().sum::<f64>() / n;
        let variance = column().map(|score| (score - mean).powi(2)).sum::<f64>() / (n - 1.0);
        *v += variance / observations as f64;
    }
    Ok(())
}

/// Adds the mean of |sᵢ (Hs)ᵢ|/N² over random signs s, where H is the Hessian of the log density.
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

/// Updates exponential moving averages: running ← α running + (1 − α) f(newest).
fn average(running: &mut [f64], newest: &[f64], alpha: f64, f: impl Fn(f64) -> f64) {
    running
        .iter_mut()
        .zip(newest)
        .for_each(|(running, newest)| *running = alpha * *running + (1.0 - alpha) * f(*newest));
}
