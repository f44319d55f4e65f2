//! Effective sample sizes: how many independent draws would do as well, for one purpose or another.
//!
//! All are the size of a mean ([`geyer`](crate::geyer) has the formula), of half-chains and of another series each: the normal scores of the
//! ranks (bulk), the draws (mean), their squared deviations (sd), or the indicators of lying at or below a quantile (quantile); the tail's is
//! the smaller of the quantiles 0.11 and 0.89, as in ArviZ 1.x, whose intervals hold 89 %.

use crate::sample::Sample;
use crate::{geyer, indicator};

/// The interval's probability in ArviZ 1.x; the tails are beyond this quantile and its mirror image.
const TAIL: f64 = 0.89;

/// The effective sample size of the bulk of the distribution.
///
/// This and the others are NaN for fewer than four draws a chain and for NaN among the draws; draws that do not vary count in full.
pub fn ess_bulk<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    Sample::new(chains).ess_bulk()
}

/// The effective sample size of the tails.
pub fn ess_tail<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    Sample::new(chains).ess_tail()
}

/// The effective sample size for the mean.
pub fn ess_mean<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    Sample::new(chains).ess_mean()
}

/// The effective sample size for the standard deviation.
pub fn ess_sd<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    Sample::new(chains).ess_sd()
}

/// The effective sample size for the quantile at `p`.
pub fn ess_quantile<C: AsRef<[f64]>>(chains: &[C], p: f64) -> f64 {
    Sample::new(chains).ess_quantile(p)
}

/// How many independent draws would estimate the mean as well as this one chain does, without cutting it in halves.
///
/// Fewer than four draws, or draws that do not vary, give NaN. A missing weight counts as zero.
pub fn effective_sample_size(draws: &[f64], weights: &[f64]) -> f64 {
    let varies = draws.iter().any(|x| x.to_bits() != draws[0].to_bits());
    if draws.len() < 4 || !varies {
        return f64::NAN;
    }
    let weights: Vec<f64> = (0..draws.len()).map(|draw| weights.get(draw).copied().unwrap_or(0.0)).collect();
    let equal = weights.iter().all(|w| w.to_bits() == weights[0].to_bits());
    geyer::effective_size(&[draws], (!equal).then_some(&[&weights[..]]))
}

impl Sample {
    /// The effective sample size of the bulk.
    pub fn ess_bulk(&self) -> f64 {
        self.if_valid(|sample| sample.effective_size(&sample.bulk_scores()))
    }

    /// The effective sample size of the tails.
    pub fn ess_tail(&self) -> f64 {
        let (low, high) = (self.ess_quantile(1.0 - TAIL), self.ess_quantile(TAIL));
        if high < low { high } else { low }
    }

    /// The effective sample size for the mean.
    pub fn ess_mean(&self) -> f64 {
        self.if_valid(|sample| sample.effective_size(&sample.draws))
    }

    /// The effective sample size for the standard deviation.
    pub fn ess_sd(&self) -> f64 {
        self.if_valid(|sample| sample.effective_size(&sample.squared_deviations()))
    }

    /// The effective sample size for the quantile at `p`.
    pub fn ess_quantile(&self, p: f64) -> f64 {
        self.if_valid(|sample| {
            let threshold = sample.quantile(p);
            match sample.weights {
                None => indicator::effective_size(&sample.halves(&sample.draws), threshold),
                Some(_) => sample.effective_size(&sample.indicator(threshold)),
            }
        })
    }

    fn if_valid(&self, size: impl FnOnce(&Self) -> f64) -> f64 {
        if self.is_valid(1) { size(self) } else { f64::NAN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::autoregression;

    #[test]
    fn an_autoregression_has_the_known_size() {
        let n = 20_000;
        for rho in [0.0, 0.5, 0.9] {
            let draws = autoregression(rho, n, 1);
            let expected = n as f64 * (1.0 - rho) / (1.0 + rho);
            for found in [effective_sample_size(&draws, &vec![1.0; n]), ess_mean(&[&draws]), ess_bulk(&[&draws])] {
                assert!((found / expected - 1.0).abs() < 0.1, "rho {rho}: {found}, expected {expected}");
            }
        }
    }

    #[test]
    fn unequal_weights_cost_draws() {
        let n = 40_000;
        let weights: Vec<f64> = (0..n).map(|t| if t % 2 == 0 { 1.0 } else { 3.0 }).collect();
        let found = effective_sample_size(&autoregression(0.0, n, 2), &weights);
        assert!((found / (0.8 * n as f64) - 1.0).abs() < 0.05, "{found}");
    }

    #[test]
    fn the_weighted_size_predicts_the_variance_of_the_weighted_mean() {
        // Steps shrink as (1 + t)^(-1/3), and the chain slows down with them: 400 chains show how much their weighted means vary.
        let (n, repeats) = (2_000, 400);
        let weights: Vec<f64> = (0..n).map(|t| (1.0 + 0.05 * t as f64).powf(-1.0 / 3.0)).collect();
        let mut means = Vec::new();
        let mut size = 0.0;
        for seed in 0..repeats {
            let noise = autoregression(0.0, n, 100 + seed);
            let mut x = 0.0;
            let draws: Vec<f64> = (0..n)
                .map(|t| {
                    let rho = 1.0 - 0.3 * weights[t];
                    // Uniform on (-1/2, 1/2) has variance 1/12.
                    x = rho * x + (1.0 - rho * rho).sqrt() * 12.0_f64.sqrt() * noise[t];
                    x
                })
                .collect();
            means.push(crate::mean(&draws, &weights));
            size += effective_sample_size(&draws, &weights) / repeats as f64;
        }
        let expected = 1.0 / crate::geyer::variance(&means);
        assert!((size / expected - 1.0).abs() < 0.2, "{size}, expected {expected}");
    }

    #[test]
    fn draws_of_no_weight_do_not_count() {
        // Every other draw has weight zero and any value: the size is that of the others, for chains that agree and for chains apart.
        for apart in [0.0, 0.1, 2.0] {
            let thinned: Vec<Vec<f64>> = (0..4_u8)
                .map(|chain| {
                    let draws = autoregression(0.5, 2_000, 60 + u64::from(chain));
                    draws.iter().map(|x| x + apart * f64::from(chain)).collect()
                })
                .collect();
            let mixed: Vec<Vec<f64>> =
                thinned.iter().map(|chain| chain.iter().flat_map(|x| [*x, 0.3 - x * x]).collect()).collect();
            let weights = vec![[1.0, 0.0].repeat(2_000); 4];
            let (found, expected) = (Sample::weighted(&mixed, &weights).ess_mean(), ess_mean(&thinned));
            assert!((found / expected - 1.0).abs() < 0.1, "{apart}: {found}, expected {expected}");
        }
    }

    #[test]
    fn what_does_not_vary_has_no_size() {
        assert!(effective_sample_size(&[2.0; 10], &[1.0; 10]).is_nan());
        assert!(effective_sample_size(&[1.0, 2.0], &[1.0; 2]).is_nan());
        assert!((ess_bulk(&[[2.0; 10]]) - 10.0).abs() < 1e-12);
        assert!(ess_bulk(&[[1.0, 2.0, 3.0]]).is_nan());
    }
}
