//! Split R-hat, with and without rank normalization.
//!
//! Chains are split into halves. With n draws per half, W the mean of the variances of the halves and B/n the
//! variance of their means, R̂ = √((B/W + n − 1)/n). Rank-normalized R̂ is the larger of two values: R̂ of the normal
//! scores of the ranks ("bulk", which compares locations), and R̂ of the normal scores of the distances to the median
//! ("folded", which compares scales). Sources: Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), eqs. (2)-(4),
//! (14)-(15); `_rhat_rank` of ArviZ 1.x.
//!
//! With weights, means and variances are weighted (with divisor Σw − Σw²/Σw), and n is the mean of (Σw)²/Σw² over the
//! halves.

use crate::geyer::variance;
use crate::lanes;
use crate::sample::Sample;

/// Returns the rank-normalized split R-hat of one value in several chains. Above 1.01 the chains have not converged.
///
/// It is NaN if there are fewer than two chains or four draws, if a draw is NaN, or if all draws are equal. It is
/// infinite if each chain is constant and the constants differ.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::r_hat;
///
/// assert!(r_hat(&[[1.0; 8], [2.0; 8]]).is_infinite());
/// // Halves of n = 2 draws with equal means: √((n − 1)/n).
/// assert!((r_hat(&[[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0]]) - 0.5_f64.sqrt()).abs() < 1e-12);
/// ```
pub fn r_hat<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    Sample::new(chains).r_hat()
}

/// Returns split R-hat without rank normalization (Gelman et al. 2013, section 11.4).
///
/// It needs a distribution with finite variance, and it measures the distance between chains. The rank-normalized
/// R-hat of four chains is below 3 at any distance, whereas this one grows without bound.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::r_hat_split;
///
/// // Halves of n = 2 draws with equal means: √((n − 1)/n).
/// assert!((r_hat_split(&[[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0]]) - 0.5_f64.sqrt()).abs() < 1e-12);
/// ```
pub fn r_hat_split<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    Sample::new(chains).r_hat_split()
}

impl Sample {
    /// Returns split R-hat without rank normalization: see [`r_hat_split`].
    pub fn r_hat_split(&self) -> f64 {
        if self.is_valid(2) { self.scale_reduction(&self.draws) } else { f64::NAN }
    }

    /// Returns rank-normalized split R-hat: see [`r_hat`].
    pub fn r_hat(&self) -> f64 {
        self.r_hat_from_scores(&self.bulk_scores())
    }

    /// Returns rank-normalized split R-hat also for a single chain, whose halves are compared. ArviZ leaves it undefined.
    pub fn r_hat_of_halves(&self) -> f64 {
        if self.is_valid(1) { self.larger_reduction(&self.bulk_scores()) } else { f64::NAN }
    }

    /// Returns rank-normalized split R-hat from the normal scores.
    pub(crate) fn r_hat_from_scores(&self, bulk_scores: &[f64]) -> f64 {
        if !self.is_valid(2) {
            return f64::NAN;
        }
        self.larger_reduction(bulk_scores)
    }

    /// Returns the larger one of R̂ of the bulk and R̂ of the folded draws.
    fn larger_reduction(&self, bulk_scores: &[f64]) -> f64 {
        let bulk = self.scale_reduction(bulk_scores);
        let folded = self.folded_scores().map_or(f64::NAN, |scores| self.scale_reduction(&scores));
        // If the bulk value is NaN, the result is NaN. If only the folded value is NaN, it is ignored.
        if folded > bulk { folded } else { bulk }
    }

    /// Returns R̂ of the halves of `series`.
    fn scale_reduction(&self, series: &[f64]) -> f64 {
        let halves = self.halves(series);
        let weights = self.weights.as_deref().map(|weights| self.halves(weights));
        let (mut means, mut within, mut size) = (Vec::with_capacity(halves.len()), 0.0, 0.0);
        for (index, half) in halves.iter().enumerate() {
            let HalfMoments { mean, variance, count } = match &weights {
                None => plain(half),
                Some(weights) => weighted(half, weights[index]),
            };
            means.push(mean);
            within += variance / halves.len() as f64;
            size += count / halves.len() as f64;
        }
        (variance(&means) / within + (size - 1.0) / size).sqrt()
    }
}

/// The moments of half a chain.
struct HalfMoments {
    mean: f64,
    variance: f64,
    /// The number of draws, or their effective number (Σw)²/Σw² if there are weights.
    count: f64,
}

/// Returns the moments of draws with equal weights.
fn plain(half: &[f64]) -> HalfMoments {
    let n = half.len() as f64;
    if half.iter().all(|x| x.to_bits() == half[0].to_bits()) {
        return HalfMoments { mean: half[0], variance: 0.0, count: n };
    }
    let mean = lanes::sum(half) / n;
    HalfMoments { mean, variance: lanes::squares(half, mean) / (n - 1.0), count: n }
}

/// Returns the moments of weighted draws.
fn weighted(half: &[f64], weights: &[f64]) -> HalfMoments {
    let total = lanes::sum(weights);
    let count = total * total / lanes::dot(weights, weights);
    let mean = lanes::dot(half, weights) / total;
    let squares: f64 = half.iter().zip(weights).map(|(x, w)| w * (x - mean).powi(2)).sum();
    HalfMoments { mean, variance: squares / total / (1.0 - 1.0 / count), count }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separated_chains_are_far_above_one() {
        let chain = |center: f64| -> Vec<f64> { (0..100).map(|i| center + f64::from(i * 37 % 100) / 100.0).collect() };
        let apart =
            |chains: u32| -> Vec<Vec<f64>> { (0..chains).map(|index| chain(10.0 * f64::from(index))).collect() };
        let together = [chain(0.0), chain(0.001)];
        assert!(r_hat_split(&apart(4)) > 5.0 && r_hat(&apart(4)) > 2.5 && r_hat(&apart(16)) > 5.0);
        assert!((0.9..1.01).contains(&r_hat(&together)) && (0.9..1.01).contains(&r_hat_split(&together)));
        assert!(r_hat(&[[1.0; 8], [2.0; 8]]).is_infinite());
    }

    #[test]
    fn undefined_values_are_nan() {
        assert!(r_hat(&[[1.0, 2.0, 3.0, 4.0]]).is_nan());
        assert!(r_hat(&[[1.0, 2.0, 3.0], [1.0, 2.0, 4.0]]).is_nan());
        assert!(r_hat(&[[1.0; 8], [1.0; 8]]).is_nan());
        assert!(r_hat(&[[1.0, 2.0, 3.0, f64::NAN], [1.0, 2.0, 3.0, 4.0]]).is_nan());
    }
}
