//! Small dense matrices of tuning, in row-major order.

use sgmcmc_gradient::{Error, Result};
use sgmcmc_numerics::SymmetricEigen;

/// Returns the inverse of `hessian`. Eigenvalues of the Hessian, scaled to a unit diagonal, that are below 10⁻⁶ of the
/// largest are raised to that value.
pub(super) fn regularized_inverse(hessian: &[f64], d: usize) -> Result<Vec<f64>> {
    let largest = (0..d).map(|j| hessian[j * (d + 1)].abs()).fold(0.0, f64::max);
    if !hessian.iter().all(|entry| entry.is_finite()) || largest <= 0.0 {
        return Err(no_curvature());
    }
    let scales: Vec<f64> = (0..d).map(|j| hessian[j * (d + 1)].abs().max(1e-12 * largest).sqrt()).collect();
    let scaled: Vec<f64> = (0..d * d).map(|k| hessian[k] / (scales[k / d] * scales[k % d])).collect();
    let eigen = SymmetricEigen::new(&scaled, d);
    let least = 1e-6 * eigen.largest().max(f64::MIN_POSITIVE);
    let mut inverse = eigen.map(|value| 1.0 / value.max(least));
    (0..d * d).for_each(|k| inverse[k] /= scales[k / d] * scales[k % d]);
    symmetrize(&mut inverse, d);
    Ok(inverse)
}

/// Replaces a square matrix of `d` rows by the mean of it and its transpose.
pub(super) fn symmetrize(matrix: &mut [f64], d: usize) {
    for i in 0..d {
        for j in 0..i {
            let mean = 0.5 * (matrix[i * d + j] + matrix[j * d + i]);
            matrix[i * d + j] = mean;
            matrix[j * d + i] = mean;
        }
    }
}

/// Returns `scale` times the identity matrix of `d` rows.
pub(super) fn scaled_identity(scale: f64, d: usize) -> Vec<f64> {
    (0..d * d).map(|k| if k / d == k % d { scale } else { 0.0 }).collect()
}

/// Copies the lower triangle of a square matrix of `d` rows to the upper one.
pub(super) fn mirror_lower(matrix: &mut [f64], d: usize) {
    for i in 0..d {
        for j in 0..i {
            matrix[j * d + i] = matrix[i * d + j];
        }
    }
}

/// Returns the error of a posterior without curvature.
pub(super) fn no_curvature() -> Error {
    let expected = "the posterior must have a maximum: check the prior, and start closer to the mode";
    Error::Setting { name: "the curvature at the mode", value: "zero or not finite".into(), expected }
}
