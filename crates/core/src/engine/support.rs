//! Detection of data outside the support of their distribution.
//!
//! Labels 1 and 2 in place of 0 and 1 have a finite log-likelihood and gradient, and the chain converges to a wrong
//! posterior. A class index that does not exist has log density −∞ and a finite gradient. A run does not show either
//! error. This module calls the log-likelihood with some observations while the distributions record the values that
//! they evaluate. If the values are those of a leaf of the data, all values of the leaf are checked. If they are
//! computed from the data, the closure is called with all observations.

use super::eager::Eager;
use super::spread;
use crate::data::Dataset;
use crate::distributions::{Observed, watching};
use crate::tree::TensorTree;
use sgmcmc_gradient::Evaluator;
use sgmcmc_gradient::data::Rows;
use sgmcmc_gradient::error::{Error, Result};

/// The maximum number of values outside the support that are examined for each leaf.
const EXAMINED: usize = 16;

/// Checks that the data are in the support of the distributions of the log-likelihood.
///
/// # Errors
///
/// Returns an error if a value outside the support affects the log-likelihood.
pub(super) fn check<P: TensorTree, D: TensorTree>(eager: &Eager<P, D>) -> Result<()> {
    let observations = eager.observations();
    if observations == 0 {
        return Ok(());
    }
    let rows = spread::rows(eager.data().columns(), observations);
    let theta = eager.coordinates();
    // The gradient is computed because tracking shows whether a value depends on parameters.
    let (_, seen) = watching(|| eager.gradient_of(theta, Rows::list(&rows)));
    let mut computed = false;
    for value in seen.iter().filter(|value| !value.tracked) {
        match leaf_of(eager.data(), &rows, &value.values) {
            Some(leaf) => check_leaf(eager, leaf, value)?,
            None => computed = true,
        }
    }
    if computed { check_computed(eager, &rows, &seen) } else { Ok(()) }
}

/// Returns the index of the leaf with these values at `rows`.
fn leaf_of<D: TensorTree>(data: &Dataset<D>, rows: &[usize], values: &[f64]) -> Option<usize> {
    data.columns().iter().position(|column| {
        let own = column.take(Rows::list(rows));
        own.numbers().len() == values.len() && own.numbers().zip(values).all(|(a, b)| a.total_cmp(b).is_eq())
    })
}

/// Checks all values of a leaf.
fn check_leaf<P: TensorTree, D: TensorTree>(eager: &Eager<P, D>, leaf: usize, value: &Observed) -> Result<()> {
    let column = &eager.data().columns()[leaf];
    let outside = column.numbers().enumerate().filter(|(_, number)| !value.support.holds(*number));
    for (index, number) in outside.take(EXAMINED) {
        if affects_likelihood(eager, leaf, index) {
            return Err(Error::DataOutsideSupport {
                leaf: format!("data leaf `{}`", column.name()),
                position: column.position(index),
                value: number,
                distribution: value.distribution,
                support: value.support.to_string().into(),
            });
        }
    }
    Ok(())
}

/// Returns whether the log-likelihood depends on element `index` of a leaf: it is not finite, or its derivative is not
/// zero.
///
/// Closures may mask values that mark missing data, so that these do not affect the log-likelihood.
fn affects_likelihood<P: TensorTree, D: TensorTree>(eager: &Eager<P, D>, leaf: usize, index: usize) -> bool {
    let width = eager.data().columns()[leaf].width();
    // The initial parameters are avoided, because parameters that are zero hide the values that they multiply.
    let theta: Vec<f64> = eager.coordinates().iter().map(|x| x + 0.1).collect();
    match eager.slopes(&theta, index / width) {
        Ok((value, slopes)) => {
            let slope = slopes.get(leaf).and_then(|slopes| slopes.get(index % width)).copied().unwrap_or_default();
            !value.is_finite() || slope.is_nan() || slope.abs() > 0.0
        }
        Err(_) => true,
    }
}

/// Calls the closure with all observations, for values that are computed from the data.
fn check_computed<P: TensorTree, D: TensorTree>(eager: &Eager<P, D>, rows: &[usize], seen: &[Observed]) -> Result<()> {
    let theta = eager.coordinates();
    let mut done = 0;
    for chunk in Rows::range(0..eager.observations()).chunks(eager.chunk_rows()) {
        let (_, found) = watching(|| eager.terms(theta, chunk));
        for (value, known) in found.iter().zip(seen).filter(|(_, known)| !known.tracked) {
            if found.len() != seen.len() || leaf_of(eager.data(), rows, &known.values).is_some() {
                continue;
            }
            let Some(index) = value.values.iter().position(|number| !value.support.holds(*number)) else { continue };
            let each = value.values.len() / chunk.len();
            let position = match index.checked_div(each) {
                Some(row) if each * chunk.len() == value.values.len() => format!("row {}", done + row),
                _ => format!("rows {done} to {}", done + chunk.len() - 1),
            };
            return Err(Error::DataOutsideSupport {
                leaf: "a value computed from the data".into(),
                position,
                value: value.values[index],
                distribution: value.distribution,
                support: value.support.to_string().into(),
            });
        }
        done += chunk.len();
    }
    Ok(())
}
