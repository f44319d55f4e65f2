//! Baker (2019), figure 4.2.1: the mean of a normal sample, xᵢ ~ N(θ, 1), θ ~ N(0, 10²), as N grows.
//!
//! SGLD with control variates on minibatches of 1000 is compared with BAOAB on the full gradient, both with steps h ∝
//! 1/N and the same start. Each runs with several seeds. The table shows
//!
//! - the time of the set-up, which for control variates is the search of the mode,
//! - the time per iteration after the set-up, the minimum over the seeds (other processes can only increase it),
//! - KL(q‖p) = log(σ/s) + (s² + (m − μ)²)/(2σ²) − ½, where q = N(m, s²) is fitted to the draws and p = N(μ, σ²) is the posterior.
//!
//! | criterion | bound |
//! |---|---|
//! | mean KL over the seeds, at every N | below 0.02 |
//! | mean KL after all draws | below that after the first tenth of the draws |
//! | slope of log time per iteration in log N, control variates | between −0.2 and 0.2 |
//! | the same slope over the last decade, full gradient | between 0.8 and 1.2 |
//!
//! The gradient of this model is linear in θ with the same slope for all observations, so control variates are exact
//! for any minibatch. The KL divergence of `sgldcv` is due to discretization and the length of the run, not to
//! minibatch noise. The slope of the full gradient is judged over the last decade, where the fixed cost of an
//! evaluation is negligible; both slopes are printed.

use std::ops::{Range, RangeInclusive};
use std::time::Instant;

use sgmcmc::algorithms::{Baoab, Covariance};
use sgmcmc::gradient::FullGradient;
use sgmcmc::prelude::*;
use sgmcmc::presets::sgldcv;
use sgmcmc::sink::RunningMoments;
use sgmcmc::{Builder, Sampler};
use sgmcmc_testkit::models::normal_mean;
use sgmcmc_testkit::models::normals;

use crate::Result;
use crate::suites::Outcome;

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const MINIBATCH: usize = 1000;
const SEEDS: u64 = 5;

/// hA of SGLD, where A is the posterior precision. The variance is too large by a factor of 1/(1 − hA/4), 2.6 %.
const LANGEVIN_STEP: f64 = 0.1;
const LANGEVIN_ITERATIONS: usize = 10_000;

/// hA of BAOAB, which has the exact variance for any step size.
const FULL_STEP: f64 = 1.0;
const FULL: Baoab = Baoab { alpha: 1.0, covariance: Covariance::IDENTITY };
const FULL_ITERATIONS: usize = 500;

/// The number of steps before the first draw.
const BURN_IN: usize = 100;

const KL_BOUND: f64 = 0.02;
const FLAT: f64 = 0.2;
const PROPORTIONAL: RangeInclusive<f64> = 0.8..=1.2;

/// The start of all chains, far from the posterior, which is near 0.
const START: f64 = 3.0;

/// The results of one method for one N.
struct Measured {
    set_up_seconds: f64,
    seconds_per_iteration: f64,
    /// The mean KL divergence after the first tenth of the draws.
    early_kl: f64,
    mean_kl: f64,
    worst_kl: f64,
}

/// A normal distribution.
#[derive(Clone, Copy)]
struct Law {
    mean: f64,
    variance: f64,
}

impl Law {
    /// Returns KL(self‖other).
    fn divergence_from(self, other: Self) -> f64 {
        let ratio = self.variance / other.variance;
        0.5 * (ratio - 1.0 - ratio.ln() + (self.mean - other.mean).powi(2) / other.variance)
    }
}

/// Runs both methods for all N.
pub(crate) fn run() -> Result<Outcome> {
    println!(
        "{:<9} {:<24} {:>10} {:>14} {:>10} {:>10} {:>10}",
        "N", "method", "set-up s", "µs/iteration", "early KL", "mean KL", "worst KL"
    );
    let (mut failures, mut controlled, mut full) = (0, Vec::new(), Vec::new());
    for (index, n) in SIZES.into_iter().enumerate() {
        // Each N has its own seeds. With the same noise the paths for all N would be the same, in units of the
        // posterior.
        let seeds = index as u64 * SEEDS..(index as u64 + 1) * SEEDS;
        let (model, x) = (normal_mean::model(), normals(n, 1));
        // The prior of the model has precision 0.01.
        let precision = n as f64 + 0.01;
        let exact = Law { mean: x.iter().sum::<f64>() / precision, variance: 1.0 / precision };
        let data = Dataset::new(array(x, [n])?)?;
        let langevin = sgldcv(&model, &data, LANGEVIN_STEP / precision).minibatch(MINIBATCH);
        let underdamped = Builder::new(model.with(&data), FULL, FullGradient, FULL_STEP / precision);

        let with_control_variates = measure(exact, LANGEVIN_ITERATIONS, seeds.clone(), |seed| {
            langevin.clone().seed(seed).start(&full_start())
        })?;
        failures += report(n, "sgldcv, minibatch 1000", &with_control_variates);
        controlled.push(with_control_variates);
        let with_full_gradient =
            measure(exact, FULL_ITERATIONS, seeds, |seed| underdamped.clone().seed(seed).start(&full_start()))?;
        failures += report(n, "BAOAB, full gradient", &with_full_gradient);
        full.push(with_full_gradient);
    }
    println!();
    failures += judge("sgldcv", "", slope(&SIZES, &controlled), -FLAT..=FLAT);
    println!("slope of log time per iteration in log N: full gradient, all N: {:.3}", slope(&SIZES, &full));
    failures += judge("full gradient", ", last decade", slope(&SIZES[2..], &full[2..]), PROPORTIONAL);
    Ok(Outcome::from_failures(failures))
}

/// Returns the start of all chains.
fn full_start() -> Tensor<1> {
    sgmcmc::full([1], START)
}

/// Runs one chain per seed and measures them; `start` creates the chain of a seed.
fn measure(
    exact: Law,
    iterations: usize,
    seeds: Range<u64>,
    start: impl Fn(u64) -> sgmcmc::gradient::Result<Sampler<Tensor<1>>>,
) -> Result<Measured> {
    let mut measured = Measured {
        set_up_seconds: f64::INFINITY,
        seconds_per_iteration: f64::INFINITY,
        early_kl: 0.0,
        mean_kl: 0.0,
        worst_kl: 0.0,
    };
    let kl = |moments: &RunningMoments| {
        Law { mean: moments.mean()[0], variance: moments.variances()[0] }.divergence_from(exact)
    };
    for seed in seeds {
        let begin = Instant::now();
        let mut sampler = start(seed)?;
        measured.set_up_seconds = measured.set_up_seconds.min(begin.elapsed().as_secs_f64());
        let mut moments = RunningMoments::new();
        for _ in 0..BURN_IN {
            sampler.step()?;
        }
        let begin = Instant::now();
        for _ in 0..iterations {
            sampler.step()?;
            moments.push(sampler.position(), 1.0)?;
            if moments.count() == iterations as u64 / 10 {
                measured.early_kl += kl(&moments) / SEEDS as f64;
            }
        }
        let seconds = begin.elapsed().as_secs_f64() / iterations as f64;
        measured.seconds_per_iteration = measured.seconds_per_iteration.min(seconds);
        measured.mean_kl += kl(&moments) / SEEDS as f64;
        measured.worst_kl = measured.worst_kl.max(kl(&moments));
    }
    Ok(measured)
}

/// Prints a row. Returns 1 if the divergence is too large or does not decrease, otherwise 0.
fn report(n: usize, method: &str, measured: &Measured) -> usize {
    let Measured { set_up_seconds, seconds_per_iteration, early_kl, mean_kl, worst_kl } = measured;
    let passed = *mean_kl < KL_BOUND && mean_kl < early_kl;
    println!(
        "{n:<9} {method:<24} {set_up_seconds:>10.3} {:>14.1} {early_kl:>10.5} {mean_kl:>10.5} {worst_kl:>10.5}  {}",
        seconds_per_iteration * 1e6,
        if passed { "pass" } else { "FAIL" }
    );
    usize::from(!passed)
}

/// Returns the least-squares slope of log time per iteration in log N.
fn slope(sizes: &[usize], measured: &[Measured]) -> f64 {
    let x: Vec<f64> = sizes.iter().map(|n| (*n as f64).ln()).collect();
    let y: Vec<f64> = measured.iter().map(|measured| measured.seconds_per_iteration.ln()).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (x_mean, y_mean) = (mean(&x), mean(&y));
    let products: f64 = x.iter().zip(&y).map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    products / x.iter().map(|x| (x - x_mean).powi(2)).sum::<f64>()
}

/// Prints a slope. Returns 1 if it is not within `bounds`, otherwise 0.
fn judge(method: &str, which: &str, slope: f64, bounds: RangeInclusive<f64>) -> usize {
    let passed = bounds.contains(&slope);
    println!(
        "slope of log time per iteration in log N: {method}{which}: {slope:.3}, between {} and {}  {}",
        bounds.start(),
        bounds.end(),
        if passed { "pass" } else { "FAIL" }
    );
    usize::from(!passed)
}
