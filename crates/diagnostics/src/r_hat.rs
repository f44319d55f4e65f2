//! Rank-normalised split R-hat.
//!
//! Chains are cut in halves; with n draws a half, W the mean of the halves' variances and B/n the variance of their means,
//! R̂ = √((B/W + n − 1)/n). It is taken of the normal scores of the ranks ("bulk": do the chains agree on where they are?) and of those of the
//! distances to the median ("folded": on how far they spread?), and the larger of the two counts (Vehtari, Gelman, Simpson, Carpenter &
//! Bürkner 2021, eqs. (2)-(4), (14)-(15); ArviZ 1.x `_rhat_rank`).
//!
//! With weights, means and variances are weighted ones (divisor Σw − Σw²/Σw), and n is the mean of (Σw)²/Σw² over the halves.

use crate::geyer::variance;
use crate::lanes;
use crate::sample::Sample;

/// Rank-normalised split R-hat of the draws of one value in several chains; above 1.01 the chains do not agree yet.
///
/// NaN for fewer than two chains or four draws, for NaN among the draws, and for draws that do not vary at all; infinite for chains that each stay
/// at a value of their own.
pub fn r_hat<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    Sample::new(chains).r_hat()
}

/// Split R-hat of the draws themselves (Gelman et al. 2013, section 11.4): for laws with finite variance, and for how far chains are apart.
///
/// Ranks say little about distance: four chains however far apart have a rank-normalised R-hat below 3, where this one grows without bound.
pub fn r_hat_split<C: AsRef<[f64]>>(chains: &[C]) -> f64 {
    Sample::new(chains).r_hat_split()
}

impl Sample {
    /// Split R-hat of the draws themselves: see [`r_hat_split`].
    pub fn r_hat_split(&self) -> f64 {
        if self.is_valid(2) { self.potential(&self.draws) } else { f64::NAN }
    }

    /// Rank-normalised split R-hat: see [`r_hat`].
    pub fn r_hat(&self) -> f64 {
        self.r_hat_of(&self.bulk_scores())
    }

    /// R-hat, when the normal scores are known already.
    pub(crate) fn r_hat_of(&self, bulk_scores: &[f64]) -> f64 {
        if !self.is_valid(2) {
            return f64::NAN;
        }
        let bulk = self.potential(bulk_scores);
        let folded = self.folded_scores().map_or(f64::NAN, |scores| self.potential(&scores));
        // An undefined bulk value is the answer, an undefined folded one is not.
        if folded > bulk { folded } else { bulk }
    }

    /// R̂ of the halves of `series`.
    fn potential(&self, series: &[f64]) -> f64 {
        let halves = self.halves(series);
        let weights = self.weights.as_deref().map(|weights| self.halves(weights));
        let (mut means, mut within, mut size) = (Vec::with_capacity(halves.len()), 0.0, 0.0);
        for (index, half) in halves.iter().enumerate() {
            let (mean, variance, count) = match &weights {
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

/// The mean, the variance and the number of draws.
fn plain(half: &[f64]) -> (f64, f64, f64) {
    let n = half.len() as f64;
    if half.iter().all(|x| x.to_bits() == half[0].to_bits()) {
        return (half[0], 0.0, n);
    }
    let mean = lanes::sum(half) / n;
    (mean, lanes::squares(half, mean) / (n - 1.0), n)
}

fn weighted(half: &[f64], weights: &[f64]) -> (f64, f64, f64) {
    let total = lanes::sum(weights);
    let count = total * total / lanes::dot(weights, weights);
    let mean = lanes::dot(half, weights) / total;
    let squares: f64 = half.iter().zip(weights).map(|(x, w)| w * (x - mean).powi(2)).sum();
    (mean, squares / total / (1.0 - 1.0 / count), count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separated_chains_are_far_above_one() {
        let chain = |centre: f64| -> Vec<f64> { (0..100).map(|i| centre + f64::from(i * 37 % 100) / 100.0).collect() };
        let apart =
            |chains: u32| -> Vec<Vec<f64>> { (0..chains).map(|index| chain(10.0 * f64::from(index))).collect() };
        let together = [chain(0.0), chain(0.001)];
        assert!(r_hat_split(&apart(4)) > 5.0 && r_hat(&apart(4)) > 2.5 && r_hat(&apart(16)) > 5.0);
        assert!((0.9..1.01).contains(&r_hat(&together)) && (0.9..1.01).contains(&r_hat_split(&together)));
        assert!(r_hat(&[[1.0; 8], [2.0; 8]]).is_infinite());
    }

    #[test]
    fn what_cannot_be_judged_is_nan() {
        assert!(r_hat(&[[1.0, 2.0, 3.0, 4.0]]).is_nan());
        assert!(r_hat(&[[1.0, 2.0, 3.0], [1.0, 2.0, 4.0]]).is_nan());
        assert!(r_hat(&[[1.0; 8], [1.0; 8]]).is_nan());
        assert!(r_hat(&[[1.0, 2.0, 3.0, f64::NAN], [1.0, 2.0, 3.0, 4.0]]).is_nan());
    }
}
