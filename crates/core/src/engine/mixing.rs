//! Closures whose term for an observation depends on other observations.
//!
//! The sum of such terms over a minibatch, scaled up, is not an estimate of their sum over all observations, and a pass over all of them
//! cannot be cut into pieces. A recording shows it; of closures that are not compiled it is seen when rows are evaluated together, in
//! another order, and in two halves.

use rand::{RngExt, SeedableRng};

use super::Evaluator;
use super::eager::Eager;
use super::spread;
use crate::data::{Precision, Rows};
use crate::error::Result;
use crate::rng::StreamRng;
use crate::tree::TensorTree;

/// Neighboring rows that are evaluated together.
const NEIGHBORS: usize = 8;
/// How far from the start: a parameter that is zero there may hide what it multiplies.
const SPREADS: [f64; 2] = [0.1, 1.0];
/// Relative differences that rounding explains.
const SINGLE: f64 = 1e-3;
const DOUBLE: f64 = 1e-6;

/// Whether the log-likelihood of a row depends on the rows it is evaluated with.
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

/// Whether `rows` have other values in another order or in halves.
///
/// # Errors
///
/// If the closure does not take some of the rows together.
fn mixes<P: TensorTree, D: TensorTree>(eager: &Eager<P, D>, theta: &[f64], rows: &[usize]) -> Result<bool> {
    let together = eager.terms(theta, Rows::list(rows))?;
    if eager.terms(theta, Rows::list(rows))? != together {
        // It changes from call to call, as with random numbers, so that nothing can be said.
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
