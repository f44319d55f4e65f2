//! The step size, the length and the predicted errors of a run.
//!
//! | algorithm | step size h, in whitened coordinates (curvature 1 at the mode) |
//! |---|---|
//! | all | the largest h for which the error of the variance of the linear chain is at most 5 % and h times the largest curvature is bounded; the tolerance is larger if the run would exceed its budget |
//! | pSGLD | that of SGLD divided by the largest entry of M at the mode |
//! | SGFS | that of SGLD without gradient noise |
//! | SGLD, step of the next row | that of SGLD with control variates |

use super::methods::{Algorithm, Estimator, Method};
use super::tuning::{Noise, Tuning};
use crate::suites::law::{Direction, Rule};

/// The tolerance of the variance for which step sizes are chosen.
pub(crate) const TOLERANCE: f64 = 0.05;

/// The upper bound of h times the largest curvature.
pub(crate) const MAX_STEP: f64 = 0.25;

/// The friction divided by √h; critical damping is 2.
pub(crate) const DAMPING: f64 = 1.2;

/// The planned effective sample size of a run, over all chains.
pub(crate) const EFFECTIVE_DRAWS: f64 = 1800.0;

/// The largest number of gradients of single observations of a run, over all chains.
pub(crate) const MAX_ROW_GRADIENTS: f64 = 2e8;
/// The largest number of iterations of a run, over all chains.
pub(crate) const MAX_ITERATIONS: f64 = 4e6;

/// The factor by which the tolerance increases while a run would exceed its budget.
const RELAX: f64 = 1.2;
/// The largest tolerance.
const MAX_TOLERANCE: f64 = 1.0;

/// The number of chains per run.
pub(crate) const CHAINS: usize = 4;

/// The settings of the algorithms; those of SGHMC and HAMCMC are the defaults of the library.
pub(crate) const SGHMC_ALPHA: f64 = 0.01;
pub(crate) const SGHMC_STEPS: u32 = 5;
pub(crate) const SGNHT_A: f64 = 0.05;
pub(crate) const PSGLD_LAMBDA: f64 = 1e-5;
pub(crate) const HAMCMC_MEMORY: usize = 3;
pub(crate) const HAMCMC_LAMBDA: f64 = 1.0;

/// The sum of the step sizes of a sampling stage of cyclical SGLD: 50 autocorrelation times.
const CYCLE: f64 = 200.0;

/// The fraction of a cycle without noise.
pub(crate) const EXPLORATION: f64 = 0.25;

/// The plan of a run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The step size.
    pub(crate) h: f64,
    /// The tolerance of the variance for which it was chosen.
    pub(crate) tolerance: f64,
    /// The period of cyclical step sizes.
    pub(crate) period: u64,
    /// The number of draws per chain.
    pub(crate) draws: usize,
    /// The number of iterations per draw.
    pub(crate) thin: u64,
    /// The number of iterations before the first draw.
    pub(crate) burn_in: u64,
    pub(crate) seed: u64,
    /// The predicted errors of each reference parameter.
    pub(crate) predictions: Vec<Prediction>,
}

/// The predicted errors of a reference parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prediction {
    /// The smallest ratio of standard deviations.
    pub(crate) low: f64,
    /// The largest ratio of standard deviations.
    pub(crate) high: f64,
    /// The posterior mean minus the value at the mode. If the variance is r² times that of the posterior, the mean
    /// moves by r² − 1 times this offset, to second order.
    pub(crate) offset: f64,
}

impl Prediction {
    /// Returns the smallest and the largest predicted error of the mean.
    pub(crate) fn shifts(&self) -> (f64, f64) {
        let (a, b) = ((self.low.powi(2) - 1.0) * self.offset, (self.high.powi(2) - 1.0) * self.offset);
        (a.min(b), a.max(b))
    }
}

impl Plan {
    /// Returns the plan of `method` for the problem of `tuning`.
    pub(crate) fn new(method: &Method, tuning: &Tuning, seed: u64) -> Self {
        let mut tolerance = TOLERANCE;
        loop {
            let plan = Self::with_tolerance(method, tuning, tolerance, seed);
            let iterations = (plan.burn_in + plan.thin * plan.draws as u64) as f64 * CHAINS as f64;
            let affordable =
                iterations <= MAX_ITERATIONS && iterations * row_gradients(method, tuning) <= MAX_ROW_GRADIENTS;
            if affordable || tolerance >= MAX_TOLERANCE {
                return plan;
            }
            tolerance *= RELAX;
        }
    }

    /// Returns the plan of a run that is `factor` times as long.
    pub(crate) fn longer(&self, factor: f64) -> Self {
        Self { draws: (factor * self.draws as f64).ceil() as usize, ..self.clone() }
    }

    /// Returns the plan of `method` with a step size for this `tolerance`.
    fn with_tolerance(method: &Method, tuning: &Tuning, tolerance: f64, seed: u64) -> Self {
        let (algorithm, noise) = (method.algorithm, method.estimator.noise(tuning));
        let step = step_size(algorithm, &noise, tuning, tolerance);
        let law =
            |precision: f64, v: f64| rule(algorithm, &noise, v, tuning).law(step, Direction { precision, noise: v });
        let variances: Vec<f64> = noise.along.values.iter().map(|v| law(1.0, *v).variance).collect();
        // The slowest direction is the widest.
        let slowest = noise.along.values.iter().map(|v| law(1.0 / tuning.width, *v).time).fold(1.0, f64::max);
        let predicted = PredictedVariances { algorithm, noise: &noise, variances: &variances };
        let mut plan = Self {
            h: step,
            tolerance,
            period: 0,
            draws: 0,
            thin: 0,
            burn_in: 0,
            seed,
            predictions: predicted.predictions(tuning),
        };
        let mut time = slowest;
        match algorithm {
            Algorithm::Cyclical => {
                let mean = cosine_mean(1);
                plan.period = (CYCLE * tuning.width / ((1.0 - EXPLORATION) * mean * step)).ceil() as u64;
                time = slowest * mean / (cosine_mean(2) * (1.0 - EXPLORATION));
            }
            Algorithm::Psgld { .. } => {
                let n = tuning.problem.observations as f64;
                let scale = |v: f64| PSGLD_LAMBDA + v.sqrt() / n;
                let (least, largest) = extremes(&noise.diagonal);
                plan.h = step * scale(least);
                time = slowest * scale(largest) / scale(least);
            }
            // The chains are interleaved, and H is at least 1/(1 + λ).
            Algorithm::Hamcmc => time = slowest * HAMCMC_MEMORY as f64 * (1.0 + HAMCMC_LAMBDA),
            _ => {}
        }
        plan.thin = ((time / 8.0) as u64).max(1);
        plan.burn_in = (5.0 * time).ceil() as u64;
        plan.draws = (EFFECTIVE_DRAWS * time / (CHAINS as f64 * plan.thin as f64)).ceil() as usize;
        plan
    }
}

/// Returns the number of gradients of single observations per iteration.
fn row_gradients(method: &Method, tuning: &Tuning) -> f64 {
    let per_estimate = method.estimator.row_gradients(tuning);
    match method.algorithm {
        Algorithm::Sghmc => f64::from(SGHMC_STEPS) * per_estimate,
        Algorithm::Psgld { gamma: true } | Algorithm::Hamcmc => 2.0 * per_estimate,
        Algorithm::Sgfs => per_estimate + 2.0 * tuning.batch as f64,
        _ => per_estimate,
    }
}

/// The predicted variances of a run.
struct PredictedVariances<'a> {
    algorithm: Algorithm,
    noise: &'a Noise,
    /// The ratio of the variance to that of the posterior, along each direction of the noise.
    variances: &'a [f64],
}

impl PredictedVariances<'_> {
    /// Returns the predicted errors of the reference parameters.
    fn predictions(&self, tuning: &Tuning) -> Vec<Prediction> {
        let (low, high) = match self.algorithm {
            Algorithm::Cyclical => (1.0 - 1.0 / CYCLE, 1.0),
            Algorithm::Psgld { gamma: false } => (1.0, missing_gamma(extremes(&self.noise.diagonal).0)),
            _ => (1.0, 1.0),
        };
        let ratios = |factor: f64| tuning.slopes.iter().map(move |slope| self.ratio(slope, factor));
        let pairs = ratios(low).zip(ratios(high)).zip(&tuning.offsets);
        pairs.map(|((low, high), offset)| Prediction { low, high, offset: *offset }).collect()
    }

    /// Returns the ratio of the standard deviations of a reference parameter, to first order around the mode, if all
    /// variances are multiplied by `factor`.
    fn ratio(&self, slope: &[f64], factor: f64) -> f64 {
        let along = |vector: &Vec<f64>| vector.iter().zip(slope).map(|(v, s)| v * s).sum::<f64>().powi(2);
        let squares: Vec<f64> = self.noise.along.vectors.iter().map(along).collect();
        let wide: f64 = squares.iter().zip(self.variances).map(|(square, variance)| square * variance * factor).sum();
        (wide / squares.iter().sum::<f64>()).sqrt()
    }
}

/// Returns the smallest and the largest number.
fn extremes(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(*v), high.max(*v)))
}

/// Returns the rule of `algorithm` in a direction of noise variance `v`.
fn rule(algorithm: Algorithm, noise: &Noise, v: f64, tuning: &Tuning) -> Rule {
    match algorithm {
        Algorithm::Sghmc => Rule::Sghmc { alpha: SGHMC_ALPHA, steps: SGHMC_STEPS },
        Algorithm::Sgnht => Rule::Sgnht { a: SGNHT_A, mean_noise: noise.mean() },
        Algorithm::Baoab => Rule::Baoab { damping: DAMPING },
        Algorithm::Badodab => Rule::Badodab { damping: DAMPING, mean_noise: noise.mean() },
        Algorithm::Sgfs => {
            let gamma = tuning.problem.observations as f64 / tuning.batch as f64;
            Rule::Sgfs { gamma, information: v / (gamma - 1.0) }
        }
        _ => Rule::Sgld,
    }
}

/// Returns the step size in whitened coordinates.
fn step_size(algorithm: Algorithm, noise: &Noise, tuning: &Tuning, tolerance: f64) -> f64 {
    let largest_step = |rule: Rule, noise: &Noise| {
        let (least, largest) = extremes(&noise.along.values);
        let directions = [(1.0, least), (1.0, largest), (tuning.curvature, largest)];
        let directions = directions.map(|(precision, noise)| Direction { precision, noise });
        rule.largest_step(&directions, MAX_STEP, tolerance)
    };
    match algorithm {
        Algorithm::SgldAtControlStep => largest_step(Rule::Sgld, &Estimator::ControlVariate.noise(tuning)),
        Algorithm::Sgfs => largest_step(Rule::Sgld, &Estimator::Full.noise(tuning)),
        _ => largest_step(rule(algorithm, noise, 0.0, tuning), noise),
    }
}

/// Returns the mean of ((cos πr + 1)/2)^power over the sampling stage of a cycle.
fn cosine_mean(power: i32) -> f64 {
    const POINTS: u32 = 1000;
    let at = |k: u32| EXPLORATION + (1.0 - EXPLORATION) * (f64::from(k) + 0.5) / f64::from(POINTS);
    let value = |r: f64| (0.5 * ((std::f64::consts::PI * r).cos() + 1.0)).powi(power);
    (0..POINTS).map(|k| value(at(k))).sum::<f64>() / f64::from(POINTS)
}

/// Returns the variance of the density proportional to p(u)√(v + u²), where p is the standard normal density.
fn missing_gamma(v: f64) -> f64 {
    let weight = |u: f64| (-0.5 * u * u).exp() * (v + u * u).sqrt();
    let points = (0..2000).map(|k| -10.0 + 0.01 * f64::from(k));
    let (mass, square) = points.fold((0.0, 0.0), |(mass, square), u| (mass + weight(u), square + weight(u) * u * u));
    square / mass
}
