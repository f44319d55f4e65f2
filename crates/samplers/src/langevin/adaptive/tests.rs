//! The rule by hand, weighted and unweighted moments on a normal posterior, and checkpoints.

use std::sync::Arc;

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc_diagnostics::Sample;
use sgmcmc_gradient::{Analytic, AnalyticModel, ChainRng, FullGradient, MinibatchGradient, Target, WithReplacement};

use super::*;
use crate::chain::GradientChain;
use crate::chain::{Chain, ChainSpec, TypedChain};

/// The model xᵢ ~ N(θ, 1), or the density −θ²/2 if there are no observations.
#[derive(Clone, Debug)]
struct Normal(Vec<f64>);

impl AnalyticModel for Normal {
    fn observations(&self) -> usize {
        self.0.len()
    }

    fn dim(&self) -> usize {
        1
    }

    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        grad[0] += weight * (self.0[row] - theta[0]);
        -0.5 * (self.0[row] - theta[0]).powi(2)
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        if !self.0.is_empty() {
            return 0.0;
        }
        grad[0] -= theta[0];
        -0.5 * theta[0].powi(2)
    }
}

fn start<G: GradientEstimator>(model: Normal, gradient: G, h: f64, theta: f64) -> TypedChain<AdaptiveSgld, G> {
    let spec = ChainSpec {
        dynamics: Arc::new(AdaptiveSgld::default()),
        gradient: Arc::new(gradient),
        step_size: h.into(),
        temperature: 1.0.into(),
    };
    let evaluator = Analytic::new(model).evaluator(&vec![theta]).unwrap();
    spec.start(evaluator, &[theta], ChainRng::new(3, 0)).unwrap()
}

/// Two steps with N = 4 observations, written out with the numbers of the defaults.
#[test]
fn two_steps_follow_the_rule() {
    let data = vec![0.5, 1.5, 1.0, 2.0];
    let (h, mut theta) = (0.02, 2.0);
    let mut chain = start(Normal(data.clone()), FullGradient, h, theta);
    let mut noise = ChainRng::new(3, 0);
    let gradient = |theta: f64| data.iter().map(|x| x - theta).sum::<f64>();
    let psi = |zeta: f64| 0.02 * (zeta.powf(0.25) + 2.0) / (zeta.powf(0.25) + 0.02);
    // g = ‖ĝ‖²/(N d), and α Δτ = 50 · 4 · 0.02/2 = 2.
    let mut zeta = gradient(theta).powi(2) / 4.0 / 50.0;
    assert!((chain.info().step_size - h * psi(zeta)).abs() < 1e-15);
    for _ in 0..2 {
        chain.step().unwrap();
        let (g, step) = (gradient(theta), h * psi(zeta));
        let z: f64 = noise.noise().sample(StandardNormal);
        theta += 0.5 * step * g + step.sqrt() * z;
        zeta = (-2.0_f64).exp() * zeta + (1.0 - (-2.0_f64).exp()) * (g * g / 4.0) / 50.0;
        assert!((chain.position()[0] - theta).abs() < 1e-13, "{} against {theta}", chain.position()[0]);
        assert!((chain.info().step_size - h * psi(zeta)).abs() < 1e-15);
        let mut sizes = [0.0];
        chain.step_sizes(&mut sizes);
        assert!((sizes[0] - h * psi(zeta)).abs() < 1e-15);
    }
}

/// The mean square of θ with weights, its Monte Carlo standard error, and the mean square without weights.
fn mean_square(h: f64, steps: usize) -> (f64, f64, f64) {
    let mut chain = start(Normal(Vec::new()), FullGradient, h, 1.0);
    let (mut squares, mut weights) = (Vec::new(), Vec::new());
    for _ in 0..steps {
        chain.step().unwrap();
        squares.push(chain.position()[0].powi(2));
        weights.push(chain.info().step_size);
    }
    let plain = squares.iter().sum::<f64>() / steps as f64;
    let sample = Sample::weighted(&[squares], &[weights]);
    (sample.mean(), sample.mcse_mean(), plain)
}

/// The target variance is 1. Numbers of 2·10⁷ steps of an independent program: 1.016 at h = 0.5, 1.220 at 4 and 1.674 at
/// 8 with weights, 1.457 at h = 0.5 without.
#[test]
fn weighted_moments_converge_and_unweighted_ones_do_not() {
    let (variance, error, plain) = mean_square(0.5, 200_000);
    assert!((variance - 1.0).abs() < 4.0 * error && error < 0.04, "{variance} ± {error}");
    assert!((plain - 1.457).abs() < 0.12, "{plain}");
    let (coarse, error, _) = mean_square(4.0, 50_000);
    assert!((coarse - 1.220).abs() < 4.0 * error && error < 0.03, "{coarse} ± {error}");
    let (coarsest, error, _) = mean_square(8.0, 50_000);
    assert!((coarsest - 1.674).abs() < 4.0 * error && error < 0.04, "{coarsest} ± {error}");
}

/// Gradient noise of variance N²/n · s² does not correlate with the step size: the variance is as predicted for SGLD.
#[test]
fn minibatch_noise_does_not_bias_the_step() {
    let data: Vec<f64> = (0..40).map(|k| f64::from(k % 8) - 3.5).collect();
    let s2 = data.iter().map(|x| x * x).sum::<f64>() / 40.0;
    let mut chain = start(Normal(data), MinibatchGradient::new(WithReplacement::new(20)), 0.01, 0.0);
    let (mut squares, mut weights) = (Vec::new(), Vec::new());
    for _ in 0..300_000 {
        chain.step().unwrap();
        squares.push(chain.position()[0].powi(2) * 40.0);
        weights.push(chain.info().step_size);
    }
    let mean_step = weights.iter().map(|w| w * w).sum::<f64>() / weights.iter().sum::<f64>();
    let predicted = 1.0 + 0.25 * mean_step * (40.0 + 80.0 * s2);
    let sample = Sample::weighted(&[squares], &[weights]);
    let (variance, error) = (sample.mean(), sample.mcse_mean());
    assert!((variance - predicted).abs() < 4.0 * error + 0.02, "{variance} ± {error} against {predicted}");
}

#[test]
fn a_restored_chain_continues_bit_for_bit() {
    let gradient = || MinibatchGradient::new(WithReplacement::new(2));
    let model = || Normal(vec![0.5, 1.5, 1.0, 2.0]);
    let mut chain = start(model(), gradient(), 0.1, 2.0);
    (0..5).for_each(|_| chain.step().unwrap());
    let saved = chain.save().unwrap();
    let mut resumed = start(model(), gradient(), 0.1, -1.0);
    resumed.restore(&saved).unwrap();
    for _ in 0..5 {
        chain.step().unwrap();
        resumed.step().unwrap();
        assert_eq!((chain.position(), chain.info()), (resumed.position(), resumed.info()));
    }
}

#[test]
fn settings_out_of_range_are_named() {
    let message = |dynamics: AdaptiveSgld| Dynamics::<FullGradient>::check(&dynamics).unwrap_err().to_string();
    let default = AdaptiveSgld::default();
    assert!(message(AdaptiveSgld { alpha: 0.0, ..default }).contains("alpha is 0"));
    assert!(message(AdaptiveSgld { largest: 0.01, ..default }).contains("largest step factor is 0.01"));
    assert!(message(AdaptiveSgld { largest: f64::INFINITY, ..default }).contains("finite"));
    assert!((default.factor(0.0) - 2.0).abs() < 1e-15);
    assert!((default.factor(f64::INFINITY) - 0.02).abs() < 1e-15);
}
