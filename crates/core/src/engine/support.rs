//! Data outside the support of the distribution they are given to.
//!
//! Labels 1 and 2 where 0 and 1 are meant have a log-likelihood and a gradient, and the chain converges to something else; a class index
//! that does not exist has log density −∞ and a finite gradient. Neither shows in a run. The log-likelihood is called on some rows with
//! the distributions writing down what they are asked about. Where that is a leaf of the data, the leaf is looked through; where it is
//! computed from data, the closure is called on all rows.

use super::Evaluator;
use super::eager::Eager;
use super::spread;
use crate::data::{Dataset, Rows};
use crate::distributions::{Observed, watching};
use crate::error::{Error, Result};
use crate::tree::TensorTree;

/// Values outside the support that are looked at, for each leaf.
const EXAMINED: usize = 16;

/// # Errors
///
/// If a value of the data is outside the support of a distribution that depends on it.
pub(super) fn check<P: TensorTree, D: TensorTree>(eager: &Eager<P, D>) -> Result<()> {
    let observations = eager.observations();
    if observations == 0 {
        return Ok(());
    }
    let rows = spread::rows(eager.data().columns(), observations);
    let theta = eager.coordinates();
    // With gradients, which show whether a value depends on parameters.
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

/// The number of the leaf that has these values in `rows`.
fn leaf_of<D: TensorTree>(data: &Dataset<D>, rows: &[usize], values: &[f64]) -> Option<usize> {
    data.columns().iter().position(|column| {
        let own = column.take(Rows::list(rows));
        own.numbers().len() == values.len() && own.numbers().zip(values).all(|(a, b)| a.total_cmp(b).is_eq())
    })
}

/// Looks through a leaf.
fn check_leaf<P: TensorTree, D: TensorTree>(eager: &Eager<P, D>, leaf: usize, value: &Observed) -> Result<()> {
    let column = &eager.data().columns()[leaf];
    let outside = column.numbers().enumerate().filter(|(_, number)| !value.support.holds(*number));
    for (index, number) in outside.take(EXAMINED) {
        if matters(eager, leaf, index) {
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

/// Whether the log-likelihood of a row depends on element `index` of a leaf: it is no finite number, or has a slope there. Closures may
/// mask values that stand for missing ones.
fn matters<P: TensorTree, D: TensorTree>(eager: &Eager<P, D>, leaf: usize, index: usize) -> bool {
    let width = eager.data().columns()[leaf].width();
    // Not at the start, where parameters that are zero hide what they multiply.
    let theta: Vec<f64> = eager.coordinates().iter().map(|x| x + 0.1).collect();
    match eager.slopes(&theta, index / width) {
        Ok((value, slopes)) => {
            let slope = slopes.get(leaf).and_then(|slopes| slopes.get(index % width)).copied().unwrap_or_default();
            !value.is_finite() || slope.is_nan() || slope.abs() > 0.0
        }
        Err(_) => true,
    }
}

/// Calls the closure on all rows, for values that are computed from data.
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
