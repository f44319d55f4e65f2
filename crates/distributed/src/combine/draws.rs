//! Tables of draws.

use rand::RngExt;
use sgmcmc_gradient::rng::StreamRng;

use super::{Error, Result};

/// The draws of one shard, or of the combination: a row-major table with one draw per row.
///
/// The numbers are *coordinates*, which have no bounds. [`combine_fits`](super::combine_fits) converts constrained
/// parameters.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::combine::Draws;
///
/// let draws = Draws::new(vec![1.0, 10.0, 2.0, 20.0], 2)?;
/// assert_eq!((draws.len(), draws.row(1)), (2, &[2.0, 20.0][..]));
/// assert!(Draws::new(vec![f64::NAN], 1).is_err());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    dim: usize,
    values: Vec<f64>,
}

impl Draws {
    /// Creates a table from rows of `dim` numbers.
    ///
    /// # Errors
    ///
    /// Returns an error if the table does not consist of whole rows, or if a number is not finite.
    pub fn new(values: Vec<f64>, dim: usize) -> Result<Self> {
        if dim == 0 || !values.len().is_multiple_of(dim) {
            return Err(Error::Table { numbers: values.len(), dim });
        }
        match values.iter().position(|value| !value.is_finite()) {
            Some(index) => Err(Error::NotFinite { draw: index / dim, column: index % dim, value: values[index] }),
            None => Ok(Self { dim, values }),
        }
    }

    /// Creates a table of draws with equal weights from draws with the given weights, by systematic resampling.
    ///
    /// Rows stay in order. Their number becomes Kish's effective number (Σw)²/Σw², rounded up. Equal weights keep all
    /// draws.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`new`](Self::new), or an error if there is not one weight per draw, a weight is negative
    /// or not finite, or all are zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributed::combine::Draws;
    ///
    /// let draws = Draws::weighted(vec![1.0, 2.0, 3.0], &[1.0, 0.0, 1.0], 1, 7)?;
    /// assert_eq!(draws.values(), [1.0, 3.0]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn weighted(values: Vec<f64>, weights: &[f64], dim: usize, seed: u64) -> Result<Self> {
        let draws = Self::new(values, dim)?;
        let total: f64 = weights.iter().sum();
        let valid = weights.len() == draws.len() && weights.iter().all(|w| w.is_finite() && *w >= 0.0);
        if !(valid && total.is_finite() && total > 0.0) {
            return if draws.is_empty() && weights.is_empty() { Ok(draws) } else { Err(Error::Weights) };
        }
        let squares: f64 = weights.iter().map(|w| (w / total) * (w / total)).sum();
        let count = ((1.0 / squares - 1e-9).ceil() as usize).clamp(1, draws.len());
        if count == draws.len() {
            return Ok(draws);
        }
        let mut rng = super::stream(seed);
        Ok(draws.only(&systematic(weights, count, &mut rng)))
    }

    /// Returns the number of numbers per draw.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Returns the number of draws.
    pub fn len(&self) -> usize {
        self.values.len() / self.dim
    }

    /// Returns `true` if there are no draws.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns all numbers in row-major order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns an iterator over the draws.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.dim)
    }

    /// Returns the draw with this index.
    ///
    /// # Panics
    ///
    /// Panics if the index is out of range.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.dim..(index + 1) * self.dim]
    }

    /// Creates a table of rows that are known to be whole and finite.
    pub(super) fn from_parts(values: Vec<f64>, dim: usize) -> Self {
        Self { dim, values }
    }

    /// Returns the draws with these indices, in this order.
    pub(super) fn only(&self, indices: &[usize]) -> Self {
        let values = indices.iter().flat_map(|index| self.row(*index).iter().copied()).collect();
        Self { dim: self.dim, values }
    }

    /// Returns `count` draws at equal distances, in order. All draws are kept if there are not more.
    pub(super) fn thinned_to(&self, count: usize) -> Self {
        if self.len() <= count {
            return self.clone();
        }
        let indices: Vec<usize> =
            (0..count).map(|k| (k as u128 * self.len() as u128 / count as u128) as usize).collect();
        self.only(&indices)
    }
}

/// Returns `count` indices in ascending order, each repeated about in proportion to its weight.
pub(super) fn systematic(weights: &[f64], count: usize, rng: &mut StreamRng) -> Vec<usize> {
    let total: f64 = weights.iter().sum();
    let shift: f64 = rng.random();
    let mut indices = Vec::with_capacity(count);
    let (mut sum, mut last) = (0.0, 0);
    for (index, weight) in weights.iter().enumerate() {
        sum += weight / total;
        if *weight > 0.0 {
            last = index;
        }
        while indices.len() < count && indices.len() as f64 + shift < sum * count as f64 {
            indices.push(index);
        }
    }
    // The weights may sum to slightly less than one.
    indices.resize(count, last);
    indices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resampling_repeats_draws_in_proportion_to_their_weights() {
        let mut rng = super::super::stream(3);
        let weights = [0.5, 0.0, 2.0, 1.5];
        let mut counts = [0_usize; 4];
        for _ in 0..1000 {
            let indices = systematic(&weights, 10, &mut rng);
            assert!(indices.is_sorted() && indices.len() == 10);
            indices.iter().for_each(|index| counts[*index] += 1);
        }
        for (count, weight) in counts.iter().zip(weights) {
            // Every count of one resampling is one of the two integers next to 10 w/Σw.
            assert!((*count as f64 - 10_000.0 * weight / 4.0).abs() < 100.0, "{counts:?}");
        }
    }

    #[test]
    fn weighted_tables_are_checked() {
        let table = |weights: &[f64]| Draws::weighted(vec![1.0, 2.0, 3.0], weights, 1, 0);
        assert_eq!(table(&[2.0, 2.0, 2.0]).unwrap().values(), [1.0, 2.0, 3.0]);
        for weights in [&[1.0, 1.0][..], &[1.0, -1.0, 1.0], &[0.0, 0.0, 0.0], &[1.0, f64::NAN, 1.0]] {
            assert_eq!(table(weights), Err(Error::Weights));
        }
        assert_eq!(Draws::new(vec![1.0; 3], 2), Err(Error::Table { numbers: 3, dim: 2 }));
        assert_eq!(Draws::new(vec![], 0), Err(Error::Table { numbers: 0, dim: 0 }));
    }

    #[test]
    fn thinning_keeps_the_order_and_the_range() {
        let draws = Draws::new((0..10).map(f64::from).collect(), 1).unwrap();
        assert_eq!(draws.thinned_to(4).values(), [0.0, 2.0, 5.0, 7.0]);
        assert_eq!(draws.thinned_to(10), draws);
    }
}
