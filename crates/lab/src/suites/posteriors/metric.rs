//! Metrics M(θ) of SGRLD: the inverse expected information in the coordinates of the model.

use std::sync::Arc;

use sgmcmc::algorithms::Metric;
use sgmcmc::numerics::Cholesky;

use crate::Result;

/// Returns the inverse information of y ~ N(Xβ, σ²) in (β, log σ): σ² (XᵀX)⁻¹ and 1/(2N).
///
/// The block of β depends on σ only and the block of log σ is constant, so Γ is zero.
///
/// # Errors
///
/// Returns an error if the covariates are linearly dependent.
pub(super) fn regression<'a>(rows: impl ExactSizeIterator<Item = &'a [f64]>, width: usize) -> Result<Metric> {
    let n = rows.len() as f64;
    let mut gram = vec![0.0; width * width];
    for row in rows {
        gram.iter_mut().enumerate().for_each(|(k, sum)| *sum += row[k / width] * row[k % width]);
    }
    let mut inverse = vec![0.0; width * width];
    Cholesky::new(&gram, width)?.inverse(&mut inverse);
    let dim = width + 1;
    let metric = move |theta: &[f64], m: &mut [f64]| {
        let variance = (2.0 * theta[width]).exp();
        m.fill(0.0);
        for (row, m) in inverse.chunks_exact(width).zip(m.chunks_exact_mut(dim)) {
            m.iter_mut().zip(row).for_each(|(m, entry)| *m = variance * entry);
        }
        m[dim * dim - 1] = 0.5 / n;
    };
    Ok(Metric::dense(metric).with_gamma(|_, gamma| gamma.fill(0.0)))
}

/// Returns the inverse of Σⱼ vⱼ vⱼᵀ/σⱼ² plus the curvature of the prior in (μ, log τ, η), where vⱼ is the derivative of
/// μ + τ ηⱼ. The curvature of the prior of log τ, 4 r/(1 + r)² with r = (τ/5)², vanishes for small and large τ. One is
/// added to bound M.
pub(super) fn schools(errors: &[f64]) -> Metric {
    let errors: Arc<[f64]> = errors.into();
    let metric = move |theta: &[f64], m: &mut [f64]| {
        let dim = errors.len() + 2;
        let tau = theta[1].exp();
        let ratio = (tau / 5.0).powi(2);
        let mut information = vec![0.0; dim * dim];
        information[0] = 1.0 / 25.0;
        information[dim + 1] = 1.0 + 4.0 * ratio / (1.0 + ratio).powi(2);
        for (j, error) in errors.iter().enumerate() {
            let index = j + 2;
            information[index * dim + index] += 1.0;
            let slopes = [(0, 1.0), (1, tau * theta[index]), (index, tau)];
            for (row, a) in slopes {
                for (column, b) in slopes {
                    information[row * dim + column] += a * b / (error * error);
                }
            }
        }
        match Cholesky::new(&information, dim) {
            Ok(factor) => factor.inverse(m),
            // The sampler returns an error if the metric is not finite.
            Err(_) => m.fill(f64::NAN),
        }
    };
    Metric::dense(metric)
}
