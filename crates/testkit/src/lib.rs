//! Models with known gradients and laws, for the tests of `sgmcmc`.
//!
//! Each of [`models`] is written twice: as closures over Burn tensors, and by hand as an
//! [`AnalyticModel`](sgmcmc::AnalyticModel) with its derived gradient.

pub mod closures;
pub mod differences;
pub mod laws;
pub mod linear;
pub mod models;

use rand::SeedableRng;
use sgmcmc::rng::StreamRng;

/// The generator tests simulate data with.
pub fn rng(seed: u64) -> StreamRng {
    StreamRng::seed_from_u64(seed)
}

/// The largest difference between two vectors, relative to the largest entry of the second.
pub fn relative_error(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "vectors of different length");
    let scale = b.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let largest = a.iter().zip(b).fold(0.0_f64, |largest, (a, b)| {
        let difference = (a - b).abs();
        if difference.is_nan() { f64::INFINITY } else { largest.max(difference) }
    });
    largest / scale.max(f64::MIN_POSITIVE)
}
