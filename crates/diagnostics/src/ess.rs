//! Effective sample sizes: the number of independent draws that would estimate a quantity equally well.
//!
//! Each is the effective size for a mean ([`geyer`](crate::geyer) has the formula) of a series computed from split
//! chains: the normal scores of the ranks (bulk), the draws (mean), their squared deviations (standard deviation), or
//! the indicators of draws at or below a quantile (quantile). The size of the tails is the smaller one of the
//! quantiles 0.11 and 0.89, as in ArviZ 1.x with its default interval of 89 %.

use crate::sample::Sample;
use crate::{geyer, indicator};

/// The default probability of intervals in ArviZ 1.x. The tails are beyond this quantile and its complement.
const TAIL: f64 = 0.89;

/// Returns the effective sample size of the bulk of the distribution.
///
/// It is NaN if a chain has fewer than four draws or if a draw is NaN. For constant draws it is the number of draws.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::ess_bulk;
///
/// let drift: Vec<f64> = (0..100).map(f64::from).collect();
/// assert!(ess_bulk(&[drift]) < 10.0);
/// assert_eq!(ess_bulk(&[[2.0; 10]]), 10.0);
/// ```
pub fn ess_bulk<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    Sample::new(chains).ess_bulk()
}

/// Returns the effective sample size of the tails.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::ess_tail;
///
/// assert_eq!(ess_tail(&[[2.0; 10]]), 10.0);
/// ```
pub fn ess_tail<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    Sample::new(chains).ess_tail()
}

/// Returns the effective sample size for the mean.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::ess_mean;
///
/// assert_eq!(ess_mean(&[[2.0; 10]]), 10.0);
/// // The size of S draws is at most S log10(S).
/// assert!((ess_mean(&[[1.0, 2.0, 3.0, 4.0]]) - 4.0 * 4.0_f64.log10()).abs() < 1e-12);
/// ```
pub fn ess_mean<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    Sample::new(chains).ess_mean()
}

/// Returns the effective sample size for the standard deviation.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::ess_sd;
///
/// assert_eq!(ess_sd(&[[2.0; 10]]), 10.0);
/// ```
pub fn ess_sd<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    Sample::new(chains).ess_sd()
}

/// Returns the effective sample size for the quantile at `p`.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::ess_quantile;
///
/// assert_eq!(ess_quantile(&[[2.0; 10]], 0.5), 10.0);
/// ```
pub fn ess_quantile<C: AsRef<[f64]>>(chains: &[C], p: f64) -> f64 {
    Sample::new(chains).ess_quantile(p)
}

/// Returns the effective sample size of one chain for the weighted mean, without splitting the chain.
///
/// It is NaN if there are fewer than four draws or if the draws are constant. A missing weight counts as zero.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::effective_sample_size;
///
/// // The size of S draws is at most S log10(S).
/// let size = effective_sample_size(&[1.0, 3.0, 2.0, 4.0], &[1.0; 4]);
/// assert!((size - 4.0 * 4.0_f64.log10()).abs() < 1e-12);
/// ```
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
    /// Returns the effective sample size of the bulk: see [`ess_bulk`].
    pub fn ess_bulk(&self) -> f64 {
        self.if_valid(|sample| sample.effective_size(&sample.bulk_scores()))
    }

    /// Returns the effective sample size of the tails: see [`ess_tail`].
    pub fn ess_tail(&self) -> f64 {
        let (low, high) = (self.ess_quantile(1.0 - TAIL), self.ess_quantile(TAIL));
        if high < low { high } else { low }
    }

    /// Returns the effective sample size for the mean: see [`ess_mean`].
    pub fn ess_mean(&self) -> f64 {
        self.if_valid(|sample| sample.effective_size(&sample.draws))
    }

    /// Returns the effective sample size for the standard deviation: see [`ess_sd`].
    pub fn ess_sd(&self) -> f64 {
        self.if_valid(|sample| sample.effective_size(&sample.squared_deviations()))
    }

    /// Returns the effective sample size for the quantile at `p`: see [`ess_quantile`].
    pub fn ess_quantile(&self, p: f64) -> f64 {
        self.if_valid(|sample| {
            let threshold = sample.quantile(p);
            match sample.weights {
                None => indicator::effective_size(&sample.halves(&sample.draws), threshold),
                Some(_) => sample.effective_size(&sample.indicator(threshold)),
            }
        })
    }

    /// Returns the given size, or NaN if the sample is not valid.
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
    fn unequal_weights_reduce_the_size() {
        let n = 40_000;
        let weights: Vec<f64> = (0..n).map(|t| if t % 2 == 0 { 1.0 } else { 3.0 }).collect();
        let found = effective_sample_size(&autoregression(0.0, n, 2), &weights);
        assert!((found / (0.8 * n as f64) - 1.0).abs() < 0.05, "{found}");
    }

    #[test]
    fn the_weighted_size_predicts_the_variance_of_the_weighted_mean() {
        // The step size decreases as (1 + t)^(-1/3), and so does the speed of the chain. The variance of the weighted
        // mean is estimated from 400 chains.
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
    fn draws_of_weight_zero_are_ignored() {
        // Every other draw has weight zero and an arbitrary value. The size is that of the other draws, whether the
        // chains agree or not.
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
    fn constant_or_short_chains_have_no_size_or_the_full_one() {
        assert!(effective_sample_size(&[2.0; 10], &[1.0; 10]).is_nan());
        assert!(effective_sample_size(&[1.0, 2.0], &[1.0; 2]).is_nan());
        assert!((ess_bulk(&[[2.0; 10]]) - 10.0).abs() < 1e-12);
        assert!(ess_bulk(&[[1.0, 2.0, 3.0]]).is_nan());
    }
}
