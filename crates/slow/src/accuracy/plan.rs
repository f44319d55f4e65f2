//! Step size, length and predicted law of a run, fixed before it starts.
//!
//! | algorithm | step size h, in whitened coordinates (curvature 1 at the mode) |
//! |---|---|
//! | all | the largest h at which the law of the linear chain is off by at most 5 % in variance, and h times the largest curvature at most a bound |
//! | pSGLD | that of SGLD over the largest entry of M at the mode |
//! | SGFS | that of SGLD without gradient noise |
//! | SGLD, step of the next row | that of SGLD with control variates |

use super::methods::{Algorithm, Estimator, Method};
use super::tuning::{Noise, Tuning};
use crate::law::{Direction, Law, Rule};

/// The error of the variance that step sizes are chosen for.
pub(crate) const TOLERANCE: f64 = 0.05;

/// The bound of h times the largest curvature.
pub(crate) const LONGEST_STEP: f64 = 0.25;

/// Friction over √h: critical damping is 2.
pub(crate) const DAMPING: f64 = 1.2;

/// Effective draws that a run is planned for, over all chains.
pub(crate) const EFFECTIVE_DRAWS: f64 = 2500.0;

/// Chains per run.
pub(crate) const CHAINS: usize = 4;

/// Settings of the algorithms; those of SGHMC and HAMCMC are the defaults of the library.
pub(crate) const SGHMC_ALPHA: f64 = 0.01;
pub(crate) const SGHMC_STEPS: u32 = 5;
pub(crate) const SGNHT_A: f64 = 0.05;
pub(crate) const PSGLD_LAMBDA: f64 = 1e-5;
pub(crate) const HAMCMC_MEMORY: usize = 3;
pub(crate) const HAMCMC_LAMBDA: f64 = 1.0;

/// Sampling stages of cyclical SGLD last until their step sizes add up to this.
const CYCLE: f64 = 40.0;

/// The share of a cycle that only climbs.
pub(crate) const EXPLORATION: f64 = 0.25;

/// A run about to start.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The step size.
    pub(crate) h: f64,
    /// The period of cyclical step sizes.
    pub(crate) period: u64,
    /// Draws per chain, iterations per draw, and iterations before the first.
    pub(crate) draws: usize,
    pub(crate) thin: u64,
    pub(crate) burn_in: u64,
    /// The predicted ratio of standard deviations of each reference parameter.
    pub(crate) ratios: Vec<Predicted>,
}

/// The least and the largest predicted value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Predicted {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Plan {
    /// The plan of `method` on the problem of `tuning`.
    pub(crate) fn of(method: &Method, tuning: &Tuning) -> Self {
        let noise = method.estimator.noise(tuning);
        let algorithm = method.algorithm;
        let step = step_size(algorithm, &noise, tuning);
        let laws: Vec<Law> = (noise.along.values.iter())
            .map(|v| rule(algorithm, &noise, *v, tuning).law(step, Direction { precision: 1.0, noise: *v }))
            .collect();
        let slowest = laws.iter().map(|law| law.time).fold(1.0, f64::max);
        let variances: Vec<f64> = laws.iter().map(|law| law.variance).collect();
        let along = |factor: f64| predicted(tuning, &noise, &variances, factor);
        let mut plan = Self {
            h: step,
            period: 0,
            draws: 0,
            thin: 0,
            burn_in: 0,
            ratios: along(1.0).into_iter().map(|ratio| Predicted { low: ratio, high: ratio }).collect(),
        };
        let mut time = slowest;
        match algorithm {
            Algorithm::Cyclical => {
                // Means of (cos πr + 1)/2 and of its square over the sampling stage.
                let mean = cosine_mean(1);
                plan.period = (CYCLE / ((1.0 - EXPLORATION) * mean * step)).ceil() as u64;
                plan.ratios = narrowed(along(1.0 - 1.0 / CYCLE), &plan.ratios);
                time = slowest * mean / (cosine_mean(2) * (1.0 - EXPLORATION));
            }
            Algorithm::Psgld { gamma } => {
                let n = tuning.problem.observations as f64;
                let scale = |v: f64| PSGLD_LAMBDA + v.sqrt() / n;
                let (least, largest) = extremes(&noise.diagonal);
                plan.h = step * scale(least);
                time = slowest * scale(largest) / scale(least);
                if !gamma {
                    let widest = along(missing_gamma(least));
                    plan.ratios.iter_mut().zip(widest).for_each(|(ratio, widest)| ratio.high = widest);
                }
            }
            // Chains take turns, and H is at least 1/(1 + λ).
            Algorithm::Hamcmc => time = slowest * HAMCMC_MEMORY as f64 * (1.0 + HAMCMC_LAMBDA),
            _ => {}
        }
        plan.thin = ((time / 8.0) as u64).max(1);
        if algorithm == Algorithm::Hamcmc {
            // Not a multiple of the number of chains that take turns, so that all of them are seen.
            plan.thin = plan.thin / HAMCMC_MEMORY as u64 * HAMCMC_MEMORY as u64 + 1;
        }
        plan.burn_in = (5.0 * time).ceil() as u64;
        plan.draws = (EFFECTIVE_DRAWS * time / (CHAINS as f64 * plan.thin as f64)).ceil() as usize;
        plan
    }
}

/// The least and the largest of some numbers.
fn extremes(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(*v), high.max(*v)))
}

/// The rule of `algorithm` in a direction of noise variance `v`.
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

/// The step size in whitened coordinates.
fn step_size(algorithm: Algorithm, noise: &Noise, tuning: &Tuning) -> f64 {
    let longest = |rule: Rule, noise: &Noise| {
        let (least, largest) = extremes(&noise.along.values);
        let directions = [(1.0, least), (1.0, largest), (tuning.curvature, largest)];
        let directions = directions.map(|(precision, noise)| Direction { precision, noise });
        rule.longest_step(&directions, LONGEST_STEP, TOLERANCE)
    };
    match algorithm {
        Algorithm::SgldAtControlStep => longest(Rule::Sgld, &Estimator::ControlVariate.noise(tuning)),
        Algorithm::Sgfs => longest(Rule::Sgld, &Estimator::Full.noise(tuning)),
        _ => longest(rule(algorithm, noise, 0.0, tuning), noise),
    }
}

/// The ratio of the standard deviations of every reference parameter, to first order around the mode, where the variance along
/// each direction of the noise is `variances` times `factor` that of the posterior.
fn predicted(tuning: &Tuning, noise: &Noise, variances: &[f64], factor: f64) -> Vec<f64> {
    let ratio = |slope: &Vec<f64>| {
        let along = |vector: &Vec<f64>| vector.iter().zip(slope).map(|(v, s)| v * s).sum::<f64>().powi(2);
        let squares: Vec<f64> = noise.along.vectors.iter().map(along).collect();
        let wide: f64 = squares.iter().zip(variances).map(|(square, variance)| square * variance * factor).sum();
        (wide / squares.iter().sum::<f64>()).sqrt()
    };
    tuning.slopes.iter().map(ratio).collect()
}

/// Ranges from the lower to the present predictions.
fn narrowed(low: Vec<f64>, present: &[Predicted]) -> Vec<Predicted> {
    low.into_iter().zip(present).map(|(low, present)| Predicted { low, high: present.high }).collect()
}

/// The mean of ((cos πr + 1)/2)^power over the sampling stage of a cycle.
fn cosine_mean(power: i32) -> f64 {
    const PLACES: u32 = 1000;
    let at = |k: u32| EXPLORATION + (1.0 - EXPLORATION) * (f64::from(k) + 0.5) / f64::from(PLACES);
    let value = |r: f64| (0.5 * ((std::f64::consts::PI * r).cos() + 1.0)).powi(power);
    (0..PLACES).map(|k| value(at(k))).sum::<f64>() / f64::from(PLACES)
}

/// The variance of the density p(u)√(v + u²), p the standard normal density.
fn missing_gamma(v: f64) -> f64 {
    let weight = |u: f64| (-0.5 * u * u).exp() * (v + u * u).sqrt();
    let places = (0..2000).map(|k| -10.0 + 0.01 * f64::from(k));
    let (mass, square) =
        places.fold((0.0, 0.0), |(mass, square), u| (mass + weight(u), square + weight(u) * u * u));
    square / mass
}
