//! One shard: see [`Shard`].

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sgmcmc_fit::{ShardInfo, Tempering};
use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_gradient::{ConditionOn, Target};

use super::Subposterior;

/// One of S shards of a data set.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::shards::Shards;
///
/// let shards = Shards::consecutive(10, 2)?;
/// let shard = shards.shard(1).unwrap();
/// assert_eq!(shard.rows(), [5, 6, 7, 8, 9]);
/// assert_ne!(shard.seed(13), shards.shard(0).unwrap().seed(13));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    info: ShardInfo,
    rows: Arc<[usize]>,
    /// The number of observations of the data set that `rows` are indices of.
    indexed: usize,
}

impl Shard {
    /// Creates a shard with the observations `rows` of a data set of `indexed` observations.
    pub(super) fn new(info: ShardInfo, rows: Arc<[usize]>, indexed: usize) -> Self {
        Self { info, rows, indexed }
    }

    /// Returns the index of the shard, from 0.
    pub fn index(&self) -> usize {
        self.info.index
    }

    /// Returns the number S of shards.
    pub fn count(&self) -> usize {
        self.info.count
    }

    /// Returns the number of observations of the shard.
    pub fn observations(&self) -> usize {
        self.rows.len()
    }

    /// Returns the indices of the observations of the shard, in ascending order.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Returns the number of observations that the target of this shard must have: those of all shards, or those of this rank.
    pub(super) fn indexed(&self) -> usize {
        self.indexed
    }

    /// Returns the description that fits of the shard carry.
    pub fn info(&self) -> ShardInfo {
        self.info
    }

    /// Returns a seed for the run on this shard, a function of `seed` and of the index of the shard.
    ///
    /// Runs with one seed have the same random numbers in all shards. Their draws are not independent, and cannot be
    /// combined.
    pub fn seed(&self, seed: u64) -> u64 {
        let mut hasher = Fingerprinter::new();
        hasher.text("shard");
        hasher.word(seed);
        hasher.word(self.info.index as u64);
        let [high, _]: [u64; 2] = hasher.finish().into();
        // Formats that store numbers as double precision keep it.
        high >> 11
    }

    /// Returns the directory `shard-<index>` in `parent`, for checkpoints of the run on this shard.
    pub fn directory(&self, parent: impl AsRef<Path>) -> PathBuf {
        let mut name = String::from("shard-");
        // Writing to a string cannot fail.
        let _ = write!(name, "{}", self.info.index);
        parent.as_ref().join(name)
    }

    /// Returns `model` restricted to this shard. Presets take it in place of the model, with the whole data set.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributed::shards::Shards;
    /// use sgmcmc::distributions::*;
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
    /// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
    /// let shard = Shards::consecutive(4, 2)?.shard(1).unwrap();
    /// let fit = sgld(&shard.model(&model), &data, 0.1).minibatch(1).seed(shard.seed(1)).sample(&zeros([1]), 100)?;
    /// assert_eq!(fit.info().observations, 2);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn model<'a, M>(&'a self, model: &'a M) -> ShardModel<'a, M> {
        ShardModel { shard: self, model }
    }

    /// Returns the subposterior of `target` given the observations of this shard.
    pub fn target<T: Target>(&self, target: T) -> Subposterior<T> {
        Subposterior::new(target, self.clone())
    }

    /// Returns the power of the prior.
    pub(super) fn prior_power(&self) -> f64 {
        match self.info.tempering {
            Tempering::FractionalPrior => 1.0 / self.info.count as f64,
            Tempering::Inflated => 1.0,
        }
    }

    /// Returns the power of the likelihood.
    pub(super) fn likelihood_power(&self) -> f64 {
        match self.info.tempering {
            Tempering::FractionalPrior => 1.0,
            Tempering::Inflated => self.info.count as f64,
        }
    }

    /// Returns the index of the first observation if the observations are consecutive.
    pub(super) fn start_if_consecutive(&self) -> Option<usize> {
        let (first, last) = (*self.rows.first()?, *self.rows.last()?);
        // The indices are in ascending order and distinct.
        (last - first + 1 == self.rows.len()).then_some(first)
    }
}

/// A model restricted to a shard, see [`Shard::model`].
#[derive(Clone, Copy, Debug)]
pub struct ShardModel<'a, M> {
    shard: &'a Shard,
    model: &'a M,
}

impl<M: ConditionOn<X>, X> ConditionOn<X> for ShardModel<'_, M> {
    type Target = Subposterior<M::Target>;

    fn condition_on(&self, data: &X) -> Self::Target {
        self.shard.target(self.model.condition_on(data))
    }
}
