//! The Rosenblatt transform of a normal distribution.

use sgmcmc_numerics::Cholesky;

use super::kolmogorov::ks_one_sample;
use crate::error::{self, Error};
use crate::normal;

/// Returns the Rosenblatt transform of `draws`, which turns draws of N(μ, Σ) into independent uniform numbers.
///
/// u_j = F(x_j | x_1, …, x_{j−1}) = Φ((L⁻¹(x − μ))_j) with Σ = L Lᵀ (Rosenblatt 1952). `draws` and `covariance` are in
/// row-major order.
///
/// # Errors
///
/// Returns an error if slices have inconsistent lengths, if a draw is not finite, or if the covariance is not positive
/// definite.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::distance::rosenblatt;
///
/// // Φ(0) and Φ(1).
/// let uniform = rosenblatt(&[0.0, 1.0], &[0.0], &[1.0]).unwrap();
/// assert!((uniform[0] - 0.5).abs() < 1e-9 && (uniform[1] - 0.841344746).abs() < 1e-9);
/// ```
pub fn rosenblatt(draws: &[f64], mean: &[f64], covariance: &[f64]) -> Result<Vec<f64>, Error> {
    let d = mean.len();
    error::rows("draws", draws, d)?;
    if covariance.len() != d * d {
        let per = "pair of parameters";
        return Err(Error::Length { what: "the covariance", found: covariance.len(), expected: d * d, per });
    }
    let factor = Cholesky::new(covariance, d)?;
    let mut uniform = Vec::with_capacity(draws.len());
    for row in draws.chunks_exact(d) {
        let mut standard: Vec<f64> = row.iter().zip(mean).map(|(x, mean)| x - mean).collect();
        factor.solve_lower(&mut standard);
        uniform.extend(standard.into_iter().map(normal::distribution));
    }
    Ok(uniform)
}

/// Returns the mean over the parameters of the Kolmogorov-Smirnov distances between the transformed draws and the
/// uniform distribution (Baker 2018, appendix B.5).
///
/// # Errors
///
/// Returns an error under the conditions of [`rosenblatt`].
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::distance::rosenblatt_ks;
///
/// // One draw at the median: the distance is 1/2.
/// assert!((rosenblatt_ks(&[0.0], &[0.0], &[1.0]).unwrap() - 0.5).abs() < 1e-9);
/// ```
pub fn rosenblatt_ks(draws: &[f64], mean: &[f64], covariance: &[f64]) -> Result<f64, Error> {
    let d = mean.len();
    let uniform = rosenblatt(draws, mean, covariance)?;
    let distance = |j: usize| {
        let column: Vec<f64> = uniform.iter().skip(j).step_by(d).copied().collect();
        ks_one_sample(&column, |u| u.clamp(0.0, 1.0)).statistic
    };
    Ok((0..d).map(distance).sum::<f64>() / d as f64)
}
