//! The draws of one value, prepared once for everything that is asked of them.

use std::sync::OnceLock;

use crate::quantile::Places;
use crate::scores::{bulk, folded};
use crate::{geyer, lanes, order};

/// The draws of one value in all chains, with what several diagnostics share: their order, their halves, their moments.
///
/// The free functions ([`r_hat`](crate::r_hat), [`ess_bulk`](crate::ess_bulk), …) make one for a single answer; make it yourself to ask more
/// of the same draws, or to give weights. Chains without draws are left out. If chains differ in length, all are cut to the shortest.
///
/// With a NaN among the draws, or fewer than four draws a chain, everything but the mean and the quantiles is NaN, as in ArviZ.
#[derive(Debug)]
pub struct Sample {
    /// Chain after chain.
    pub(crate) draws: Vec<f64>,
    /// Like `draws`; none if all are equal.
    pub(crate) weights: Option<Vec<f64>>,
    chains: usize,
    length: usize,
    has_nan: bool,
    order: OnceLock<Vec<(f64, u32)>>,
}

impl Sample {
    /// The draws of `chains`, all of the same weight.
    pub fn new<C: AsRef<[f64]>>(chains: &[C]) -> Self {
        let (draws, chains, length) = cut(chains, chains);
        Self::of(draws, None, chains, length)
    }

    /// `chains` chains of `length` draws, one after another, with weights in the same order if they differ.
    pub(crate) fn of(draws: Vec<f64>, weights: Option<Vec<f64>>, chains: usize, length: usize) -> Self {
        let has_nan = lanes::sum(&draws).is_nan() && draws.iter().any(|x| x.is_nan());
        Self { draws, weights, chains, length, has_nan, order: OnceLock::new() }
    }

    /// The draws of `chains` with their `weights`: chain by chain, a weight a draw.
    ///
    /// Draws of chains with decreasing step sizes carry their step size as weight (Welling & Teh 2011, eq. (11)). Equal weights give what
    /// [`Sample::new`] gives, to the last bit. A chain with fewer weights than draws is cut like a shorter chain.
    pub fn weighted<C: AsRef<[f64]>, W: AsRef<[f64]>>(chains: &[C], weights: &[W]) -> Self {
        let pairs = chains.iter().zip(weights).map(|(chain, weights)| {
            let both = chain.as_ref().len().min(weights.as_ref().len());
            (&chain.as_ref()[..both], &weights.as_ref()[..both])
        });
        let (chains, weights): (Vec<&[f64]>, Vec<&[f64]>) = pairs.unzip();
        let (all, _, _) = cut(&weights, &chains);
        let (draws, chains, length) = cut(&chains, &chains);
        let differ = all.iter().any(|w| w.to_bits() != all[0].to_bits());
        Self::of(draws, differ.then_some(all), chains, length)
    }

    /// How many chains have draws.
    pub fn chains(&self) -> usize {
        self.chains
    }

    /// How many draws of each chain are used.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The (weighted) mean; NaN for no draws.
    pub fn mean(&self) -> f64 {
        self.average(&self.draws)
    }

    /// The (weighted) standard deviation with divisor n − 1 (for weights Σw − Σw²/Σw); NaN for fewer than two draws.
    pub fn sd(&self) -> f64 {
        self.sd_of(&self.squared_deviations())
    }

    /// The same, when (x − x̄)² is known already.
    pub(crate) fn sd_of(&self, squares: &[f64]) -> f64 {
        let lost = match &self.weights {
            None => 1.0 / self.draws.len() as f64,
            Some(weights) => lanes::dot(weights, weights) / lanes::sum(weights).powi(2),
        };
        if self.draws.len() < 2 { f64::NAN } else { (self.average(squares) / (1.0 - lost)).sqrt() }
    }

    /// The quantile at `p` in [0, 1]: type 7 of Hyndman & Fan (1996), NumPy's "linear"; NaN if a draw is NaN.
    ///
    /// With weights, see [`quantiles`](crate::quantiles).
    pub fn quantile(&self, p: f64) -> f64 {
        if self.has_nan() { f64::NAN } else { self.places().at(p) }
    }

    /// The draws in order.
    pub(crate) fn places(&self) -> Places<'_> {
        Places::new(self.order(), self.weights.as_deref())
    }

    /// The draws and their indices, in order.
    pub(crate) fn order(&self) -> &[(f64, u32)] {
        self.order.get_or_init(|| order::order(&self.draws))
    }

    pub(crate) fn has_nan(&self) -> bool {
        self.has_nan
    }

    /// Whether diagnostics that need `chains` chains say anything.
    pub(crate) fn is_valid(&self, chains: usize) -> bool {
        self.length >= 4 && self.chains >= chains && !self.has_nan()
    }

    /// The first and the last half of each chain of `series` (like the draws), without the middle draw of an odd number.
    pub(crate) fn halves<'s>(&self, series: &'s [f64]) -> Vec<&'s [f64]> {
        let half = self.length / 2;
        series
            .chunks_exact(self.length.max(1))
            .flat_map(|chain| [&chain[..half], &chain[self.length - half..]])
            .collect()
    }

    /// Whether the draw at this place is in a half.
    pub(crate) fn in_half(&self, index: u32) -> bool {
        self.length.is_multiple_of(2) || index as usize % self.length != self.length / 2
    }

    /// The effective size for the mean of `series` (like the draws), from its halves.
    pub(crate) fn effective_size(&self, series: &[f64]) -> f64 {
        let weights = self.weights.as_deref().map(|weights| self.halves(weights));
        geyer::effective_size(&self.halves(series), weights.as_deref())
    }

    /// The normal scores of the ranks, NaN nowhere; the middle draw of an odd number has none.
    pub(crate) fn bulk_scores(&self) -> Vec<f64> {
        bulk(self)
    }

    /// The normal scores of the ranks of the distances to the median; none if the median is infinite.
    pub(crate) fn folded_scores(&self) -> Option<Vec<f64>> {
        folded(self)
    }

    /// (x − x̄)².
    pub(crate) fn squared_deviations(&self) -> Vec<f64> {
        let mean = self.mean();
        self.draws.iter().map(|x| (x - mean).powi(2)).collect()
    }

    /// 1 where a draw is not above `threshold`, 0 elsewhere.
    pub(crate) fn indicator(&self, threshold: f64) -> Vec<f64> {
        self.draws.iter().map(|x| if *x <= threshold { 1.0 } else { 0.0 }).collect()
    }

    /// The (weighted) mean of `series`, which is like the draws.
    pub(crate) fn average(&self, series: &[f64]) -> f64 {
        match &self.weights {
            None => lanes::sum(series) / series.len() as f64,
            Some(weights) => lanes::dot(series, weights) / lanes::sum(weights),
        }
    }
}

/// The chains with draws, cut to the shortest of `like` and joined; their number and length.
fn cut<C: AsRef<[f64]>, L: AsRef<[f64]>>(chains: &[C], like: &[L]) -> (Vec<f64>, usize, usize) {
    let used = like.iter().map(|chain| chain.as_ref().len()).filter(|length| *length > 0);
    let length = used.clone().min().unwrap_or(0);
    let kept = chains.iter().map(AsRef::as_ref).filter(|chain| !chain.is_empty()).map(|chain| &chain[..length]);
    (kept.collect::<Vec<_>>().concat(), used.count(), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_chains_are_left_out_and_longer_ones_cut() {
        let sample = Sample::new(&[vec![1.0, 2.0, 3.0], vec![], vec![4.0, 5.0]]);
        assert_eq!((sample.chains(), sample.length()), (2, 2));
        assert_eq!(sample.draws, [1.0, 2.0, 4.0, 5.0]);
        let sample = Sample::weighted(&[vec![1.0, 2.0, 3.0], vec![4.0, 5.0]], &[vec![1.0, 2.0, 3.0], vec![4.0]]);
        assert_eq!((sample.draws, sample.weights), (vec![1.0, 4.0], Some(vec![1.0, 4.0])));
        assert!(Sample::new::<Vec<f64>>(&[]).mean().is_nan());
    }

    #[test]
    fn halves_leave_out_the_middle() {
        let sample = Sample::new(&[[1.0, 2.0, 3.0, 4.0, 5.0]]);
        assert_eq!(sample.halves(&sample.draws), [[1.0, 2.0], [4.0, 5.0]]);
        assert_eq!((0..5).filter(|index| sample.in_half(*index)).count(), 4);
    }
}
