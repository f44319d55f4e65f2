//! One step of SGRLD in each parameterization: drift h/2 (M ∇ log p + Γ) and covariance hM, from the definitions.

use sgmcmc_gradient::{FullGradient, MinibatchGradient, WithoutReplacement};

use super::{assert_mean, categorical, start};
use crate::chain::Chain;
use crate::dynamics::Dynamics;
use crate::simplex::{ExpandedMean, ExpandedNatural, ReducedMean, ReducedNatural};

const ALPHA: f64 = 2.0;
const COUNTS: [usize; 3] = [6, 3, 5];
const STEPS: u64 = 20_000;
/// The point at which steps start, away from the mode.
const LOG_THETA: [f64; 3] = [1.2, 0.7, -0.3];

/// A parameterization as its paper defines it.
struct Parameterization {
    /// The parameter of log θ.
    parameter: fn(&[f64]) -> Vec<f64>,
    /// The log density of the parameter, up to a constant.
    log_density: fn(&[f64]) -> f64,
    /// The step size, small enough that the noise does not reach the boundary.
    h: f64,
    /// The metric M, row by row.
    metric: fn(&[f64]) -> Vec<f64>,
}

/// Returns log Π ωⱼ^{nⱼ} of weights proportional to `theta`.
fn log_likelihood(theta: &[f64]) -> f64 {
    let total: f64 = theta.iter().sum();
    theta.iter().zip(COUNTS).map(|(theta, n)| n as f64 * (theta / total).ln()).sum()
}

/// Completes probabilities by the last one.
fn completed(omega: &[f64]) -> Vec<f64> {
    let rest = 1.0 - omega.iter().sum::<f64>();
    omega.iter().copied().chain([rest]).collect()
}

/// Returns the probabilities of log ratios to the last one.
fn from_log_ratios(eta: &[f64]) -> Vec<f64> {
    let total = 1.0 + eta.iter().map(|eta| eta.exp()).sum::<f64>();
    eta.iter().map(|eta| eta.exp() / total).chain([1.0 / total]).collect()
}

fn softmax(y: &[f64]) -> Vec<f64> {
    let total: f64 = y.iter().map(|y| y.exp()).sum();
    y.iter().map(|y| y.exp() / total).collect()
}

fn diagonal(entries: impl Fn(usize) -> f64, d: usize) -> Vec<f64> {
    (0..d * d).map(|k| if k / d == k % d { entries(k / d) } else { 0.0 }).collect()
}

const EXPANDED_MEAN: Parameterization = Parameterization {
    h: 0.02,
    parameter: |y| y.iter().map(|y| y.exp()).collect(),
    log_density: |theta| {
        log_likelihood(theta) + theta.iter().map(|theta| (ALPHA - 1.0) * theta.ln() - theta).sum::<f64>()
    },
    metric: |theta| diagonal(|j| theta[j], 3),
};

const EXPANDED_NATURAL: Parameterization = Parameterization {
    h: 0.01,
    parameter: |y| y.to_vec(),
    log_density: |y| log_likelihood(&softmax(y)) + y.iter().map(|y| ALPHA * y - y.exp()).sum::<f64>(),
    metric: |y| diagonal(|j| (-y[j]).exp(), 3),
};

const REDUCED_MEAN: Parameterization = Parameterization {
    h: 0.002,
    parameter: |y| softmax(y)[..2].to_vec(),
    log_density: |omega| {
        let omega = completed(omega);
        log_likelihood(&omega) + omega.iter().map(|omega| (ALPHA - 1.0) * omega.ln()).sum::<f64>()
    },
    metric: |omega| {
        (0..4).map(|k| f64::from(u8::from(k / 2 == k % 2)) * omega[k / 2] - omega[k / 2] * omega[k % 2]).collect()
    },
};

const REDUCED_NATURAL: Parameterization = Parameterization {
    h: 0.002,
    parameter: |y| vec![y[0] - y[2], y[1] - y[2]],
    log_density: |eta| {
        let omega = from_log_ratios(eta);
        // The Jacobian is the product of all probabilities.
        log_likelihood(&omega) + omega.iter().map(|omega| ALPHA * omega.ln()).sum::<f64>()
    },
    metric: |eta| {
        let omega = from_log_ratios(eta);
        (0..4).map(|k| f64::from(u8::from(k / 2 == k % 2)) / omega[k / 2] + 1.0 / omega[2]).collect()
    },
};

/// Returns the derivative of `f` by coordinate `k`.
fn derivative(f: impl Fn(&[f64]) -> f64, x: &[f64], k: usize) -> f64 {
    let at = |delta: f64| {
        let mut x = x.to_vec();
        x[k] += delta;
        f(&x)
    };
    (at(1e-5) - at(-1e-5)) / 2e-5
}

/// Returns M ∇ log p + Γ by differences.
fn drift(parameterization: &Parameterization, x: &[f64]) -> Vec<f64> {
    let (d, m) = (x.len(), (parameterization.metric)(x));
    let row = |j: usize| {
        let term = |k: usize| {
            let divergence = derivative(|x| (parameterization.metric)(x)[j * d + k], x, k);
            m[j * d + k] * derivative(parameterization.log_density, x, k) + divergence
        };
        (0..d).map(term).sum::<f64>()
    };
    (0..d).map(row).collect()
}

fn check<D>(dynamics: D, parameterization: &Parameterization)
where
    D: Dynamics<FullGradient> + Dynamics<MinibatchGradient> + Copy + std::fmt::Debug,
{
    let target = categorical(ALPHA, &COUNTS);
    let (before, h) = ((parameterization.parameter)(&LOG_THETA), parameterization.h);
    let expected: Vec<f64> = drift(parameterization, &before).iter().map(|drift| 0.5 * h * drift).collect();
    let step = |mut chain: Box<dyn Chain>| {
        chain.step().unwrap();
        let after = (parameterization.parameter)(chain.position());
        after.iter().zip(&before).map(|(after, before)| after - before).collect::<Vec<f64>>()
    };
    let full: Vec<Vec<f64>> =
        (0..STEPS).map(|seed| step(Box::new(start(&target, dynamics, FullGradient, h, &LOG_THETA, seed)))).collect();
    let d = before.len();
    for j in 0..d {
        assert_mean(full.iter().map(|moved| moved[j]), expected[j], &format!("{dynamics:?}: drift {j}"));
        // The test distinguishes half and twice the drift.
        assert!(expected[j].abs() > 8.0 * super::mean(full.iter().map(|moved| moved[j])).1, "{dynamics:?}: no power");
        for k in 0..=j {
            let products = full.iter().map(|moved| (moved[j] - expected[j]) * (moved[k] - expected[k]));
            let covariance = h * (parameterization.metric)(&before)[j * d + k];
            assert_mean(products, covariance, &format!("{dynamics:?}: covariance {j} {k}"));
        }
    }
    // Minibatches do not change the mean.
    let minibatch = || MinibatchGradient::new(WithoutReplacement::new(2));
    let noisy: Vec<Vec<f64>> =
        (0..STEPS).map(|seed| step(Box::new(start(&target, dynamics, minibatch(), h, &LOG_THETA, seed)))).collect();
    for j in 0..d {
        assert_mean(noisy.iter().map(|moved| moved[j]), expected[j], &format!("{dynamics:?}: noisy drift {j}"));
    }
}

#[test]
fn the_expanded_mean_has_its_drift_and_covariance() {
    check(ExpandedMean, &EXPANDED_MEAN);
}

#[test]
fn the_expanded_natural_parameter_has_its_drift_and_covariance() {
    check(ExpandedNatural, &EXPANDED_NATURAL);
}

#[test]
fn the_reduced_mean_has_its_drift_and_covariance() {
    check(ReducedMean, &REDUCED_MEAN);
}

#[test]
fn the_reduced_natural_parameter_has_its_drift_and_covariance() {
    check(ReducedNatural, &REDUCED_NATURAL);
}

/// Mirroring: with the noise of the step known, θ' is the absolute value of the rule.
#[test]
fn negative_values_are_mirrored() {
    use rand::RngExt;
    use rand_distr::StandardNormal;
    let (target, mut mirrored) = (categorical(0.1, &[4, 0, 0]), 0);
    for seed in 0..200 {
        let (h, log_theta) = (0.5, [0.5, -1.0, -2.0]);
        let mut chain = start(&target, ExpandedMean, FullGradient, h, &log_theta, seed);
        chain.step().unwrap();
        let mut rng = sgmcmc_gradient::ChainRng::new(seed, 0);
        let (a, omega) = ([4.1, 0.1, 0.1], softmax(&log_theta));
        for j in 0..3 {
            let theta = log_theta[j].exp();
            let z: f64 = rng.noise().sample(StandardNormal);
            let moved = theta + 0.5 * h * (a[j] - theta - 4.0 * omega[j]) + (h * theta).sqrt() * z;
            mirrored += usize::from(moved < 0.0);
            assert!((chain.position()[j].exp() - moved.abs()).abs() < 1e-12);
        }
    }
    assert!(mirrored > 50);
}
