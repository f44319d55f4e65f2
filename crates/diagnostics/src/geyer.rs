//! Geyer's estimate of the effective sample size of several split chains of one length.
//!
//! For m chains of n draws, let γ_t be the mean of their autocovariances, W = γ_0 n/(n − 1), and B the variance of the
//! means of the chains. Then
//!
//! ```text
//! ρ_t = 1 − (W − γ_t) / V,   V = W (n − 1)/n + B
//! τ = −1 + 2 Σ ρ_t,          ESS = m n / max(τ, 1/log10(m n))
//! ```
//!
//! The sum ends before the first pair ρ_{2k} + ρ_{2k+1} below zero, and the pairs are made monotone (Geyer 1992;
//! Vehtari, Gelman, Simpson, Carpenter & Bürkner 2021, eqs. (10)-(13)). The steps are those of ArviZ 1.x
//! (`arviz_stats/base/diagnostics.py`, `_ess`), including the end of the sum and the size of constant chains.
//!
//! **Weights.** The mean Σ w x / Σ w of a chain is x̄ plus the mean of y_i = (n w_i / Σw) (x_i − x̄), so its variance
//! is γ_0(y) τ(y)/n with the autocovariances of y. Relative to the variance σ² = Σ w (x − x̄)² / Σ w of the
//! distribution, and with B added to both, the effective size is m n (σ² + B)/(γ_0(y) + B) / τ(y). For independent
//! draws this is m (Σw)²/Σw², for equal weights the unweighted size, and for chains that do not agree the number of
//! chains. The weights may change from draw to draw.

use crate::autocorrelation::lagged_products;
use crate::lanes::{self, LAGS};

/// The number of lags that are computed directly before the Fourier transform is used.
const DIRECT_LAGS: usize = 48;
/// The number of lags after which the Fourier transform is used at once, if the correlation there exceeds
/// [`STRONG_CORRELATION`].
const FEWEST_LAGS: usize = 12;
const STRONG_CORRELATION: f64 = 0.2;
/// The first transform computes one lag in this number. Few chains need more lags.
const FIRST_FRACTION: usize = 5;

/// The range below which ArviZ treats draws as constant: the decimal resolution of an `f64`.
const RESOLUTION: f64 = 1e-15;

/// Returns the effective sample size of split chains of one length ≥ 2, with optional weights.
pub(crate) fn effective_size(halves: &[&[f64]], weights: Option<&[&[f64]]>) -> f64 {
    let n = halves.first().map_or(0, |half| half.len());
    let size = (halves.len() * n) as f64;
    let ranges: Option<Vec<(f64, f64)>> = halves.iter().map(|half| lanes::range(half)).collect();
    let Some(ranges) = ranges.filter(|_| n >= 2) else { return f64::NAN };
    let low = ranges.iter().fold(f64::INFINITY, |low, range| low.min(range.0));
    let high = ranges.iter().fold(f64::NEG_INFINITY, |high, range| high.max(range.1));
    if high - low < RESOLUTION {
        return size;
    }
    let mut means = Vec::with_capacity(halves.len());
    let mut centered = Vec::with_capacity(halves.len() * n);
    let mut spread = 0.0;
    for (index, half) in halves.iter().enumerate() {
        match weights.map(|weights| weights[index]) {
            None => {
                let mean = lanes::sum(half) / n as f64;
                centered.extend(half.iter().map(|x| x - mean));
                means.push(mean);
            }
            Some(weights) => {
                let scale = n as f64 / lanes::sum(weights);
                let mean = scale / n as f64 * lanes::dot(half, weights);
                centered.extend(half.iter().zip(weights).map(|(x, w)| (x - mean) * w * scale));
                spread += scale * half.iter().zip(weights).map(|(x, w)| w * (x - mean).powi(2)).sum::<f64>();
                means.push(mean);
            }
        }
    }
    let centered: Vec<&[f64]> = centered.chunks_exact(n).collect();
    let mut covariance = Autocovariance { centered, products: Vec::with_capacity(DIRECT_LAGS) };
    let between = if means.len() > 1 { variance(&means) } else { 0.0 };
    // The ratio of the variance of the distribution to that of the weighted series, which is 1 for equal weights.
    let gain = if weights.is_some() { (spread / size + between) / (covariance.at(0) + between) } else { 1.0 };
    gain * size / autocorrelation_time(n, |lag| covariance.at(lag), between, size)
}

/// Returns τ, but at least 1/log10(size), from the mean autocovariances of series of n numbers.
pub(crate) fn autocorrelation_time(
    n: usize,
    mut autocovariance: impl FnMut(usize) -> f64,
    between: f64,
    size: f64,
) -> f64 {
    let within = autocovariance(0) * n as f64 / (n as f64 - 1.0);
    let total = within * (n as f64 - 1.0) / n as f64 + between;
    let mut correlation = |lag: usize| 1.0 - (within - autocovariance(lag)) / total;
    let (mut even, mut odd) = (1.0, correlation(1));
    let mut kept = vec![even, odd];
    let mut lag = 1;
    while lag + 3 < n && even + odd > 0.0 {
        even = correlation(lag + 1);
        odd = correlation(lag + 2);
        // A pair with a negative sum ends the sequence and contributes zero.
        kept.extend(if even + odd >= 0.0 { [even, odd] } else { [0.0, 0.0] });
        lag += 2;
    }
    // The first even correlation after the sequence contributes once.
    let last = (lag + 1) - 2;
    if even > 0.0 {
        kept[last] = even;
    }
    for index in (1..).step_by(2).take_while(|index| index + 3 <= last) {
        let (before, pair) = (kept[index - 1] + kept[index], kept[index + 1] + kept[index + 2]);
        if pair > before {
            kept[index + 1] = before / 2.0;
            kept[index + 2] = before / 2.0;
        }
    }
    if kept.iter().any(|rho| rho.is_nan()) {
        return f64::NAN;
    }
    (-1.0 + 2.0 * kept[..last].iter().sum::<f64>() + kept[last]).max(1.0 / size.log10())
}

/// The mean autocovariances of centered series of one length, computed on demand.
struct Autocovariance<'a> {
    centered: Vec<&'a [f64]>,
    /// The sums of products at the lags from 0 on, over all series.
    products: Vec<f64>,
}

impl Autocovariance<'_> {
    /// Returns the length of the series.
    fn length(&self) -> usize {
        self.centered[0].len()
    }

    /// Returns the mean autocovariance at a lag.
    fn at(&mut self, lag: usize) -> f64 {
        let slow = self.products.len() >= FEWEST_LAGS
            && self.products[FEWEST_LAGS - 1] > STRONG_CORRELATION * self.products[0];
        let direct = if slow { FEWEST_LAGS } else { DIRECT_LAGS };
        while lag >= self.products.len() && lag < direct {
            let mut sums = [0.0; LAGS];
            for y in &self.centered {
                sums.iter_mut().zip(lanes::lagged(y, self.products.len())).for_each(|(sum, more)| *sum += more);
            }
            self.products.extend(sums);
        }
        if lag >= self.products.len() {
            let first = self.length() / FIRST_FRACTION;
            self.products = lagged_products(&self.centered, if lag < first { first } else { self.length() });
        }
        self.products[lag] / (self.centered.len() * self.length()) as f64
    }
}

/// Returns the variance with divisor m − 1.
pub(crate) fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::autoregression;

    #[test]
    fn direct_and_transformed_lags_give_the_same_size() {
        // The number of lags grows with rho: direct sums, a transform of some lags, and a transform of all lags.
        for rho in [0.0, 0.9, 0.95, 0.9999] {
            let n = 600;
            let series: Vec<Vec<f64>> = (0..3).map(|seed| autoregression(rho, n, seed)).collect();
            let halves: Vec<&[f64]> = series.iter().map(|half| &half[..]).collect();
            let means: Vec<f64> = halves.iter().map(|half| half.iter().sum::<f64>() / n as f64).collect();
            let mut most = 0;
            let direct = |lag: usize| {
                most = most.max(lag);
                let product = |(half, mean): (&&[f64], &f64)| -> f64 {
                    half.iter().zip(&half[lag..]).map(|(x, later)| (x - mean) * (later - mean)).sum()
                };
                halves.iter().zip(&means).map(product).sum::<f64>() / (3 * n) as f64
            };
            let size = (3 * n) as f64;
            let expected = size / autocorrelation_time(n, direct, variance(&means), size);
            let found = effective_size(&halves, None);
            assert!((found / expected - 1.0).abs() < 1e-10, "{rho}: {found}, expected {expected}");
            assert_eq!(most > n / FIRST_FRACTION, rho > 0.95, "{rho}: {most} lags");
        }
    }
}
