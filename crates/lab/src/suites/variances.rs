//! Variances on a normal posterior: xᵢ ~ N(θ, 1) with N = 100 and the full gradient, so that the error is due to the
//! algorithm alone.
//!
//! Each case runs until the Monte Carlo error of the variance is at most 0.7 %. The expected ratio of each case is
//! fixed in advance.

use std::time::Instant;

use sgmcmc::algorithms::{Badodab, Baoab, Hamcmc, Sghmc, Sgld, Sgnht};
use sgmcmc::algorithms::{Dynamics, NoiseEstimate};
use sgmcmc::gradient::FullGradient;
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::normal_mean::{self, NormalMean};
use sgmcmc_testkit::models::{Case, normals};

use crate::Result;
use crate::suites::Outcome;

/// The number of observations.
const N: usize = 100;

/// The Monte Carlo error of the variance at which a case ends.
const TARGET_ERROR: f64 = 0.007;

/// The tolerance of the ratio of variances, in addition to the expected bias of the algorithm.
const TOLERANCE: f64 = 0.02;

/// The number of batches for the Monte Carlo error.
const BATCHES: usize = 64;

/// The largest number of steps of a case.
const MAX_STEPS: usize = 1 << 28;

/// Runs all cases.
pub(crate) fn run() -> Result<Outcome> {
    println!(
        "variance over that of the posterior, full gradient, N = {N}; criterion: within {TOLERANCE} of the expected ratio"
    );
    let mut failures = 0;
    for h in [1e-4, 2e-5] {
        for steps in [1, 2, 5, 20] {
            let dynamics = Sghmc { steps, ..Sghmc::default() };
            failures += judge(&format!("sghmc, L = {steps}"), dynamics, h, 1.0)?;
        }
        let corrected = Sghmc { noise: NoiseEstimate::FisherScoring, ..Sghmc::default() };
        failures += judge("sghmc, Fisher scoring", corrected, h, 1.0)?;
        // Euler steps make the variance too small by ξ/2, where ξ = a = 0.01.
        failures += judge("sgnht", Sgnht::default(), h, 0.995)?;
        failures += judge("baoab", Baoab::default(), h, 1.0)?;
        failures += judge("badodab", Badodab::default(), h, 1.0)?;
        failures += judge("sgld", Sgld, h, 1.0)?;
    }
    // The step size of HAMCMC is dimensionless, because its matrix approximates the posterior covariance. Its bias is
    // h/4.
    for h in [0.04, 0.02] {
        failures += judge(
            "hamcmc",
            Hamcmc { gamma: sgmcmc::algorithms::InitialScale::Fixed(0.01), ..Hamcmc::default() },
            h,
            1.0 + 0.25 * h,
        )?;
    }
    Ok(Outcome::from_failures(failures))
}

/// Runs a case and prints a row. Returns 1 if it fails, otherwise 0.
fn judge<D>(name: &str, dynamics: D, h: f64, expected: f64) -> Result<usize>
where
    D: Dynamics<FullGradient> + Clone + std::fmt::Debug + 'static,
{
    let begin = Instant::now();
    let data = NormalMean::simulate(N, 1).posterior.data().clone();
    let precision = N as f64 + 0.01;
    let mean = normals(N, 1).iter().sum::<f64>() / precision;
    let mut sampler = ula(&normal_mean::model(), &data, h).dynamics(dynamics).seed(7).start(&full([1], mean))?;
    let mut square = || -> Result<f64> {
        sampler.step()?;
        Ok((sampler.position()[0] - mean).powi(2) * precision)
    };
    let mut means: Vec<f64> = Vec::new();
    let mut length = 1 << 12;
    let (ratio, error, steps) = loop {
        while means.len() < BATCHES {
            let mut sum = 0.0;
            for _ in 0..length {
                sum += square()?;
            }
            means.push(sum / length as f64);
        }
        let ratio = means.iter().sum::<f64>() / BATCHES as f64;
        let spread = means.iter().map(|mean| (mean - ratio).powi(2)).sum::<f64>() / (BATCHES - 1) as f64;
        let error = (spread / BATCHES as f64).sqrt();
        let steps = length * BATCHES;
        if error <= TARGET_ERROR || steps >= MAX_STEPS {
            break (ratio, error, steps);
        }
        // Double the length of the batches by merging pairs.
        means = means.chunks_exact(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect();
        length *= 2;
    };
    let passed = error <= TARGET_ERROR && (ratio - expected).abs() <= TOLERANCE;
    println!(
        "  {name:<24} h = {h:<6} {ratio:.4} ± {error:.4}, expected {expected:.3}, {steps} iterations, {:.1} s  {}",
        begin.elapsed().as_secs_f64(),
        if passed { "pass" } else { "FAIL" }
    );
    Ok(usize::from(!passed))
}
