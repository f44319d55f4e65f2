//! The effective size of half-chains of one length: Geyer's estimate over several chains.
//!
//! With m chains of n draws, γ_t the mean of their autocovariances, W = γ_0 n/(n − 1) and B the variance of the chains' means,
//!
//! ```text
//! ρ_t = 1 − (W − γ_t) / V,   V = W (n − 1)/n + B
//! τ = −1 + 2 Σ ρ_t,          ESS = m n / max(τ, 1/log10(m n))
//! ```
//!
//! where the sum ends before the first pair ρ_{2k} + ρ_{2k+1} below zero and pairs are made to fall (Geyer 1992; Vehtari, Gelman, Simpson,
//! Carpenter & Bürkner 2021, eqs. (10)-(13)). The steps are those of ArviZ 1.x (`arviz_stats/base/diagnostics.py`, `_ess`), including how the
//! sum ends and that chains which do not vary count in full.
//!
//! **Weights.** The mean Σ w x / Σ w of a chain is that of y_i = (n w_i / Σw) (x_i − x̄) around x̄, so its variance is γ_0(y) τ(y)/n with the
//! autocovariances of y. Against the variance σ² = Σ w (x − x̄)² / Σ w of the law, and with B in both, the effective size is
//! m n (σ² + B)/(γ_0(y) + B) / τ(y): for independent draws m (Σw)²/Σw², for equal weights the plain number, for chains apart the number of chains. Correlations are
//! weighted where the weights are, so weights may change as fast as they like.

use crate::autocorrelation::lagged_products;
use crate::lanes::{self, LAGS};

/// Lags taken a few at a time before all of them are asked of the Fourier transform.
const DIRECT: usize = 48;
/// Fewer are enough to see that more are needed, if the correlation is still so large after them.
const EARLY: usize = 12;
const STRONG: f64 = 0.2;
/// The share of all lags that is transformed first; few chains need more.
const FIRST: usize = 5;

/// ArviZ's measure of "does not vary": the decimal resolution of a double.
const RESOLUTION: f64 = 1e-15;

/// The effective size of half-chains of one length ≥ 2, with the draws' weights if they have any.
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
    let mut centred = Vec::with_capacity(halves.len() * n);
    let mut spread = 0.0;
    for (index, half) in halves.iter().enumerate() {
        match weights.map(|weights| weights[index]) {
            None => {
                let mean = lanes::sum(half) / n as f64;
                centred.extend(half.iter().map(|x| x - mean));
                means.push(mean);
            }
            Some(weights) => {
                let scale = n as f64 / lanes::sum(weights);
                let mean = scale / n as f64 * lanes::dot(half, weights);
                centred.extend(half.iter().zip(weights).map(|(x, w)| (x - mean) * w * scale));
                spread += scale * half.iter().zip(weights).map(|(x, w)| w * (x - mean).powi(2)).sum::<f64>();
                means.push(mean);
            }
        }
    }
    let centred: Vec<&[f64]> = centred.chunks_exact(n).collect();
    let mut covariance = Autocovariance { centred, products: Vec::with_capacity(DIRECT) };
    let between = if means.len() > 1 { variance(&means) } else { 0.0 };
    // How much more the law varies than the weighted draws' sum of squares says: 1 for equal weights.
    let gain = if weights.is_some() { (spread / size + between) / (covariance.at(0) + between) } else { 1.0 };
    gain * size / time(n, |lag| covariance.at(lag), between, size)
}

/// τ, at least 1/log10(size), from the mean autocovariances of series of n numbers.
pub(crate) fn time(n: usize, mut autocovariance: impl FnMut(usize) -> f64, between: f64, size: f64) -> f64 {
    let within = autocovariance(0) * n as f64 / (n as f64 - 1.0);
    let total = within * (n as f64 - 1.0) / n as f64 + between;
    let mut correlation = |lag: usize| 1.0 - (within - autocovariance(lag)) / total;
    let (mut even, mut odd) = (1.0, correlation(1));
    let mut kept = vec![even, odd];
    let mut lag = 1;
    while lag + 3 < n && even + odd > 0.0 {
        even = correlation(lag + 1);
        odd = correlation(lag + 2);
        // A pair below zero ends the sequence and counts as nothing.
        kept.extend(if even + odd >= 0.0 { [even, odd] } else { [0.0, 0.0] });
        lag += 2;
    }
    // The first even correlation after the sequence still counts once.
    let last = (lag + 1) - 2;
    if even > 0.0 {
        kept[last] = even;
    }
    for place in (1..).step_by(2).take_while(|place| place + 3 <= last) {
        let (before, pair) = (kept[place - 1] + kept[place], kept[place + 1] + kept[place + 2]);
        if pair > before {
            kept[place + 1] = before / 2.0;
            kept[place + 2] = before / 2.0;
        }
    }
    if kept.iter().any(|rho| rho.is_nan()) {
        return f64::NAN;
    }
    (-1.0 + 2.0 * kept[..last].iter().sum::<f64>() + kept[last]).max(1.0 / size.log10())
}

/// The mean autocovariances of centred series of one length, found as they are asked for.
struct Autocovariance<'a> {
    centred: Vec<&'a [f64]>,
    /// The sums of products at the lags from 0 on, over all series.
    products: Vec<f64>,
}

impl Autocovariance<'_> {
    fn length(&self) -> usize {
        self.centred[0].len()
    }

    fn at(&mut self, lag: usize) -> f64 {
        let slow = self.products.len() >= EARLY && self.products[EARLY - 1] > STRONG * self.products[0];
        let direct = if slow { EARLY } else { DIRECT };
        while lag >= self.products.len() && lag < direct {
            let mut sums = [0.0; LAGS];
            for y in &self.centred {
                sums.iter_mut().zip(lanes::lagged(y, self.products.len())).for_each(|(sum, more)| *sum += more);
            }
            self.products.extend(sums);
        }
        if lag >= self.products.len() {
            let first = self.length() / FIRST;
            self.products = lagged_products(&self.centred, if lag < first { first } else { self.length() });
        }
        self.products[lag] / (self.centred.len() * self.length()) as f64
    }
}

/// The variance with divisor m − 1.
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
    fn lags_found_in_whatever_way_give_the_same_size() {
        // From the first lags alone to nearly all of them: directly, from some of the lags transformed, from all.
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
            let expected = size / time(n, direct, variance(&means), size);
            let found = effective_size(&halves, None);
            assert!((found / expected - 1.0).abs() < 1e-10, "{rho}: {found}, expected {expected}");
            assert_eq!(most > n / FIRST, rho > 0.95, "{rho}: {most} lags");
        }
    }
}
