//! Movement, indexing and matrix products of the values of one observation.

use crate::error::{Error, Result};
use crate::graph::{AxisSlice, strides};

/// The values and dimensions of an array of one observation.
#[derive(Clone, Copy)]
pub(super) struct Array<'a> {
    pub(super) values: &'a [f64],
    pub(super) dims: &'a [usize],
}

/// Returns the memory offsets of the elements of `dims` with these strides.
fn offsets(dims: &[usize], steps: &[isize], base: usize) -> impl Iterator<Item = usize> {
    let inner = strides(dims);
    (0..dims.iter().product::<usize>()).map(move |i| {
        let moved: isize = (0..dims.len()).map(|axis| (i / inner[axis] % dims[axis]) as isize * steps[axis]).sum();
        base.wrapping_add_signed(moved)
    })
}

pub(super) fn broadcast_offsets(from: &[usize], to: &[usize]) -> impl Iterator<Item = usize> {
    if from == to {
        return (0..to.iter().product()).collect::<Vec<_>>().into_iter();
    }
    let inner = strides(from);
    let added = to.len() - from.len();
    let steps: Vec<isize> = (0..to.len())
        .map(|axis| match axis.checked_sub(added) {
            Some(axis) if from[axis] != 1 => inner[axis] as isize,
            _ => 0,
        })
        .collect();
    offsets(to, &steps, 0).collect::<Vec<_>>().into_iter()
}

pub(super) fn slice_offsets(slices: &[AxisSlice], from: &[usize]) -> impl Iterator<Item = usize> {
    let inner = strides(from);
    let dims: Vec<usize> = slices.iter().map(|slice| slice.length).collect();
    let steps: Vec<isize> = slices.iter().zip(&inner).map(|(slice, inner)| slice.step * *inner as isize).collect();
    let base = slices.iter().zip(&inner).map(|(slice, inner)| slice.start * inner).sum();
    offsets(&dims, &steps, base).collect::<Vec<_>>().into_iter()
}

pub(super) fn permute(x: &[f64], from: &[usize], axes: &[usize]) -> Vec<f64> {
    let inner = strides(from);
    let dims: Vec<usize> = axes.iter().map(|axis| from[*axis]).collect();
    let steps: Vec<isize> = axes.iter().map(|axis| inner[*axis] as isize).collect();
    offsets(&dims, &steps, 0).map(|offset| x[offset]).collect()
}

pub(super) fn cat(parts: &[Array<'_>], axis: usize) -> Vec<f64> {
    let outer: usize = parts[0].dims[..axis].iter().product();
    let block = |dims: &[usize]| dims[axis..].iter().product::<usize>();
    (0..outer)
        .flat_map(|i| parts.iter().flat_map(move |part| &part.values[i * block(part.dims)..(i + 1) * block(part.dims)]))
        .copied()
        .collect()
}

/// Applies `f` to each line along `axis`. All results must have the same length.
pub(super) fn map_axis(x: &[f64], dims: &[usize], axis: usize, f: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let (outer, length, inner) = split(dims, axis);
    let line = |i: usize, j: usize| -> Vec<f64> { (0..length).map(|k| x[(i * length + k) * inner + j]).collect() };
    let results: Vec<Vec<f64>> = (0..outer * inner).map(|ij| f(&line(ij / inner, ij % inner))).collect();
    let Some(kept) = results.first().map(Vec::len) else { return vec![] };
    let mut values = vec![0.0; outer * kept * inner];
    for (ij, result) in results.iter().enumerate() {
        for (k, value) in result.iter().enumerate() {
            values[(ij / inner * kept + k) * inner + ij % inner] = *value;
        }
    }
    values
}

pub(super) fn matmul(a: Array<'_>, b: Array<'_>, dims: &[usize]) -> Vec<f64> {
    let (rank, left, right) = (dims.len(), a.dims.len(), b.dims.len());
    let (m, n, k) = (dims[rank - 2], dims[rank - 1], a.dims[left - 1]);
    let lefts = broadcast_offsets(&a.dims[..left - 2], &dims[..rank - 2]);
    let rights = broadcast_offsets(&b.dims[..right - 2], &dims[..rank - 2]);
    let mut values = Vec::new();
    for (i, j) in lefts.zip(rights) {
        let (a, b) = (&a.values[i * m * k..], &b.values[j * k * n..]);
        for at in 0..m * n {
            values.push((0..k).map(|l| a[at / n * k + l] * b[l * n + at % n]).sum());
        }
    }
    values
}

pub(super) fn select(source: Array<'_>, index: &[f64], axis: usize) -> Result<Vec<f64>> {
    let (outer, length, inner) = split(source.dims, axis);
    let mut values = Vec::new();
    for i in 0..outer {
        for at in index {
            let start = (i * length + checked_index(*at, length)?) * inner;
            values.extend(&source.values[start..start + inner]);
        }
    }
    Ok(values)
}

/// Sums the values at their indices. `index` has rank `index_rank`.
pub(super) fn select_adjoint(
    values: Array<'_>,
    index: &[f64],
    index_rank: usize,
    axis: usize,
    length: usize,
) -> Result<Vec<f64>> {
    let outer: usize = values.dims[..axis].iter().product();
    let inner: usize = values.dims[axis + index_rank..].iter().product();
    let mut sums = vec![0.0; outer * length * inner];
    let mut from = values.values.iter();
    for i in 0..outer {
        for at in index {
            let start = (i * length + checked_index(*at, length)?) * inner;
            sums[start..start + inner].iter_mut().zip(from.by_ref()).for_each(|(sum, value)| *sum += value);
        }
    }
    Ok(sums)
}

pub(super) fn gather(source: Array<'_>, index: Array<'_>, axis: usize) -> Result<Vec<f64>> {
    let (_, length, inner) = split(source.dims, axis);
    let count = index.dims[axis];
    let at = |(i, at): (usize, &f64)| {
        Ok(source.values[(i / inner / count * length + checked_index(*at, length)?) * inner + i % inner])
    };
    index.values.iter().enumerate().map(at).collect()
}

pub(super) fn gather_adjoint(values: &[f64], index: Array<'_>, axis: usize, length: usize) -> Result<Vec<f64>> {
    let (outer, count, inner) = split(index.dims, axis);
    let mut sums = vec![0.0; outer * length * inner];
    for (i, (value, at)) in values.iter().zip(index.values).enumerate() {
        sums[(i / inner / count * length + checked_index(*at, length)?) * inner + i % inner] += value;
    }
    Ok(sums)
}

fn split(dims: &[usize], axis: usize) -> (usize, usize, usize) {
    (dims[..axis].iter().product(), dims[axis], dims[axis + 1..].iter().product())
}

fn checked_index(index: f64, length: usize) -> Result<usize> {
    if index >= 0.0 && index < length as f64 {
        Ok(index as usize)
    } else {
        Err(Error::shape("an index", format!("{index} of an axis of length {length}")))
    }
}
