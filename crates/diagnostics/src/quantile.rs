//! Weighted quantiles.
//!
//! Type 7 of Hyndman & Fan (1996), the rule of NumPy ("linear"), R and ArviZ: the k-th of n draws in order stands at (k − 1)/(n − 1), and lines
//! join them. With weights, draws stand in the middles of their weights, and these places are stretched so that the first is at 0 and the
//! last at 1: (m_k − m_1)/(m_n − m_1) with m_k = Σ_{i<k} w_i + w_k/2, which is (k − 1)/(n − 1) for equal weights.

use crate::order;

/// The quantiles of `draws` at `probabilities` (each in [0, 1]); NaN for no draws or where a draw is NaN.
///
/// A missing weight counts as zero.
pub fn quantiles(draws: &[f64], weights: &[f64], probabilities: &[f64]) -> Vec<f64> {
    if draws.iter().any(|x| x.is_nan()) {
        return vec![f64::NAN; probabilities.len()];
    }
    let weights: Vec<f64> = (0..draws.len()).map(|draw| weights.get(draw).copied().unwrap_or(0.0)).collect();
    let equal = weights.iter().all(|w| w.to_bits() == weights[0].to_bits());
    let order = order::order(draws);
    let places = Places::new(&order, (!equal).then_some(&weights));
    probabilities.iter().map(|p| places.at(*p)).collect()
}

/// Draws in order, and where they stand.
pub(crate) struct Places<'a> {
    order: &'a [(f64, u32)],
    /// The middles of the weights in order; none for equal weights.
    middles: Option<Vec<f64>>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(order: &'a [(f64, u32)], weights: Option<&[f64]>) -> Self {
        let middles = weights.map(|weights| {
            let mut below = 0.0;
            let middle = |(_, index): &(f64, u32)| {
                let weight = weights[*index as usize];
                below += weight;
                below - 0.5 * weight
            };
            order.iter().map(middle).collect()
        });
        Self { order, middles }
    }

    /// The draw at this place in the order.
    pub(crate) fn draw(&self, place: usize) -> f64 {
        self.order[place].0
    }

    pub(crate) fn at(&self, p: f64) -> f64 {
        let Some(last) = self.order.len().checked_sub(1) else { return f64::NAN };
        let p = p.clamp(0.0, 1.0);
        let (before, part) = match &self.middles {
            None => {
                let place = last as f64 * p;
                (place.floor() as usize, place - place.floor())
            }
            Some(middles) => {
                let place = middles[0] + (middles[last] - middles[0]) * p;
                let before = middles.partition_point(|middle| *middle <= place).saturating_sub(1);
                let step = middles.get(before + 1).map_or(0.0, |next| next - middles[before]);
                (before, if step > 0.0 { (place - middles[before]) / step } else { 0.0 })
            }
        };
        let (low, high) = (self.draw(before), self.draw((before + 1).min(last)));
        // From the nearer end, so that the far end is reached without rounding (and as NumPy does).
        if part < 0.5 { low + (high - low) * part } else { high - (high - low) * (1.0 - part) }
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
