//! Test models with known gradients and laws, for the integration tests of `sgmcmc`.
//!
//! Most of the [`models`] exist in two forms: as closures over Burn tensors, and as an
//! [`AnalyticModel`](sgmcmc::gradient::AnalyticModel) with a hand-written gradient.

pub mod closures;
pub mod differences;
pub mod laws;
pub mod linear;
pub mod models;
pub mod sequences;

use rand::SeedableRng;
use sgmcmc::rng::StreamRng;

/// Returns the random number generator that tests use to simulate data.
pub fn rng(seed: u64) -> StreamRng {
    StreamRng::seed_from_u64(seed)
}

/// Returns the largest difference between two vectors, relative to the largest entry of the second.
///
/// # Panics
///
/// Panics if the lengths differ.
pub fn relative_error(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "vectors of different length");
    let scale = b.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let largest = a.iter().zip(b).fold(0.0_f64, |largest, (a, b)| {
        let difference = (a - b).abs();
        if difference.is_nan() { f64::INFINITY } else { largest.max(difference) }
    });
    largest / scale.max(f64::MIN_POSITIVE)
}
