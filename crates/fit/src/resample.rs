//! Draws of equal weight from weighted draws.

use crate::{ChainDraws, Fit};

impl Fit {
    /// Returns this fit with draws of equal weight: each chain has as many draws as before, chosen by systematic resampling
    /// in proportion to the weights. A fit whose weights are equal is returned unchanged.
    ///
    /// Tools that do not support weights, such as ArviZ, then compute right means. Draws with large weights occur several
    /// times, so that effective sample sizes of the result are too large if weights vary much: compute them before.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::fit::ChainDraws;
    /// use sgmcmc::sink::Draw;
    /// use sgmcmc::{Fit, Layout};
    ///
    /// let mut chain = ChainDraws::new(1, vec![]);
    /// for (iteration, (x, weight)) in (1..).zip([(1.0, 3.0), (5.0, 1.0), (7.0, 0.0), (9.0, 0.0)]) {
    ///     chain.push(&Draw { iteration, values: &[x], weight, log_posterior: 0.0, stats: &[] })?;
    /// }
    /// let fit = Fit::new(Layout::vector("x", 1), vec![chain])?;
    /// assert_eq!(fit.resampled().chains()[0].values(), [1.0, 1.0, 1.0, 5.0]);
    /// assert_eq!(fit.mean_values(), fit.resampled().mean_values());
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    #[must_use]
    pub fn resampled(&self) -> Self {
        if !self.is_weighted() {
            return self.clone();
        }
        let mut fit = self.with_draws(|chain| systematic(chain.weights()));
        fit.chains.iter_mut().for_each(ChainDraws::equalize_weights);
        fit
    }
}

/// Returns as many indices as there are weights, index i about n wᵢ / Σw times. Weights that are not positive have no
/// index. Returns all indices if no weight is positive.
fn systematic(weights: &[f64]) -> Vec<usize> {
    let positive = |weight: f64| if weight > 0.0 && weight.is_finite() { weight } else { 0.0 };
    let total: f64 = weights.iter().copied().map(positive).sum();
    if total <= 0.0 {
        return (0..weights.len()).collect();
    }
    let step = total / weights.len() as f64;
    let (mut indices, mut above) = (Vec::with_capacity(weights.len()), 0.0);
    for (index, weight) in weights.iter().copied().map(positive).enumerate() {
        above += weight;
        while indices.len() < weights.len() && (indices.len() as f64 + 0.5) * step < above {
            indices.push(index);
        }
    }
    // The last position can be lost by rounding.
    let last = weights.iter().rposition(|weight| positive(*weight) > 0.0).unwrap_or(0);
    indices.resize(weights.len(), last);
    indices
}

#[cfg(test)]
mod tests {
    use super::systematic;

    #[test]
    fn indices_are_in_proportion_to_the_weights() {
        let weights: Vec<f64> = (1..=1000).map(|i| 1.0 / f64::from(i).sqrt()).collect();
        let total: f64 = weights.iter().sum();
        let indices = systematic(&weights);
        assert_eq!(indices.len(), 1000);
        for (index, weight) in weights.iter().enumerate() {
            let count = indices.iter().filter(|found| **found == index).count() as f64;
            assert!((count - 1000.0 * weight / total).abs() < 1.0, "{index}");
        }
        assert_eq!(systematic(&[1.0; 5]), [0, 1, 2, 3, 4]);
        assert_eq!(systematic(&[f64::NAN, 1.0, -1.0]), [1, 1, 1]);
        assert_eq!(systematic(&[0.0, 0.0]), [0, 1]);
    }
}
