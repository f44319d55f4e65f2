//! Helper functions of the tests of the kernels.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::element::Element;

/// Lengths at and next to multiples of the vector and block lengths.
pub(super) const LENGTHS: [usize; 10] = [0, 1, 3, 7, 8, 9, 31, 64, 100, 1000];

/// Returns random numbers between −3 and 3.
pub(super) fn numbers<T: Element>(seed: u64, length: usize) -> Vec<T> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..length).map(|_| T::from_f64(rng.random_range(-3.0..3.0))).collect()
}

/// Returns random indices below `end`.
pub(super) fn indices(seed: u64, length: usize, end: usize) -> Vec<usize> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..length).map(|_| rng.random_range(0..end)).collect()
}

/// Asserts that the numbers agree up to a few rounding errors of a sum whose terms have the total size `scale`.
pub(super) fn assert_close<T: Element>(found: &[T], expected: &[f64], scale: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let epsilon = if size_of::<T>() == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found.to_f64() - expected).abs();
        assert!(error <= 4.0 * epsilon * scale.max(1.0), "{what}: {found:?} for {expected} at {i}");
    }
}

/// Returns Σ x with compensated summation. In a plain sum of equal numbers, all rounding errors have the same sign.
pub(super) fn exact_sum(x: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for x in x {
        let next = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
    }
    sum + lost
}
