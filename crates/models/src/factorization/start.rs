//! Random starts.

use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

/// Returns `count` draws from N(0, sd²).
pub(super) fn normal_start<R: Rng + ?Sized>(count: usize, sd: f64, rng: &mut R) -> Vec<f64> {
    (0..count).map(|_| sd * rng.sample::<f64, _>(StandardNormal)).collect()
}
