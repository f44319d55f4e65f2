//! The effective sample size of series of zeros and ones, such as "at or below a quantile".
//!
//! The series is stored as bits. Σ bᵢ bᵢ₊ₜ is then the number of ones that the series and its shifted copy have in
//! common, which is counted 64 bits at a time, and
//!
//! ```text
//! n γ_t = Σ bᵢ bᵢ₊ₜ − m (Σ_{i<n−t} bᵢ + Σ_{i≥t} bᵢ) + (n − t) m²
//! ```
//!
//! where m is the mean. These are the autocovariances that [`geyer`](crate::geyer) needs.

use crate::geyer::{autocorrelation_time, variance};
use crate::lanes;

/// Returns the effective sample size for the proportion of draws at or below `threshold`, from split chains of one
/// length.
pub(crate) fn effective_size(halves: &[&[f64]], threshold: f64) -> f64 {
    let n = halves.first().map_or(0, |half| half.len());
    let size = (halves.len() * n) as f64;
    if n < 2 {
        return f64::NAN;
    }
    let halves: Vec<Bits> = halves.iter().map(|half| Bits::from_series(half, threshold)).collect();
    let ones: usize = halves.iter().map(|half| half.ones).sum();
    if ones == 0 || ones == halves.len() * n {
        return size;
    }
    let means: Vec<f64> = halves.iter().map(|half| half.ones as f64 / n as f64).collect();
    let between = if means.len() > 1 { variance(&means) } else { 0.0 };
    let autocovariance = |lag: usize| halves.iter().map(|half| half.lagged_product(lag, n)).sum::<f64>() / size;
    size / autocorrelation_time(n, autocovariance, between, size)
}

/// A series of zeros and ones. The first one is the lowest bit of the first word.
struct Bits {
    /// The bits, followed by one word that is zero.
    words: Vec<u64>,
    /// The number of ones before each word, and the total.
    counts: Vec<usize>,
    /// The total number of ones.
    ones: usize,
}

impl Bits {
    /// Creates the bits "at or below `threshold`" of a series.
    fn from_series(series: &[f64], threshold: f64) -> Self {
        let word = |values: &[f64]| values.iter().rev().fold(0, |word, x| word << 1 | u64::from(*x <= threshold));
        let words: Vec<u64> = series.chunks(64).map(word).chain([0]).collect();
        let mut ones = 0;
        let mut counts = vec![0];
        counts.extend(words.iter().map(|word| {
            ones += word.count_ones() as usize;
            ones
        }));
        Self { words, counts, ones }
    }

    /// Returns n γ of this series at a lag.
    fn lagged_product(&self, lag: usize, n: usize) -> f64 {
        let mean = self.ones as f64 / n as f64;
        let (first, last) = (self.ones_before(lag), self.ones - self.ones_before(n - lag));
        let ends = (2 * self.ones - first - last) as f64;
        self.common_ones(lag) as f64 - mean * ends + (n - lag) as f64 * mean * mean
    }

    /// Returns the number of ones among the first `count` bits.
    fn ones_before(&self, count: usize) -> usize {
        let (whole, rest) = (count / 64, count % 64);
        let partial = self.words.get(whole).map_or(0, |word| (word & ((1 << rest) - 1)).count_ones());
        self.counts[whole] + partial as usize
    }

    /// Returns the number of indices i at which the bits i and i + `lag` are both one.
    fn common_ones(&self, lag: usize) -> usize {
        let (whole, rest) = (lag / 64, lag % 64);
        let low = &self.words[whole.min(self.words.len() - 1)..];
        let (high, now) = (&low[1..], &self.words[..low.len() - 1]);
        lanes::run(
            #[inline(always)]
            || {
                let mut ones = 0;
                for ((now, low), high) in now.iter().zip(low).zip(high) {
                    // A shift by 64 bits is not defined, so it is a shift by one followed by one of at most 63.
                    ones += u64::from((now & (low >> rest | (high << 1) << (63 - rest))).count_ones());
                }
                ones as usize
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::autoregression;

    #[test]
    fn bit_counts_equal_sums_of_products() {
        for n in [2, 63, 64, 65, 200] {
            let series = autoregression(0.8, n, 3);
            let bits = Bits::from_series(&series, 0.1);
            let numbers: Vec<f64> = series.iter().map(|x| if *x <= 0.1 { 1.0 } else { 0.0 }).collect();
            let mean = numbers.iter().sum::<f64>() / n as f64;
            for lag in 0..n {
                let products = numbers.iter().zip(&numbers[lag..]).map(|(x, y)| (x - mean) * (y - mean));
                let (found, expected) = (bits.lagged_product(lag, n), products.sum::<f64>());
                assert!((found - expected).abs() < 1e-10, "{n} {lag}: {found}, expected {expected}");
            }
        }
    }

    #[test]
    fn bits_and_numbers_give_the_same_size() {
        let chains: Vec<Vec<f64>> = (0..3).map(|seed| autoregression(0.7, 500, seed)).collect();
        let halves: Vec<&[f64]> = chains.iter().map(|chain| &chain[..]).collect();
        let numbers: Vec<Vec<f64>> =
            chains.iter().map(|chain| chain.iter().map(|x| if *x <= 0.2 { 1.0 } else { 0.0 }).collect()).collect();
        let numbers: Vec<&[f64]> = numbers.iter().map(|series| &series[..]).collect();
        let (found, expected) = (effective_size(&halves, 0.2), crate::geyer::effective_size(&numbers, None));
        assert!((found / expected - 1.0).abs() < 1e-12, "{found}, expected {expected}");
        assert!((effective_size(&halves, 1e9) - 1500.0).abs() < 1e-12);
    }
}
