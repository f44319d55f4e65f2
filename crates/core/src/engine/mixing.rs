//! Detection of closures in which the term of an observation depends on other observations.
//!
//! The rescaled sum of such terms over a minibatch is not an unbiased estimate of their sum over all observations, and
//! a pass over all observations cannot be divided into chunks. The compiler detects the dependence in the recording.
//! For closures that are not compiled, this module evaluates the same observations together, in reverse order, and in
//! two halves, and compares the results.

use rand::{RngExt, SeedableRng};

use super::eager::Eager;
use super::spread;
use crate::tree::TensorTree;
use sgmcmc_gradient::Evaluator;
use sgmcmc_gradient::data::{Precision, Rows};
use sgmcmc_gradient::error::Result;
use sgmcmc_gradient::rng::StreamRng;

/// The number of neighboring observations that are evaluated together.
const NEIGHBORS: usize = 8;
/// The distances of the evaluation points from the initial parameters. A parameter that is zero there hides the terms
/// that it multiplies.
const SPREADS: [f64; 2] = [0.1, 1.0];
/// The relative differences that are attributed to rounding.
const SINGLE: f64 = 1e-3;
const DOUBLE: f64 = 1e-6;

/// Returns whether the log-likelihood of an observation depends on other observations in the same call.
pub(super) fn mixes_rows<P: TensorTree, D: TensorTree>(eager: &Eager<P, D>) -> bool {
    let observations = eager.observations();
    if observations < 2 {
        return false;
    }
    let middle = (observations / 2).min(observations - NEIGHBORS.min(observations));
    let neighbors: Vec<usize> = (middle..observations).take(NEIGHBORS).collect();
    let spread = spread::rows(eager.data().columns(), observations);
    let mut rng = StreamRng::seed_from_u64(0x3019);
    SPREADS.iter().any(|spread_by| {
        let theta: Vec<f64> = eager.coordinates().iter().map(|x| x + spread_by * (rng.random::<f64>() - 0.5)).collect();
        [&neighbors, &spread].into_iter().any(|rows| mixes(eager, &theta, rows).unwrap_or(false))
    })
}

/// Returns whether the terms of `rows` change if the observations are reversed or evaluated in halves.
///
/// # Errors
///
/// Returns the error of the closure.
fn mixes<P: TensorTree, D: TensorTree>(eager: &Eager<P, D>, theta: &[f64], rows: &[usize]) -> Result<bool> {
    let together = eager.terms(theta, Rows::list(rows))?;
    if eager.terms(theta, Rows::list(rows))? != together {
        // The result differs between equal calls, for example because of random numbers, so that the comparison is
        // meaningless.
        return Ok(false);
    }
    let (first, second) = rows.split_at(rows.len() / 2);
    let halves = [eager.terms(theta, Rows::list(first))?, eager.terms(theta, Rows::list(second))?].concat();
    let backwards: Vec<usize> = rows.iter().rev().copied().collect();
    let mut reordered = eager.terms(theta, Rows::list(&backwards))?;
    reordered.reverse();
    let relative = if eager.precision() == Precision::Single { SINGLE } else { DOUBLE };
    let differs = |a: &[f64], b: &[f64]| {
        let size = a.iter().fold(1.0, |largest: f64, value| largest.max(value.abs()));
        let apart = |(a, b): (&f64, &f64)| a.is_finite() && b.is_finite() && (a - b).abs() > relative * size;
        a.iter().zip(b).any(apart)
    };
    if eager.is_summed() {
        let sum = |terms: &[f64]| [terms.iter().sum::<f64>()];
        return Ok(differs(&sum(&together), &sum(&halves)) || differs(&sum(&together), &sum(&reordered)));
    }
    Ok(differs(&together, &halves) || differs(&together, &reordered))
}
