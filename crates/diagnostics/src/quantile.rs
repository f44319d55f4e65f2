//! Weighted quantiles.

use crate::order;

/// Returns the quantiles of `draws` at `probabilities`, each in [0, 1], or NaN if there are no draws or a draw is NaN.
///
/// This is type 7 of Hyndman & Fan (1996), the default of NumPy ("linear"), R and ArviZ: the k-th of n sorted draws
/// is the quantile at (k − 1)/(n − 1), with linear interpolation between the draws. With weights, it is the quantile
/// at (m_k − m_1)/(m_n − m_1), where m_k = Σ_{i<k} w_i + w_k/2. This equals (k − 1)/(n − 1) for equal weights. A
/// missing weight counts as zero.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::quantiles;
///
/// let found = quantiles(&[40.0, 10.0, 30.0, 20.0], &[1.0; 4], &[0.0, 0.25, 0.5, 1.0]);
/// assert_eq!(found, [10.0, 17.5, 25.0, 40.0]);
/// ```
pub fn quantiles(draws: &[f64], weights: &[f64], probabilities: &[f64]) -> Vec<f64> {
    if draws.iter().any(|x| x.is_nan()) {
        return vec![f64::NAN; probabilities.len()];
    }
    let weights: Vec<f64> = (0..draws.len()).map(|draw| weights.get(draw).copied().unwrap_or(0.0)).collect();
    let equal = weights.iter().all(|w| w.to_bits() == weights[0].to_bits());
    let order = order::order(draws);
    let sorted = SortedDraws::new(&order, (!equal).then_some(&weights));
    probabilities.iter().map(|p| sorted.quantile(*p)).collect()
}

/// Sorted draws with their cumulative weights.
pub(crate) struct SortedDraws<'a> {
    /// The draws and their indices in ascending order.
    order: &'a [(f64, u32)],
    /// The midpoints m_k of the cumulative weights, or `None` for equal weights.
    midpoints: Option<Vec<f64>>,
}

impl<'a> SortedDraws<'a> {
    /// Creates the sorted draws from their order and optional weights.
    pub(crate) fn new(order: &'a [(f64, u32)], weights: Option<&[f64]>) -> Self {
        let midpoints = weights.map(|weights| {
            let mut below = 0.0;
            let midpoint = |(_, index): &(f64, u32)| {
                let weight = weights[*index as usize];
                below += weight;
                below - 0.5 * weight
            };
            order.iter().map(midpoint).collect()
        });
        Self { order, midpoints }
    }

    /// Returns the draw at a rank, counting from 0.
    pub(crate) fn draw(&self, rank: usize) -> f64 {
        self.order[rank].0
    }

    /// Returns the quantile at `p`.
    pub(crate) fn quantile(&self, p: f64) -> f64 {
        let Some(last) = self.order.len().checked_sub(1) else { return f64::NAN };
        let p = p.clamp(0.0, 1.0);
        let (before, fraction) = match &self.midpoints {
            None => {
                let rank = last as f64 * p;
                (rank.floor() as usize, rank - rank.floor())
            }
            Some(midpoints) => {
                let target = midpoints[0] + (midpoints[last] - midpoints[0]) * p;
                let before = midpoints.partition_point(|midpoint| *midpoint <= target).saturating_sub(1);
                let step = midpoints.get(before + 1).map_or(0.0, |next| next - midpoints[before]);
                (before, if step > 0.0 { (target - midpoints[before]) / step } else { 0.0 })
            }
        };
        let (low, high) = (self.draw(before), self.draw((before + 1).min(last)));
        // Interpolates from the nearer draw, as NumPy does, so that both draws are reached without rounding.
        if fraction < 0.5 { low + (high - low) * fraction } else { high - (high - low) * (1.0 - fraction) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_weights_follow_type_seven() {
        let draws = [40.0, 10.0, 30.0, 20.0];
        let found = quantiles(&draws, &[2.0; 4], &[0.0, 0.25, 0.5, 0.625, 1.0]);
        assert_eq!(found, [10.0, 17.5, 25.0, 28.75, 40.0]);
    }

    #[test]
    fn nearly_equal_weights_give_nearly_the_same() {
        let draws = [40.0, 10.0, 30.0, 20.0];
        let found = quantiles(&draws, &[2.0, 2.0, 2.0, 2.0 + 1e-12], &[0.0, 0.25, 0.5, 0.625, 1.0]);
        found.iter().zip([10.0, 17.5, 25.0, 28.75, 40.0]).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{a} {b}"));
    }

    #[test]
    fn weights_move_the_median() {
        let median = quantiles(&[1.0, 2.0, 3.0], &[1.0, 1.0, 100.0], &[0.5])[0];
        assert!(median > 2.4, "{median}");
        assert!(quantiles(&[], &[], &[0.5])[0].is_nan());
        assert!(quantiles(&[1.0, f64::NAN], &[1.0, 1.0], &[0.5])[0].is_nan());
    }
}
