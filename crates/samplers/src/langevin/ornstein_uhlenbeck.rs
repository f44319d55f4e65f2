//! Langevin dynamics that are exact on a normal posterior: see [`OrnsteinUhlenbeck`].

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{GradientEstimator, Oracle, Result};

use crate::dynamics::{Dynamics, fill_normals, impl_has_position};
use crate::metropolis::Covariance;
use crate::step_size::StepContext;

/// The exact transition of the Ornstein-Uhlenbeck process of a normal approximation to the posterior.
///
/// # Rule
///
/// θ += (1 − e^{−h/2}) M ĝ(θ) + √(T (1 − e^{−h})) M^{1/2} z, where M is a covariance. If the posterior is N(μ, M), the
/// gradient is ĝ = M⁻¹(μ − θ), and this is the law over the time h of dθ = ½ (μ − θ) dt + M^{1/2} dW, a diffusion with a
/// known transition. Preconditioned SGLD is its Euler discretization.
///
/// # Source
///
/// Baker (2019), §2.3.2 and §6.2, for diffusions with known transitions; Uhlenbeck & Ornstein (1930).
///
/// # Cost
///
/// One gradient estimate per step, and two products with M^{1/2} if it is dense.
///
/// # Settings
///
/// | setting | default | meaning |
/// |---|---|---|
/// | `covariance` | identity | the covariance M of the approximation |
///
/// The step size h is a time without unit: the autocorrelation is e^{−h/2} per step. It is the same for all parameters
/// unless M is diagonal or zero between them.
///
/// # Bias
///
/// None at any h if the posterior is N(μ, M) and the gradient is exact. Gradient noise of covariance V increases the
/// covariance by (1 − e^{−h/2})/(1 + e^{−h/2}) M V M then. O(h) for other posteriors.
///
/// # When to use it
///
/// With a good approximation of the posterior covariance, such as a [Laplace approximation](crate::laplace), and control
/// variates: steps can be longer than those of preconditioned SGLD.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{Covariance, OrnsteinUhlenbeck};
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|x: Tensor<1>| x.square().sum() * -0.125);
/// let process = OrnsteinUhlenbeck { covariance: Covariance::diagonal(&[4.0, 4.0])? };
/// // Steps of h = 3, far beyond the limit of SGLD, with the right standard deviation 2.
/// let fit = ula(&model, &Dataset::none(), 3.0).dynamics(process).sample(&zeros([2]), 5000)?;
/// assert!((fit.summary().rows()[0].sd - 2.0).abs() < 0.1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OrnsteinUhlenbeck {
    /// The covariance M of the normal approximation.
    pub covariance: Covariance,
}

/// The state: the position θ and two buffers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    #[serde(skip)]
    drift: Vec<f64>,
    #[serde(skip)]
    noise: Vec<f64>,
}

impl_has_position!(State);

impl<G: GradientEstimator> Dynamics<G> for OrnsteinUhlenbeck {
    type State = State;

    fn init(&self, theta: &[f64], _context: StepContext<'_>, _oracle: &mut Oracle<G>) -> Result<State> {
        self.covariance.check_dim(theta.len())?;
        Ok(State { theta: theta.to_vec(), drift: Vec::new(), noise: Vec::new() })
    }

    fn step(&self, state: &mut State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { theta, drift, noise } = state;
        drift.resize(theta.len(), 0.0);
        noise.resize(theta.len(), 0.0);
        let log_posterior = oracle.gradient(theta, drift)?;
        fill_normals(oracle.noise(), noise);
        let approach = |h: f64| (-(-0.5 * h).exp_m1()).sqrt();
        // Both factors are split into roots on the two sides of M, so that D M D stays symmetric if steps differ.
        scale(drift, context, approach);
        self.covariance.apply_root(drift, true);
        self.covariance.apply_root(drift, false);
        scale(drift, context, approach);
        self.covariance.apply_root(noise, false);
        scale(noise, context, |h| (-(-h).exp_m1() * context.temperature).sqrt());
        for ((theta, drift), noise) in theta.iter_mut().zip(&*drift).zip(&*noise) {
            *theta += drift + noise;
        }
        Ok(log_posterior)
    }

    fn is_preconditioned(&self) -> bool {
        true
    }

    fn apply_root(&self, _state: &mut State, v: &mut [f64], transpose: bool) -> Result<()> {
        self.covariance.apply_root(v, transpose);
        Ok(())
    }
}

/// Multiplies every coordinate by `factor` of its step size.
fn scale(v: &mut [f64], context: StepContext<'_>, factor: impl Fn(f64) -> f64) {
    for block in context.blocks {
        let factor = factor(block.h);
        v[block.range.clone()].iter_mut().for_each(|v| *v *= factor);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sgmcmc_gradient::{
        Analytic, AnalyticModel, ChainRng, FullGradient, MinibatchGradient, Target, WithReplacement,
    };

    use super::*;
    use crate::chain::{Chain, ChainSpec};

    const REPLICATES: u64 = 20_000;

    /// The posterior N(μ, Σ) of two parameters from two observations with precision Σ⁻¹/2 each.
    struct Normal;

    const MEAN: [f64; 2] = [1.0, -2.0];
    const COVARIANCE: [f64; 4] = [4.0, 1.2, 1.2, 1.0];
    /// Observations are this far from their mean, in both coordinates and both directions.
    const SPREAD: f64 = 0.7;

    impl AnalyticModel for Normal {
        fn observations(&self) -> usize {
            2
        }

        fn dim(&self) -> usize {
            2
        }

        fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
            let side = if row == 0 { SPREAD } else { -SPREAD };
            let residual = [MEAN[0] + side - theta[0], MEAN[1] + side - theta[1]];
            let determinant = COVARIANCE[0] * COVARIANCE[3] - COVARIANCE[1] * COVARIANCE[1];
            let score = [
                0.5 * (COVARIANCE[3] * residual[0] - COVARIANCE[1] * residual[1]) / determinant,
                0.5 * (COVARIANCE[0] * residual[1] - COVARIANCE[1] * residual[0]) / determinant,
            ];
            (0..2).for_each(|k| grad[k] += weight * score[k]);
            -0.5 * (residual[0] * score[0] + residual[1] * score[1])
        }
    }

    /// Returns the positions of independent chains after `steps` steps from zero.
    fn replicates<G: GradientEstimator + std::fmt::Debug>(gradient: G, h: f64, steps: usize) -> Vec<[f64; 2]> {
        let (target, gradient) = (Analytic::new(Normal), Arc::new(gradient));
        let dynamics = Arc::new(OrnsteinUhlenbeck { covariance: Covariance::dense(&COVARIANCE).unwrap() });
        let spec = ChainSpec { dynamics, gradient, step_size: h.into(), temperature: 1.0.into() };
        let chain = |seed| {
            let evaluator = target.evaluator(&vec![0.0; 2]).unwrap();
            let mut chain = spec.start(evaluator, &[0.0; 2], ChainRng::new(seed, 0)).unwrap();
            (0..steps).for_each(|_| chain.step().unwrap());
            [chain.position()[0], chain.position()[1]]
        };
        (0..REPLICATES).map(chain).collect()
    }

    fn assert_moment(values: impl Iterator<Item = f64>, expected: f64) {
        let values: Vec<f64> = values.collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let error = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n / n).sqrt();
        assert!((mean - expected).abs() < 4.0 * error, "{mean} ± {error} of {expected}");
    }

    fn assert_law(draws: &[[f64; 2]], decay: f64, covariance: impl Fn(usize, usize) -> f64) {
        for j in 0..2 {
            assert_moment(draws.iter().map(|theta| theta[j]), MEAN[j] * (1.0 - decay));
            for k in 0..=j {
                let centered = |theta: &[f64; 2], j: usize| theta[j] - MEAN[j] * (1.0 - decay);
                assert_moment(draws.iter().map(|theta| centered(theta, j) * centered(theta, k)), covariance(j, k));
            }
        }
    }

    #[test]
    fn a_normal_posterior_has_the_law_of_the_process_at_every_step_size() {
        for (h, steps) in [(0.1, 1), (1.0, 3), (7.0, 1)] {
            let time = h * steps as f64;
            let covariance = |j: usize, k: usize| (1.0 - (-time).exp()) * COVARIANCE[2 * j + k];
            assert_law(&replicates(FullGradient, h, steps), (-0.5 * time).exp(), covariance);
        }
    }

    /// One observation of two with replacement: M ĝ has the variance `SPREAD`² in every entry.
    #[test]
    fn gradient_noise_adds_its_known_covariance() {
        let (h, steps) = (1.5_f64, 3);
        let (one, time) = ((-0.5 * h).exp(), 1.5 * 3.0);
        let noise: f64 = (0..steps).map(|k| (1.0 - one).powi(2) * one.powi(2 * k) * SPREAD * SPREAD).sum();
        let covariance = |j: usize, k: usize| (1.0 - f64::exp(-time)) * COVARIANCE[2 * j + k] + noise;
        let gradient = MinibatchGradient::new(WithReplacement::new(1));
        assert_law(&replicates(gradient, h, steps as usize), (-0.5 * time).exp(), covariance);
    }
}
