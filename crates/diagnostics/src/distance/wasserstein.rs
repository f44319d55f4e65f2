//! Wasserstein distances in one dimension, and sliced distances in more dimensions.

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use crate::error::{self, Error};
use crate::order::order;

/// Returns the Wasserstein distance W_p between two samples of numbers, or NaN if a sample is empty or has a NaN.
///
/// W_p^p = ∫₀¹ |F⁻¹(u) − G⁻¹(u)|^p du. The integral is exact, because both quantile functions are step functions.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::distance::wasserstein;
///
/// assert_eq!(wasserstein(&[0.0, 1.0], &[3.0, 2.0], 1.0), 2.0);
/// ```
pub fn wasserstein(one: &[f64], other: &[f64], p: f64) -> f64 {
    power(one, other, p).powf(p.recip())
}

/// Returns W_p^p.
fn power(one: &[f64], other: &[f64], p: f64) -> f64 {
    let (n, m) = (one.len(), other.len());
    if n == 0 || m == 0 || one.iter().chain(other).any(|x| x.is_nan()) {
        return f64::NAN;
    }
    let (one, other) = (order(one), order(other));
    let (mut i, mut j, mut position, mut sum) = (0, 0, 0_u128, 0.0);
    // Steps end at multiples of 1/n and 1/m. In units of 1/(n m) these are whole numbers.
    while i < n && j < m {
        let (first, second) = ((i as u128 + 1) * m as u128, (j as u128 + 1) * n as u128);
        let next = first.min(second);
        sum += (next - position) as f64 * (one[i].0 - other[j].0).abs().powf(p);
        i += usize::from(first == next);
        j += usize::from(second == next);
        position = next;
    }
    sum / (n as f64 * m as f64)
}

/// Returns the sliced Wasserstein distance between two samples.
///
/// The samples are row-major tables with rows of `dimension` numbers. W_p^p is averaged over projections on
/// `directions` random directions (Bonneel, Rabin, Peyré & Pfister 2015).
///
/// # Errors
///
/// Returns an error if a sample is empty or not made of rows of finite numbers, if `p` is below 1 or not finite, or if
/// `directions` is 0.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::distance::sliced_wasserstein;
///
/// // In one dimension every direction gives the distance itself.
/// let distance = sliced_wasserstein(&[0.0, 1.0], &[2.0, 3.0], 1, 1.0, 10, 7).unwrap();
/// assert!((distance - 2.0).abs() < 1e-12);
/// ```
pub fn sliced_wasserstein(
    one: &[f64],
    other: &[f64],
    dimension: usize,
    p: f64,
    directions: usize,
    seed: u64,
) -> Result<f64, Error> {
    let n = error::rows("the sample", one, dimension)?;
    let m = error::rows("the other sample", other, dimension)?;
    if n == 0 || m == 0 {
        return Err(Error::TooFew { what: "a sample", found: 0, least: 1 });
    }
    if !(p.is_finite() && p >= 1.0) {
        return Err(Error::Setting { what: "p", found: p, expected: "a number of at least 1" });
    }
    if directions == 0 {
        return Err(Error::Setting { what: "the number of directions", found: 0.0, expected: "at least 1" });
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let drawn: Vec<Vec<f64>> = (0..directions)
        .map(|_| {
            let normal: Vec<f64> = (0..dimension).map(|_| rng.sample(StandardNormal)).collect();
            let length = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
            normal.into_iter().map(|x| x / length).collect()
        })
        .collect();
    let slice = |direction: &Vec<f64>| {
        let project = |table: &[f64]| -> Vec<f64> {
            let rows = table.chunks_exact(dimension);
            rows.map(|row| row.iter().zip(direction).map(|(x, along)| x * along).sum()).collect()
        };
        power(&project(one), &project(other), p)
    };
    let powers: Vec<f64> = drawn.par_iter().map(slice).collect();
    Ok((powers.iter().sum::<f64>() / directions as f64).powf(p.recip()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::autoregression;

    #[test]
    fn a_shift_has_its_length_as_distance() {
        let draws = autoregression(0.0, 300, 1);
        let moved: Vec<f64> = draws.iter().rev().map(|x| x + 0.25).collect();
        assert!((wasserstein(&draws, &moved, 1.0) - 0.25).abs() < 1e-13);
        assert!((wasserstein(&draws, &moved, 2.0) - 0.25).abs() < 1e-13);
        assert!((wasserstein(&[0.0, 1.0], &[0.0, 1.0, 4.0], 1.0) - (1.0 / 6.0 + 1.0)).abs() < 1e-13);
        assert!(wasserstein(&[], &[1.0], 1.0).is_nan());
    }

    #[test]
    fn slices_of_a_shift_average_its_projections() {
        // The mean of (direction · shift)² over the sphere is |shift|²/d.
        let draws = autoregression(0.0, 600, 2);
        let moved: Vec<f64> = draws.iter().enumerate().map(|(i, x)| x + if i % 2 == 0 { 3.0 } else { 4.0 }).collect();
        let found = sliced_wasserstein(&draws, &moved, 2, 2.0, 2000, 1).unwrap();
        assert!((found - 12.5_f64.sqrt()).abs() < 0.1, "{found}");
        assert!(sliced_wasserstein(&draws, &draws, 2, 2.0, 10, 1).unwrap() < 1e-12);
        assert!(sliced_wasserstein(&draws, &draws, 2, 0.5, 10, 1).is_err());
    }
}
