//! The Rosenblatt transform of a normal law: draws of N(μ, Σ) become independent uniform numbers.
//!
//! u_j = F(x_j | x_1, …, x_{j−1}) = Φ((L⁻¹(x − μ))_j) with Σ = L Lᵀ (Rosenblatt 1952). The distance of the thesis's synthetic experiments is the mean over j of the
//! Kolmogorov-Smirnov distances of u_j from the uniform law (Baker 2018, appendix B.5).

use super::kolmogorov::ks_one_sample;
use crate::error::{self, Error};
use crate::linear::cholesky;
use crate::{lanes, normal};

/// The transform of `draws` (row by row) with the law's `mean` and `covariance` (row by row).
pub fn rosenblatt(draws: &[f64], mean: &[f64], covariance: &[f64]) -> Result<Vec<f64>, Error> {
    let d = mean.len();
    error::rows("draws", draws, d)?;
    if covariance.len() != d * d {
        let per = "pair of parameters";
        return Err(Error::Length { what: "the covariance", found: covariance.len(), expected: d * d, per });
    }
    let factor = cholesky(covariance, d)?;
    let mut uniform = Vec::with_capacity(draws.len());
    for row in draws.chunks_exact(d) {
        let mut standard: Vec<f64> = Vec::with_capacity(d);
        for j in 0..d {
            let known = lanes::dot(&factor[j * d..j * d + j], &standard);
            standard.push((row[j] - mean[j] - known) / factor[j * d + j]);
        }
        uniform.extend(standard.into_iter().map(normal::distribution));
    }
    Ok(uniform)
}

/// The mean over the parameters of the Kolmogorov-Smirnov distances of the transformed draws from the uniform law.
pub fn rosenblatt_ks(draws: &[f64], mean: &[f64], covariance: &[f64]) -> Result<f64, Error> {
    let d = mean.len();
    let uniform = rosenblatt(draws, mean, covariance)?;
    let distance = |j: usize| {
        let column: Vec<f64> = uniform.iter().skip(j).step_by(d).copied().collect();
        ks_one_sample(&column, |u| u.clamp(0.0, 1.0)).statistic
    };
    Ok((0..d).map(distance).sum::<f64>() / d as f64)
}
