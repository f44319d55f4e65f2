//! Cholesky factors and triangular systems, by their definitions.

use super::movement::{Array, broadcast_offsets};

/// Applies `f` to the pairs of matrices of the last two axes of `a` and `b`. `dims` are the dimensions of the result,
/// whose leading axes are those that the others are broadcast to.
pub(super) fn pairs(a: Array<'_>, b: Array<'_>, dims: &[usize], f: impl Fn(&[f64], &[f64]) -> Vec<f64>) -> Vec<f64> {
    let outer = &dims[..dims.len() - 2];
    matrices(a, outer).zip(matrices(b, outer)).flat_map(|(a, b)| f(a, b)).collect()
}

/// Returns the matrices of the last two axes, with the other axes broadcast to `outer`.
fn matrices<'a>(array: Array<'a>, outer: &[usize]) -> impl Iterator<Item = &'a [f64]> {
    let (own, matrix) = array.dims.split_at(array.dims.len() - 2);
    let size: usize = matrix.iter().product();
    broadcast_offsets(own, outer).map(move |at| &array.values[at * size..(at + 1) * size])
}

/// Returns the Cholesky factor, or NaN if the matrix is not positive definite.
pub(super) fn cholesky(a: &[f64]) -> Vec<f64> {
    let n = a.len().isqrt();
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let rest = a[i * n + j] - (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum::<f64>();
            l[i * n + j] = if i == j { rest.sqrt() } else { rest / l[j * n + j] };
        }
        let pivot = l[i * n + i].powi(2);
        if pivot.is_nan() || pivot <= f64::EPSILON * a[i * n + i].abs() {
            return vec![f64::NAN; n * n];
        }
    }
    l
}

/// Returns the adjoint of a matrix from its factor L and the adjoint G of the factor. The adjoint of the symmetric
/// matrix is L⁻ᵀ Φ(Lᵀ G) L⁻¹, where Φ keeps the lower triangle and halves the diagonal.
pub(super) fn cholesky_adjoint(l: &[f64], g: &[f64]) -> Vec<f64> {
    let n = l.len().isqrt();
    let phi: Vec<f64> = (0..n * n)
        .map(|at| match (at / n, at % n) {
            (i, j) if i < j => 0.0,
            (i, j) => (i..n).map(|k| l[k * n + i] * g[k * n + j]).sum::<f64>() * if i == j { 0.5 } else { 1.0 },
        })
        .collect();
    let transpose = |m: &[f64]| -> Vec<f64> { (0..n * n).map(|at| m[at % n * n + at / n]).collect() };
    let half = solve_lower(l, &phi, true);
    let whole = transpose(&solve_lower(l, &transpose(&half), true));
    (0..n * n)
        .map(|at| match (at / n, at % n) {
            (i, j) if i < j => 0.0,
            (i, j) if i == j => whole[at],
            (i, j) => whole[at] + whole[j * n + i],
        })
        .collect()
}

/// Returns X with L X = B or Lᵀ X = B, where L is the lower triangle of `l`.
pub(super) fn solve_lower(l: &[f64], b: &[f64], transposed: bool) -> Vec<f64> {
    let n = l.len().isqrt();
    let columns = b.len() / n.max(1);
    let entry = |i: usize, j: usize| if transposed { l[j * n + i] } else { l[i * n + j] };
    let mut x = b.to_vec();
    for column in 0..columns {
        for step in 0..n {
            let i = if transposed { n - 1 - step } else { step };
            let solved = if transposed { i + 1..n } else { 0..i };
            let sum: f64 = solved.map(|j| entry(i, j) * x[j * columns + column]).sum();
            x[i * columns + column] = (x[i * columns + column] - sum) / entry(i, i);
        }
    }
    x
}
