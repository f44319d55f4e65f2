//! Laws of the algorithms with a matrix: preconditioned SGLD and BAOAB, pSGLD, SGRLD, SGFS, HAMCMC.

mod baoab;
mod correction;
mod fisher_scoring;
mod hamcmc;
mod preconditioned;
mod psgld;

use sgmcmc::algorithms::{Covariance, Hamcmc, InitialScale, Metric, PreconditionedSgld, Psgld, Sgfs, Sgrld};
use sgmcmc_testkit::linear::solve;

use super::*;

/// A correlated matrix with scales that differ.
fn matrix(d: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| match i.abs_diff(j) {
        0 => 0.6 + 0.3 * i as f64,
        1 => 0.25,
        _ => 0.0,
    };
    (0..d * d).map(|k| entry(k / d, k % d)).collect()
}

fn inverse(a: &[f64], d: usize) -> Vec<f64> {
    let unit = |j: usize| (0..d).map(|i| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
    (0..d).flat_map(|j| solve(a, &unit(j))).collect()
}

fn apply(a: &[f64], v: &[f64]) -> Vec<f64> {
    a.chunks_exact(v.len()).map(|row| row.iter().zip(v).map(|(a, v)| a * v).sum()).collect()
}

fn batches() -> MinibatchGradient {
    MinibatchGradient::new(WithoutReplacement::new(BATCH))
}

fn scaled(m: &[f64], h: f64) -> Vec<f64> {
    m.iter().map(|m| h * m).collect()
}

/// The positions of a chain over some steps.
fn path<D, G>(dynamics: D, gradient: G, temperature: f64, steps: usize) -> Vec<Vec<f64>>
where
    G: GradientEstimator + std::fmt::Debug,
    D: Dynamics<G> + std::fmt::Debug,
{
    let step_size = StepSize::from(SIZE).parameter("first", 0.5 * SIZE);
    let recipe = recipe(dynamics, gradient, step_size, temperature);
    follow(&mut Problem::new(5, 0.0).chain(&recipe, &[0.3; 5], 3), steps)
}

fn follow(chain: &mut dyn Chain, steps: usize) -> Vec<Vec<f64>> {
    (0..steps)
        .map(|_| {
            chain.step().unwrap();
            chain.position().to_vec()
        })
        .collect()
}

fn farthest(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    a.concat().iter().zip(b.concat()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
