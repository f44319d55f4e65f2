//! Simulated normal numbers.

use rand::{RngExt, SeedableRng, rngs::StdRng};
use rand_distr::StandardNormal;

/// Returns `n` standard normal numbers, a function of the seed.
pub(super) fn normals(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..n).map(|_| rng.sample(StandardNormal)).collect()
}
