//! Random pairs and small dense products for the tests.

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::vector::dot;

/// Returns `count` standard normal numbers.
pub(crate) fn normals(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..count).map(|_| rng.sample(StandardNormal)).collect()
}

/// Returns a well-conditioned random positive definite matrix in row-major order.
pub(crate) fn positive_definite(dim: usize, seed: u64) -> Vec<f64> {
    let a = normals(dim * dim, seed);
    let entry = |i: usize, j: usize| dot(&a[i * dim..(i + 1) * dim], &a[j * dim..(j + 1) * dim]) / dim as f64;
    (0..dim * dim).map(|k| entry(k / dim, k % dim) + f64::from(u8::from(k / dim == k % dim))).collect()
}

/// Returns `count` pairs (s, y) with y = A s, where A is positive definite and different for each pair, as with
/// minibatch gradients.
pub(crate) fn pairs(dim: usize, count: usize, seed: u64) -> Vec<(Vec<f64>, Vec<f64>)> {
    (0..count as u64)
        .map(|k| {
            let (s, a) = (normals(dim, seed + 100 * k), positive_definite(dim, seed + 100 * k + 50));
            let y = product(&a, &s);
            (s, y)
        })
        .collect()
}

/// Returns A v.
pub(crate) fn product(a: &[f64], v: &[f64]) -> Vec<f64> {
    a.chunks_exact(v.len()).map(|row| dot(row, v)).collect()
}

/// Returns the matrix of a linear map.
pub(crate) fn matrix_of(dim: usize, mut map: impl FnMut(&mut [f64])) -> Vec<f64> {
    let mut matrix = vec![0.0; dim * dim];
    for j in 0..dim {
        let mut column = vec![0.0; dim];
        column[j] = 1.0;
        map(&mut column);
        (0..dim).for_each(|i| matrix[i * dim + j] = column[i]);
    }
    matrix
}

/// Returns the largest difference of two vectors, relative to the largest entry of the second.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    let scale = b.iter().fold(f64::MIN_POSITIVE, |largest, b| largest.max(b.abs()));
    a.iter().zip(b).fold(0.0_f64, |largest, (a, b)| largest.max((a - b).abs())) / scale
}
