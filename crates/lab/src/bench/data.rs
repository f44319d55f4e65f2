//! Simulated data of the workloads, with the same distributions and sizes as in the comparison with other libraries.

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::rng::StreamRng;

const SEED: u64 = 1;

/// Returns a random number generator with a fixed seed.
pub(crate) fn generator() -> StreamRng {
    StreamRng::seed_from_u64(SEED)
}

/// Returns `n` standard normal numbers.
pub(crate) fn normals(n: usize, rng: &mut StreamRng) -> Vec<f32> {
    (0..n).map(|_| rng.sample(StandardNormal)).collect()
}

/// Returns `n` random non-negative integers below `end`.
pub(crate) fn integers(n: usize, end: i32, rng: &mut StreamRng) -> Vec<i32> {
    (0..n).map(|_| rng.random_range(0..end)).collect()
}

/// Returns covariates x ~ N(0, I), row-major, and responses y = 1{x₀ + ½ z > 0}.
pub(crate) fn logistic(n: usize, covariates: usize) -> (Vec<f32>, Vec<f32>) {
    let mut rng = generator();
    let x = normals(n * covariates, &mut rng);
    let noise = normals(n, &mut rng);
    let y = x.chunks_exact(covariates).zip(noise).map(|(row, z)| f32::from(u8::from(row[0] + 0.5 * z > 0.0)));
    let y = y.collect();
    (x, y)
}

/// Returns two-dimensional points around (0, 0) or (0.1, 0.1), row-major.
pub(crate) fn mixture(n: usize) -> Vec<f32> {
    let mut rng = generator();
    let mut x = normals(2 * n, &mut rng);
    for point in x.chunks_exact_mut(2) {
        let shift = if rng.random_bool(0.5) { 0.1 } else { 0.0 };
        point.iter_mut().for_each(|x| *x += shift);
    }
    x
}

/// Returns pixels uniform on [0, 1) and one-hot classes, both row-major.
pub(crate) fn images(n: usize, pixels: usize, classes: usize) -> (Vec<f32>, Vec<f32>) {
    let mut rng = generator();
    let x = (0..n * pixels).map(|_| rng.random()).collect();
    let mut y = vec![0.0; n * classes];
    y.chunks_exact_mut(classes).for_each(|row| row[rng.random_range(0..classes)] = 1.0);
    (x, y)
}
