//! Monte Carlo standard errors: the standard deviations of estimates over repeated runs.
//!
//! - mean: sd / √ESS(mean)
//! - sd: √(v/(4 s²)) with s² = mean (x − x̄)², v = (mean (x − x̄)⁴ − s⁴)/ESS(sd), by the delta method
//! - quantile at p: half the distance between the draws at the bounds of the 68 % interval of Beta(E p + 1, E (1 − p)
//!   + 1), E = ESS(quantile)
//!
//! (Vehtari et al. 2021, section 4.4, and ArviZ 1.x, `_mcse_mean`, `_mcse_sd`, `_mcse_quantile`.)

use statrs::function::beta::inv_beta_reg;

use crate::lanes;
use crate::sample::Sample;

/// Φ(−1) and Φ(1), rounded as in ArviZ.
const LOWER: f64 = 0.158_655_3;
const UPPER: f64 = 0.841_344_7;

/// Returns the Monte Carlo standard error of the mean, or NaN if the effective sample size is NaN.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::mcse_mean;
///
/// // The variance is 5/3, and the effective size of four draws is its bound S log10(S).
/// let expected = (5.0 / 3.0 / (4.0 * 4.0_f64.log10())).sqrt();
/// assert!((mcse_mean(&[[1.0, 2.0, 3.0, 4.0]]) - expected).abs() < 1e-12);
/// ```
pub fn mcse_mean<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    Sample::new(chains).mcse_mean()
}

/// Returns the Monte Carlo standard error of the standard deviation.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::mcse_sd;
///
/// // The squared deviations have mean 1.25 and variance 1. The effective size of four draws is its bound S log10(S).
/// let expected = (1.0 / (4.0 * 4.0_f64.log10()) / (4.0 * 1.25)).sqrt();
/// assert!((mcse_sd(&[[1.0, 2.0, 3.0, 4.0]]) - expected).abs() < 1e-12);
/// ```
pub fn mcse_sd<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    Sample::new(chains).mcse_sd()
}

/// Returns the Monte Carlo standard error of the quantile at `p`.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::mcse_quantile;
///
/// assert_eq!(mcse_quantile(&[[2.0; 10]], 0.5), 0.0);
/// ```
pub fn mcse_quantile<C: AsRef<[f64]>>(chains: &[C], p: f64) -> f64 {
    Sample::new(chains).mcse_quantile(p)
}

impl Sample {
    /// Returns the Monte Carlo standard error of the mean: see [`mcse_mean`].
    pub fn mcse_mean(&self) -> f64 {
        self.sd() / self.ess_mean().sqrt()
    }

    /// Returns the Monte Carlo standard error of the standard deviation: see [`mcse_sd`].
    pub fn mcse_sd(&self) -> f64 {
        self.mcse_sd_from_squares(&self.squared_deviations())
    }

    /// Returns the Monte Carlo standard error of the standard deviation from the squared deviations (x − x̄)².
    pub(crate) fn mcse_sd_from_squares(&self, squares: &[f64]) -> f64 {
        if !self.is_valid(1) {
            return f64::NAN;
        }
        let variance = self.average(squares);
        let fourth = match &self.weights {
            None => lanes::dot(squares, squares) / squares.len() as f64,
            Some(_) => self.average(&squares.iter().map(|square| square * square).collect::<Vec<f64>>()),
        };
        let spread = (fourth - variance * variance) / self.effective_size(squares);
        (spread / variance / 4.0).sqrt()
    }

    /// Returns the Monte Carlo standard error of the quantile at `p`: see [`mcse_quantile`].
    pub fn mcse_quantile(&self, p: f64) -> f64 {
        let size = self.ess_quantile(p);
        if size.is_nan() || !(0.0..=1.0).contains(&p) {
            return f64::NAN;
        }
        let (a, b) = (size * p + 1.0, size * (1.0 - p) + 1.0);
        let (low, high) = (inv_beta_reg(a, b, LOWER), inv_beta_reg(a, b, UPPER));
        let last = self.draws.len() - 1;
        let n = self.draws.len() as f64;
        let (first, second) = match &self.weights {
            None => ((low * n - 1.0).max(0.0).floor() as usize, (high * n - 1.0).ceil() as usize),
            // With weights: the last draw whose cumulative share is at most `low`, and the first whose share is at
            // least `high`.
            Some(weights) => {
                let total = lanes::sum(weights);
                let mut up_to = 0.0;
                let shares: Vec<f64> = self
                    .order()
                    .iter()
                    .map(|(_, index)| {
                        up_to += weights[*index as usize];
                        up_to / total
                    })
                    .collect();
                let first = shares.partition_point(|share| *share <= low).saturating_sub(1);
                (first, shares.partition_point(|share| *share < high))
            }
        };
        let sorted = self.sorted();
        (sorted.draw(second.min(last)) - sorted.draw(first.min(last))) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::autoregression;

    #[test]
    fn independent_draws_have_the_known_errors() {
        let draws = autoregression(0.0, 40_000, 3);
        let n = draws.len() as f64;
        // Uniform of width 1: sd 1/√12, kurtosis 1.8, density 1.
        let near = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 0.1, "{found} {expected}");
        near(mcse_mean(&[&draws]), (1.0 / 12.0 / n).sqrt());
        near(mcse_sd(&[&draws]), ((1.8 - 1.0) / 4.0 / 12.0 / n).sqrt());
        near(mcse_quantile(&[&draws], 0.3), (0.3 * 0.7 / n).sqrt());
    }
}
