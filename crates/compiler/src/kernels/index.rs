//! Rows and elements at indices that are data.
//!
//! An index is a number of a data table. The functions give `false`, and leave the rest undone, at one that is outside.

use super::element::{Element, Number};

/// `out[j · lanes + lane]` = `source[index[lane] · inner + j]`: rows of `inner` numbers, as a structure of arrays.
#[must_use]
pub(crate) fn select_lanes<S: Number, T: Element>(source: &[S], inner: usize, index: &[f64], out: &mut [T]) -> bool {
    assert_eq!(out.len(), inner * index.len());
    let lanes = index.len();
    for (lane, index) in index.iter().enumerate() {
        let Some(row) = row(source.len(), inner, *index) else { return false };
        for (j, x) in source[row].iter().enumerate() {
            out[j * lanes + lane] = x.element();
        }
    }
    true
}

/// `acc[index[lane] · inner + j]` += scale · `values[j · lanes + lane]`: the adjoint of [`select_lanes`].
#[must_use]
pub(crate) fn scatter_lanes<T: Element, A: Element>(
    values: &[T],
    inner: usize,
    index: &[f64],
    scale: f64,
    acc: &mut [A],
) -> bool {
    assert_eq!(values.len(), inner * index.len());
    let lanes = index.len();
    for (lane, index) in index.iter().enumerate() {
        let Some(row) = row(acc.len(), inner, *index) else { return false };
        for (j, acc) in acc[row].iter_mut().enumerate() {
            *acc += A::from_f64(scale * values[j * lanes + lane].to_f64());
        }
    }
    true
}

/// `out[lane]` = `source[index[lane] · lanes + lane]`: of each lane, one element.
#[must_use]
pub(crate) fn pick_lanes<T: Element>(source: &[T], index: &[f64], out: &mut [T]) -> bool {
    assert_eq!(out.len(), index.len());
    let lanes = index.len();
    for (lane, (index, out)) in index.iter().zip(out).enumerate() {
        let Some(start) = row(source.len(), lanes, *index) else { return false };
        *out = source[start.start + lane];
    }
    true
}

/// `acc[index[lane] · lanes + lane]` += `values[lane]`: the adjoint of [`pick_lanes`].
#[must_use]
pub(crate) fn place_lanes<T: Element>(values: &[T], index: &[f64], acc: &mut [T]) -> bool {
    assert_eq!(values.len(), index.len());
    let lanes = index.len();
    for (lane, (index, value)) in index.iter().zip(values).enumerate() {
        let Some(start) = row(acc.len(), lanes, *index) else { return false };
        acc[start.start + lane] += *value;
    }
    true
}

/// Where row `index` of `inner` numbers is, if it is among the first `length`.
#[inline]
fn row(length: usize, inner: usize, index: f64) -> Option<std::ops::Range<usize>> {
    // Also false of NaN. −0.5 and the like are below zero, not the first row.
    if !(index >= 0.0) {
        return None;
    }
    let start = (index as usize).checked_mul(inner)?;
    let end = start.checked_add(inner)?;
    (end <= length).then_some(start..end)
}
