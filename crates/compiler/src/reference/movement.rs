//! Movement, indexing and products of one observation's values.

use crate::error::{Error, Result};
use crate::graph::{Stretch, strides};

/// Where the elements of `dims` are in memory with these steps between neighbours.
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

pub(super) fn slice_offsets(stretches: &[Stretch], from: &[usize]) -> impl Iterator<Item = usize> {
    let inner = strides(from);
    let dims: Vec<usize> = stretches.iter().map(|stretch| stretch.length).collect();
    let steps: Vec<isize> =
        stretches.iter().zip(&inner).map(|(stretch, inner)| stretch.step * *inner as isize).collect();
    let base = stretches.iter().zip(&inner).map(|(stretch, inner)| stretch.start * inner).sum();
    offsets(&dims, &steps, base).collect::<Vec<_>>().into_iter()
}

pub(super) fn permute(x: &[f64], from: &[usize], axes: &[usize]) -> Vec<f64> {
    let inner = strides(from);
    let dims: Vec<usize> = axes.iter().map(|axis| from[*axis]).collect();
    let steps: Vec<isize> = axes.iter().map(|axis| inner[*axis] as isize).collect();
    offsets(&dims, &steps, 0).map(|offset| x[offset]).collect()
}

pub(super) fn cat(parts: &[(&[f64], &[usize])], axis: usize) -> Vec<f64> {
    let outer: usize = parts[0].1[..axis].iter().product();
    let block = |dims: &[usize]| dims[axis..].iter().product::<usize>();
    (0..outer)
        .flat_map(|i| parts.iter().flat_map(move |(x, dims)| &x[i * block(dims)..(i + 1) * block(dims)]))
        .copied()
        .collect()
}

/// `f` of each line along `axis`; all results have the same length.
pub(super) fn lines(x: &[f64], dims: &[usize], axis: usize, f: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
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

pub(super) fn matmul(a: (&[f64], &[usize]), b: (&[f64], &[usize]), dims: &[usize]) -> Vec<f64> {
    let (rank, left, right) = (dims.len(), a.1.len(), b.1.len());
    let (m, n, k) = (dims[rank - 2], dims[rank - 1], a.1[left - 1]);
    let lefts = broadcast_offsets(&a.1[..left - 2], &dims[..rank - 2]);
    let rights = broadcast_offsets(&b.1[..right - 2], &dims[..rank - 2]);
    let mut values = Vec::new();
    for (i, j) in lefts.zip(rights) {
        let (a, b) = (&a.0[i * m * k..], &b.0[j * k * n..]);
        for at in 0..m * n {
            values.push((0..k).map(|l| a[at / n * k + l] * b[l * n + at % n]).sum());
        }
    }
    values
}

pub(super) fn select(source: (&[f64], &[usize]), index: &[f64], axis: usize) -> Result<Vec<f64>> {
    let (outer, length, inner) = split(source.1, axis);
    let mut values = Vec::new();
    for i in 0..outer {
        for at in index {
            let start = (i * length + place(*at, length)?) * inner;
            values.extend(&source.0[start..start + inner]);
        }
    }
    Ok(values)
}

/// `index` is its values and its rank.
pub(super) fn select_adjoint(
    values: (&[f64], &[usize]),
    index: (&[f64], usize),
    axis: usize,
    length: usize,
) -> Result<Vec<f64>> {
    let outer: usize = values.1[..axis].iter().product();
    let inner: usize = values.1[axis + index.1..].iter().product();
    let mut sums = vec![0.0; outer * length * inner];
    let mut from = values.0.iter();
    for i in 0..outer {
        for at in index.0 {
            let start = (i * length + place(*at, length)?) * inner;
            sums[start..start + inner].iter_mut().zip(from.by_ref()).for_each(|(sum, value)| *sum += value);
        }
    }
    Ok(sums)
}

pub(super) fn gather(source: (&[f64], &[usize]), index: (&[f64], &[usize]), axis: usize) -> Result<Vec<f64>> {
    let (_, length, inner) = split(source.1, axis);
    let count = index.1[axis];
    let at =
        |(i, at): (usize, &f64)| Ok(source.0[(i / inner / count * length + place(*at, length)?) * inner + i % inner]);
    index.0.iter().enumerate().map(at).collect()
}

pub(super) fn gather_adjoint(
    values: &[f64],
    index: (&[f64], &[usize]),
    axis: usize,
    length: usize,
) -> Result<Vec<f64>> {
    let (outer, count, inner) = split(index.1, axis);
    let mut sums = vec![0.0; outer * length * inner];
    for (i, (value, at)) in values.iter().zip(index.0).enumerate() {
        sums[(i / inner / count * length + place(*at, length)?) * inner + i % inner] += value;
    }
    Ok(sums)
}

fn split(dims: &[usize], axis: usize) -> (usize, usize, usize) {
    (dims[..axis].iter().product(), dims[axis], dims[axis + 1..].iter().product())
}

fn place(index: f64, length: usize) -> Result<usize> {
    if index >= 0.0 && index < length as f64 {
        Ok(index as usize)
    } else {
        Err(Error::shape("an index", format!("{index} of an axis of length {length}")))
    }
}
