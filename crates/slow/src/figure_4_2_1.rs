//! Baker (2019), figure 4.2.1: the mean of a normal sample, xᵢ ~ N(θ, 1), θ ~ N(0, 10²), as N grows.
//!
//! SGLD with control variates on minibatches of 1000 against BAOAB on the full gradient, both with steps h ∝ 1/N, from the
//! same start. Each is run under several seeds; a table shows
//!
//! - the set-up, which for control variates is the search for the mode,
//! - the time per iteration after it, the least over the seeds (other programs only ever add to it),
//! - KL(q‖p) = log(σ/s) + (s² + (m − μ)²)/(2σ²) − ½, with q = N(m, s²) fitted to the draws and p = N(μ, σ²) the posterior.
//!
//! | criterion | bound |
//! |---|---|
//! | mean KL over the seeds, at every N | below 0.02 |
//! | mean KL after all draws | below that after the first tenth: it falls as the chain goes on |
//! | slope of log time per iteration in log N, control variates | between −0.2 and 0.2 |
//! | the same slope over the last decade, full gradient | between 0.8 and 1.2 |
//!
//! The gradient of this model is linear in θ with the same slope for every observation, so that control variates are exact
//! whatever the minibatch: the KL of `sgldcv` shows discretisation and the length of the run, not minibatch noise.
//! The full gradient's slope is judged where its cost is no longer that of Burn's operations; both slopes are printed.

use std::ops::{Range, RangeInclusive};
use std::time::Instant;

use sgmcmc::prelude::*;
use sgmcmc::sink::RunningMoments;
use sgmcmc::{Baoab, Builder, Sampler, sgldcv};
use sgmcmc_testkit::models::normal_mean;
use sgmcmc_testkit::models::normals;

use crate::{Outcome, Result};

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const MINIBATCH: usize = 1000;
const SEEDS: u64 = 5;

/// hA of SGLD, A the posterior precision: its variance is 1/(1 − hA/4) times too large, 2.6 %.
const LANGEVIN_STEP: f64 = 0.1;
const LANGEVIN_ITERATIONS: usize = 10_000;

/// hA of BAOAB, which has the right variance at any step.
const FULL_STEP: f64 = 1.0;
const FULL: Baoab = Baoab { alpha: 1.0 };
const FULL_ITERATIONS: usize = 500;

/// Steps before the first draw that counts.
const BURN_IN: usize = 100;

const KL_BOUND: f64 = 0.02;
const FLAT: f64 = 0.2;
const PROPORTIONAL: RangeInclusive<f64> = 0.8..=1.2;

/// Where everything starts: far from the posterior, which is near 0.
const START: f64 = 3.0;

/// What one method did at one N.
struct Measured {
    set_up_seconds: f64,
    seconds_per_iteration: f64,
    /// After the first tenth of the draws.
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
    /// KL(self‖other).
    fn divergence_from(self, other: Self) -> f64 {
        let ratio = self.variance / other.variance;
        0.5 * (ratio - 1.0 - ratio.ln() + (self.mean - other.mean).powi(2) / other.variance)
    }
}

pub(crate) fn run() -> Result<Outcome> {
    println!(
        "{:<9} {:<24} {:>10} {:>14} {:>10} {:>10} {:>10}",
        "N", "method", "set-up s", "µs/iteration", "early KL", "mean KL", "worst KL"
    );
    let (mut failures, mut controlled, mut full) = (0, Vec::new(), Vec::new());
    for (place, n) in SIZES.into_iter().enumerate() {
        // Seeds of its own for every N: in units of the posterior the same noise would give the same path at all of them.
        let seeds = place as u64 * SEEDS..(place as u64 + 1) * SEEDS;
        let (model, x) = (normal_mean::model(), normals(n, 1));
        // The prior of the model has precision 0.01.
        let precision = n as f64 + 0.01;
        let exact = Law { mean: x.iter().sum::<f64>() / precision, variance: 1.0 / precision };
        let data = Dataset::new(array(x, [n])?)?;
        let langevin = sgldcv(&model, &data, LANGEVIN_STEP / precision).minibatch(MINIBATCH);
        let underdamped = Builder::new(model.with(&data), FULL, FullGradient, FULL_STEP / precision);

        let ours = measure(exact, LANGEVIN_ITERATIONS, seeds.clone(), |seed| {
            langevin.clone().seed(seed).start(&full_start())
        })?;
        failures += report(n, "sgldcv, minibatch 1000", &ours);
        controlled.push(ours);
        let theirs =
            measure(exact, FULL_ITERATIONS, seeds, |seed| underdamped.clone().seed(seed).start(&full_start()))?;
        failures += report(n, "BAOAB, full gradient", &theirs);
        full.push(theirs);
    }
    println!();
    failures += judge("sgldcv", "", slope(&SIZES, &controlled), -FLAT..=FLAT);
    println!("slope of log time per iteration in log N: full gradient, all N: {:.3}", slope(&SIZES, &full));
    failures += judge("full gradient", ", last decade", slope(&SIZES[2..], &full[2..]), PROPORTIONAL);
    Ok(Outcome::of(failures))
}

fn full_start() -> Tensor<1> {
    sgmcmc::full([1], START)
}

/// Runs the chains that `start` makes from seeds, one after another.
fn measure(
    exact: Law,
    iterations: usize,
    seeds: Range<u64>,
    start: impl Fn(u64) -> sgmcmc::Result<Sampler<Tensor<1>>>,
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

/// Prints a line; one if its divergence is too large or does not fall.
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

/// The least-squares slope of log time per iteration in log N.
fn slope(sizes: &[usize], measured: &[Measured]) -> f64 {
    let x: Vec<f64> = sizes.iter().map(|n| (*n as f64).ln()).collect();
    let y: Vec<f64> = measured.iter().map(|measured| measured.seconds_per_iteration.ln()).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (x_mean, y_mean) = (mean(&x), mean(&y));
    let products: f64 = x.iter().zip(&y).map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    products / x.iter().map(|x| (x - x_mean).powi(2)).sum::<f64>()
}

/// Prints a slope; one if it is not within `bounds`.
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
