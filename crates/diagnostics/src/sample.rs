//! The draws of one value, prepared for several diagnostics.

use std::sync::OnceLock;

use crate::quantile::SortedDraws;
use crate::{geyer, lanes, order};

/// The draws of one value in all chains, with the intermediate results that several diagnostics share.
///
/// The free functions ([`r_hat`](crate::r_hat), [`ess_bulk`](crate::ess_bulk), …) create a `Sample` for one diagnostic.
/// Create it explicitly to compute several diagnostics of the same draws, or to use weights. Chains without draws are
/// ignored. If chains differ in length, all are truncated to the shortest.
///
/// If a draw is NaN, or if chains have fewer than four draws, everything except the mean, the standard deviation and
/// the quantiles is NaN, as in ArviZ.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::Sample;
///
/// let sample = Sample::new(&[[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.0]]);
/// assert_eq!((sample.chains(), sample.length()), (2, 4));
/// assert_eq!((sample.mean(), sample.quantile(0.5)), (2.5, 2.5));
/// assert!((sample.sd() - (10.0_f64 / 7.0).sqrt()).abs() < 1e-14);
/// ```
#[derive(Debug)]
pub struct Sample {
    /// The draws, one chain after another.
    pub(crate) draws: Vec<f64>,
    /// The weights in the order of `draws`, or `None` if all are equal.
    pub(crate) weights: Option<Vec<f64>>,
    chains: usize,
    length: usize,
    has_nan: bool,
    /// The sorted draws and their indices, computed on first use.
    order: OnceLock<Vec<(f64, u32)>>,
}

impl Sample {
    /// Creates a sample from the draws of `chains` with equal weights.
    pub fn new<C: AsRef<[f64]>>(chains: &[C]) -> Self {
        let (draws, chains, length) = truncate(chains, chains);
        Self::from_parts(draws, None, chains, length)
    }

    /// Creates a sample from `chains` chains of `length` draws, one after another, with weights in the same order if
    /// they differ.
    pub(crate) fn from_parts(draws: Vec<f64>, weights: Option<Vec<f64>>, chains: usize, length: usize) -> Self {
        let has_nan = lanes::sum(&draws).is_nan() && draws.iter().any(|x| x.is_nan());
        Self { draws, weights, chains, length, has_nan, order: OnceLock::new() }
    }

    /// Creates a sample from the draws of `chains` and a weight for each draw.
    ///
    /// Draws of chains with decreasing step sizes are weighted by their step size (Welling & Teh 2011, eq. (11)). Equal
    /// weights give exactly the results of [`Sample::new`]. A chain with fewer weights than draws is truncated to the
    /// number of weights.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::diagnostics::Sample;
    ///
    /// let sample = Sample::weighted(&[[1.0, 5.0]], &[[3.0, 1.0]]);
    /// assert_eq!(sample.mean(), 2.0);
    /// ```
    pub fn weighted<C: AsRef<[f64]>, W: AsRef<[f64]>>(chains: &[C], weights: &[W]) -> Self {
        let pairs = chains.iter().zip(weights).map(|(chain, weights)| {
            let both = chain.as_ref().len().min(weights.as_ref().len());
            (&chain.as_ref()[..both], &weights.as_ref()[..both])
        });
        let (chains, weights): (Vec<&[f64]>, Vec<&[f64]>) = pairs.unzip();
        let (all, _, _) = truncate(&weights, &chains);
        let (draws, chains, length) = truncate(&chains, &chains);
        let differ = all.iter().any(|w| w.to_bits() != all[0].to_bits());
        Self::from_parts(draws, differ.then_some(all), chains, length)
    }

    /// Returns the number of chains with draws.
    pub fn chains(&self) -> usize {
        self.chains
    }

    /// Returns the number of draws of each chain, after truncation.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the (weighted) mean, or NaN if there are no draws.
    pub fn mean(&self) -> f64 {
        self.average(&self.draws)
    }

    /// Returns the (weighted) standard deviation with divisor n − 1 (with weights Σw − Σw²/Σw), or NaN if there are
    /// fewer than two draws.
    pub fn sd(&self) -> f64 {
        self.sd_from_squares(&self.squared_deviations())
    }

    /// Returns the standard deviation from the squared deviations (x − x̄)².
    pub(crate) fn sd_from_squares(&self, squares: &[f64]) -> f64 {
        let lost_share = match &self.weights {
            None => 1.0 / self.draws.len() as f64,
            Some(weights) => lanes::dot(weights, weights) / lanes::sum(weights).powi(2),
        };
        if self.draws.len() < 2 { f64::NAN } else { (self.average(squares) / (1.0 - lost_share)).sqrt() }
    }

    /// Returns the quantile at `p` in [0, 1], or NaN if a draw is NaN.
    ///
    /// This is type 7 of Hyndman & Fan (1996), the method "linear" of NumPy. See [`quantiles`](crate::quantiles) for
    /// the definition with weights.
    pub fn quantile(&self, p: f64) -> f64 {
        if self.has_nan() { f64::NAN } else { self.sorted().quantile(p) }
    }

    /// Returns the sorted draws.
    pub(crate) fn sorted(&self) -> SortedDraws<'_> {
        SortedDraws::new(self.order(), self.weights.as_deref())
    }

    /// Returns the draws and their indices in ascending order.
    pub(crate) fn order(&self) -> &[(f64, u32)] {
        self.order.get_or_init(|| order::order(&self.draws))
    }

    /// Returns whether a draw is NaN.
    pub(crate) fn has_nan(&self) -> bool {
        self.has_nan
    }

    /// Returns whether diagnostics that need `chains` chains are defined.
    pub(crate) fn is_valid(&self, chains: usize) -> bool {
        self.length >= 4 && self.chains >= chains && !self.has_nan()
    }

    /// Returns the first and the last half of each chain of `series`, which has the layout of the draws.
    ///
    /// The middle draw of a chain of odd length is in neither half.
    pub(crate) fn halves<'s>(&self, series: &'s [f64]) -> Vec<&'s [f64]> {
        let half = self.length / 2;
        series
            .chunks_exact(self.length.max(1))
            .flat_map(|chain| [&chain[..half], &chain[self.length - half..]])
            .collect()
    }

    /// Returns whether the draw at this index is in a half.
    pub(crate) fn in_half(&self, index: u32) -> bool {
        self.length.is_multiple_of(2) || index as usize % self.length != self.length / 2
    }

    /// Returns the effective sample size for the mean of `series`, from its halves.
    pub(crate) fn effective_size(&self, series: &[f64]) -> f64 {
        let weights = self.weights.as_deref().map(|weights| self.halves(weights));
        geyer::effective_size(&self.halves(series), weights.as_deref())
    }

    /// Returns (x − x̄)² of each draw.
    pub(crate) fn squared_deviations(&self) -> Vec<f64> {
        let mean = self.mean();
        self.draws.iter().map(|x| (x - mean).powi(2)).collect()
    }

    /// Returns 1 for each draw that is at most `threshold`, and 0 for the others.
    pub(crate) fn indicator(&self, threshold: f64) -> Vec<f64> {
        self.draws.iter().map(|x| if *x <= threshold { 1.0 } else { 0.0 }).collect()
    }

    /// Returns the (weighted) mean of `series`, which has the layout of the draws.
    pub(crate) fn average(&self, series: &[f64]) -> f64 {
        match &self.weights {
            None => lanes::sum(series) / series.len() as f64,
            Some(weights) => lanes::dot(series, weights) / lanes::sum(weights),
        }
    }
}

/// Concatenates the chains with draws, truncated to the shortest chain of `like`. Returns the draws, the number of
/// chains and their length.
fn truncate<C: AsRef<[f64]>, L: AsRef<[f64]>>(chains: &[C], like: &[L]) -> (Vec<f64>, usize, usize) {
    let used = like.iter().map(|chain| chain.as_ref().len()).filter(|length| *length > 0);
    let length = used.clone().min().unwrap_or(0);
    let kept = chains.iter().map(AsRef::as_ref).filter(|chain| !chain.is_empty()).map(|chain| &chain[..length]);
    (kept.collect::<Vec<_>>().concat(), used.count(), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_chains_are_ignored_and_longer_ones_truncated() {
        let sample = Sample::new(&[vec![1.0, 2.0, 3.0], vec![], vec![4.0, 5.0]]);
        assert_eq!((sample.chains(), sample.length()), (2, 2));
        assert_eq!(sample.draws, [1.0, 2.0, 4.0, 5.0]);
        let sample = Sample::weighted(&[vec![1.0, 2.0, 3.0], vec![4.0, 5.0]], &[vec![1.0, 2.0, 3.0], vec![4.0]]);
        assert_eq!((sample.draws, sample.weights), (vec![1.0, 4.0], Some(vec![1.0, 4.0])));
        assert!(Sample::new::<Vec<f64>>(&[]).mean().is_nan());
    }

    #[test]
    fn halves_exclude_the_middle_draw() {
        let sample = Sample::new(&[[1.0, 2.0, 3.0, 4.0, 5.0]]);
        assert_eq!(sample.halves(&sample.draws), [[1.0, 2.0], [4.0, 5.0]]);
        assert_eq!((0..5).filter(|index| sample.in_half(*index)).count(), 4);
    }
}
