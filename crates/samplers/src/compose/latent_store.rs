//! Latent variables of all observations: see [`LatentStore`].

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sgmcmc_gradient::{Error, Result};

use super::{Update, UpdateContext};
use sgmcmc_fit::codec::{decode, encode};

/// One block of latent variables per observation, of the same or of different lengths, in one allocation.
///
/// [`WithLatents`] makes a store part of a chain and of its checkpoints.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::LatentStore;
///
/// // One label per observation.
/// let mut labels = LatentStore::fixed(1000, 1, 0_u8);
/// labels[3][0] = 2;
/// assert_eq!(labels[3], [2]);
/// // One topic per word of documents with 3, 0 and 2 words.
/// let topics = LatentStore::varying([3, 0, 2], 0_u16);
/// assert_eq!((topics.len(), topics[2].len()), (3, 2));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatentStore<T> {
    blocks: Blocks,
    values: Vec<T>,
}

/// The ranges of the blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Blocks {
    /// Blocks of the same length.
    Fixed { count: usize, length: usize },
    /// The ends of the blocks.
    Varying(Vec<usize>),
}

impl<T: Clone> LatentStore<T> {
    /// Creates a store of `count` blocks of `length` variables each, all equal to `value`.
    pub fn fixed(count: usize, length: usize, value: T) -> Self {
        Self { blocks: Blocks::Fixed { count, length }, values: vec![value; count * length] }
    }

    /// Creates a store with one block of each of `lengths`, all variables equal to `value`.
    pub fn varying(lengths: impl IntoIterator<Item = usize>, value: T) -> Self {
        let ends: Vec<usize> = lengths
            .into_iter()
            .scan(0, |end, length| {
                *end += length;
                Some(*end)
            })
            .collect();
        let total = ends.last().copied().unwrap_or(0);
        Self { blocks: Blocks::Varying(ends), values: vec![value; total] }
    }
}

impl<T> LatentStore<T> {
    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        match &self.blocks {
            Blocks::Fixed { count, .. } => *count,
            Blocks::Varying(ends) => ends.len(),
        }
    }

    /// Returns whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an iterator over the blocks.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        (0..self.len()).map(|index| &self[index])
    }

    /// Returns the variables of all blocks.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Returns the range of block number `index`.
    fn range(&self, index: usize) -> std::ops::Range<usize> {
        match &self.blocks {
            Blocks::Fixed { length, .. } => index * length..(index + 1) * length,
            Blocks::Varying(ends) => index.checked_sub(1).map_or(0, |before| ends[before])..ends[index],
        }
    }
}

impl<T> std::ops::Index<usize> for LatentStore<T> {
    type Output = [T];

    fn index(&self, index: usize) -> &[T] {
        &self.values[self.range(index)]
    }
}

impl<T> std::ops::IndexMut<usize> for LatentStore<T> {
    fn index_mut(&mut self, index: usize) -> &mut [T] {
        let range = self.range(index);
        &mut self.values[range]
    }
}

impl<T: Serialize + DeserializeOwned> LatentStore<T> {
    /// Serializes the store.
    ///
    /// # Errors
    ///
    /// Returns an error if a variable cannot be encoded.
    pub fn save(&self) -> Result<Vec<u8>> {
        encode(self)
    }

    /// Restores what [`save`](Self::save) returned.
    ///
    /// # Errors
    ///
    /// Returns an error if `saved` is not a store with blocks of the same lengths. The store then does not change.
    pub fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let restored: Self = decode(saved)?;
        if restored.blocks != self.blocks || restored.values.len() != self.values.len() {
            return Err(Error::Checkpoint {
                reason: "its latent variables have another number or other lengths".into(),
            });
        }
        *self = restored;
        Ok(())
    }
}

/// An update with a [`LatentStore`] that is part of the checkpoints of the chain.
///
/// # Examples
///
/// A mixture of two normal distributions with unit variances. Each iteration draws the labels of a minibatch, and then
/// the means given all labels. Drawing some labels given the means leaves the joint posterior invariant, so that the
/// chain is exact although it never visits all observations in one iteration:
///
/// ```
/// use rand::RngExt;
/// use rand_distr::StandardNormal;
/// use sgmcmc::algorithms::{LatentStore, UpdateContext, UpdatesOnly, WithLatents};
/// use sgmcmc::gradient::MinibatchGradient;
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::prelude::*;
///
/// let x: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { -2.0 } else { 2.0 }).collect();
/// let data = Dataset::new(array(x.clone(), [40])?)?;
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| {
///     let density = |k: usize| ((x.clone() - mean.clone().slice([k..k + 1])).square() * -0.5).exp();
///     (density(0) + density(1)).log()
/// })
/// .prior(|mean: Tensor<1>| mean.square().sum() * -0.005);
///
/// let update = move |labels: &mut LatentStore<u8>, context: &mut UpdateContext<'_>| {
///     let mean = context.get("theta")?.to_vec();
///     for (row, _) in context.minibatch()?.iter() {
///         let density = |k: usize| (-0.5 * (x[row] - mean[k]).powi(2)).exp();
///         let second = density(1) / (density(0) + density(1));
///         labels[row][0] = u8::from(context.rng().random::<f64>() < second);
///     }
///     let mut sums = [[0.0; 2]; 2];
///     for (label, x) in labels.values().iter().zip(&x) {
///         sums[usize::from(*label)][0] += 1.0;
///         sums[usize::from(*label)][1] += x;
///     }
///     // Given n labels and the sum of their observations, a mean is normal with precision n + 0.01.
///     let drawn = sums.map(|[count, sum]: [f64; 2]| {
///         let (precision, z): (f64, f64) = (count + 0.01, context.rng().sample(StandardNormal));
///         sum / precision + z / precision.sqrt()
///     });
///     context.set("theta", &drawn)
/// };
/// let gradient = MinibatchGradient::new(WithoutReplacement::new(10));
/// let fit = Builder::new(model.with(&data), UpdatesOnly, gradient, 1.0)
///     .update(move |_chain| WithLatents::new(LatentStore::fixed(40, 1, 0), update.clone()))
///     .sample(&array(vec![-1.0, 1.0], [2])?, 500)?;
/// assert!((fit.summary().rows()[1].mean - 2.0).abs() < 0.5);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone)]
pub struct WithLatents<T, F> {
    store: LatentStore<T>,
    update: F,
}

impl<T, F> WithLatents<T, F>
where
    F: FnMut(&mut LatentStore<T>, &mut UpdateContext<'_>) -> Result<()> + Send,
{
    /// Creates an update that calls `update` with the latent variables and the context.
    pub fn new(store: LatentStore<T>, update: F) -> Self {
        Self { store, update }
    }
}

impl<T, F> fmt::Debug for WithLatents<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WithLatents").field("blocks", &self.store.len()).finish_non_exhaustive()
    }
}

impl<T, F> Update for WithLatents<T, F>
where
    T: Send + Serialize + DeserializeOwned,
    F: FnMut(&mut LatentStore<T>, &mut UpdateContext<'_>) -> Result<()> + Send,
{
    fn update(&mut self, context: &mut UpdateContext<'_>) -> Result<()> {
        (self.update)(&mut self.store, context)
    }

    fn settings(&self) -> String {
        format!("{self:?}")
    }

    fn save(&self) -> Result<Vec<u8>> {
        self.store.save()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        self.store.restore(saved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_their_ranges() {
        let mut store = LatentStore::varying([2, 0, 3], 0.0_f64);
        store[0].copy_from_slice(&[1.0, -0.0]);
        store[2].copy_from_slice(&[f64::NAN, 4.0, 5.0]);
        assert_eq!(store.iter().map(<[f64]>::len).collect::<Vec<_>>(), [2, 0, 3]);
        let mut restored = LatentStore::varying([2, 0, 3], 7.0);
        restored.restore(&store.save().unwrap()).unwrap();
        let bits = |store: &LatentStore<f64>| store.values().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&restored), bits(&store));
        assert_eq!(LatentStore::<u8>::fixed(0, 3, 0).iter().count(), 0);
    }

    #[test]
    fn a_store_of_other_blocks_is_not_restored() {
        let saved = LatentStore::fixed(4, 2, 1_u8).save().unwrap();
        for mut other in [LatentStore::fixed(2, 4, 0_u8), LatentStore::varying([2, 2, 2, 2], 0_u8)] {
            let error = other.restore(&saved).unwrap_err().to_string();
            assert!(error.contains("latent variables"), "{error}");
        }
        assert!(LatentStore::fixed(4, 2, 1_u8).restore(&[1, 2]).is_err());
    }
}
