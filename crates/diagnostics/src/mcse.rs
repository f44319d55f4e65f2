//! Monte Carlo standard errors: how far an estimate would move from one run to another.
//!
//! - mean: sd / √ESS(mean)
//! - sd: √(v/(4 s²)) with s² = mean (x − x̄)², v = (mean (x − x̄)⁴ − s⁴)/ESS(sd), by the delta method
//! - quantile at p: half the distance between the draws at the ends of the 68 % interval of Beta(E p + 1, E (1 − p) + 1), E = ESS(quantile)
//!
//! (Vehtari et al. 2021, section 4.4, and ArviZ 1.x, `_mcse_mean`, `_mcse_sd`, `_mcse_quantile`.)

use statrs::function::beta::inv_beta_reg;

use crate::lanes;
use crate::sample::Sample;

/// Φ(∓1) as in ArviZ.
const LOWER: f64 = 0.158_655_3;
const UPPER: f64 = 0.841_344_7;

/// The Monte Carlo standard error of the mean; NaN where the effective sample size is.
pub fn mcse_mean<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    Sample::new(chains).mcse_mean()
}

/// The Monte Carlo standard error of the standard deviation.
pub fn mcse_sd<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    Sample::new(chains).mcse_sd()
}

/// The Monte Carlo standard error of the quantile at `p`.
pub fn mcse_quantile<C: AsRef<[f64]>>(chains: &[C], p: f64) -> f64 {
    Sample::new(chains).mcse_quantile(p)
}

impl Sample {
    /// The Monte Carlo standard error of the mean.
    pub fn mcse_mean(&self) -> f64 {
        self.sd() / self.ess_mean().sqrt()
    }

    /// The Monte Carlo standard error of the standard deviation.
    pub fn mcse_sd(&self) -> f64 {
        self.mcse_sd_of(&self.squared_deviations())
    }

    /// The same, when (x − x̄)² is known already.
    pub(crate) fn mcse_sd_of(&self, squares: &[f64]) -> f64 {
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

    /// The Monte Carlo standard error of the quantile at `p`.
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
            // The same, counted in weights: the last draw with at most the share `low` of them up to it, the first with at least `high`.
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
        let places = self.places();
        (places.draw(second.min(last)) - places.draw(first.min(last))) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::autoregression;

    #[test]
    fn independent_draws_have_the_textbook_errors() {
        let draws = autoregression(0.0, 40_000, 3);
        let n = draws.len() as f64;
        // Uniform of width 1: sd 1/√12, kurtosis 1.8, density 1.
        let near = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 0.1, "{found} {expected}");
        near(mcse_mean(&[&draws]), (1.0 / 12.0 / n).sqrt());
        near(mcse_sd(&[&draws]), ((1.8 - 1.0) / 4.0 / 12.0 / n).sqrt());
        near(mcse_quantile(&[&draws], 0.3), (0.3 * 0.7 / n).sqrt());
    }
}
