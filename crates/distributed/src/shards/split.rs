//! Divisions of a data set: see [`Shards`].

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use sgmcmc_fit::{ShardInfo, Tempering};
use sgmcmc_gradient::data::Column;
use sgmcmc_gradient::rng::StreamRng;

use super::{Error, Result, Shard};

/// A division of the observations of a data set into S shards.
///
/// [`run`](Self::run) samples from the subposterior of every shard. The division is a function of its arguments, so that
/// several machines can each run some of the shards, see [`shard`](Self::shard).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::shards::Shards;
///
/// let shards = Shards::random(1000, 8, 7)?;
/// assert_eq!((shards.len(), shards.shard(3).unwrap().observations()), (8, 125));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shards {
    observations: usize,
    /// The indices of the observations of each shard, in ascending order.
    rows: Vec<Arc<[usize]>>,
    tempering: Tempering,
}

impl Shards {
    /// Divides the observations at random into shards of equal size, up to one observation.
    ///
    /// # Errors
    ///
    /// Returns an error if `shards` is 0 or larger than `observations`.
    pub fn random(observations: usize, shards: usize, seed: u64) -> Result<Self> {
        check_count(observations, shards)?;
        let mut order: Vec<usize> = (0..observations).collect();
        order.shuffle(&mut StreamRng::seed_from_u64(seed));
        Ok(Self::deal(&order, shards))
    }

    /// Divides the observations at random so that each label is spread evenly over the shards: its counts in two shards
    /// differ by at most one, and so do the sizes of the shards.
    ///
    /// # Errors
    ///
    /// Returns an error if `shards` is 0 or larger than the number of labels.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributed::shards::Shards;
    ///
    /// let labels = ["rare", "common", "common", "rare", "common", "common"];
    /// let shards = Shards::stratified(&labels, 2, 7)?;
    /// let rare = |shard: usize| shards.shard(shard).unwrap().rows().iter().filter(|row| labels[**row] == "rare").count();
    /// assert_eq!((rare(0), rare(1)), (1, 1));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn stratified<L: Eq + Hash>(labels: &[L], shards: usize, seed: u64) -> Result<Self> {
        check_count(labels.len(), shards)?;
        let mut strata: Vec<Vec<usize>> = Vec::new();
        let mut known: HashMap<&L, usize> = HashMap::new();
        for (row, label) in labels.iter().enumerate() {
            let stratum = *known.entry(label).or_insert(strata.len());
            if stratum == strata.len() {
                strata.push(Vec::new());
            }
            strata[stratum].push(row);
        }
        let mut rng = StreamRng::seed_from_u64(seed);
        strata.iter_mut().for_each(|stratum| stratum.shuffle(&mut rng));
        // Consecutive observations of a label go to consecutive shards, across the borders of labels too.
        Ok(Self::deal(&strata.concat(), shards))
    }

    /// Divides the observations like [`stratified`](Self::stratified), with the numbers of `column` as labels.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`stratified`](Self::stratified), and an error if the column has several numbers per
    /// observation.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributed::shards::Shards;
    /// use sgmcmc::prelude::*;
    ///
    /// let columns = Columns::new().leaf("y", vec![0_i64, 1, 1, 0], [4])?;
    /// let shards = Shards::stratified_by(columns.get("y")?, 2, 7)?;
    /// assert_eq!(shards.observations(), 4);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn stratified_by(column: &Column, shards: usize, seed: u64) -> Result<Self> {
        if column.width() != 1 {
            return Err(Error::Labels { column: column.name().into(), width: column.width() });
        }
        let labels: Vec<u64> = column.numbers().map(|label| (label + 0.0).to_bits()).collect();
        Self::stratified(&labels, shards, seed)
    }

    /// Divides the observations into consecutive blocks of equal size, up to one observation.
    ///
    /// A shard of consecutive observations is the fastest to read. It is a good division only if the order of the data
    /// carries no information.
    ///
    /// # Errors
    ///
    /// Returns an error if `shards` is 0 or larger than `observations`.
    pub fn consecutive(observations: usize, shards: usize) -> Result<Self> {
        check_count(observations, shards)?;
        let start = |shard: usize| (shard as u128 * observations as u128 / shards as u128) as usize;
        let rows = (0..shards).map(|shard| (start(shard)..start(shard + 1)).collect()).collect();
        Ok(Self { observations, rows, tempering: Tempering::default() })
    }

    /// Divides the observations as given, with the indices of the observations of each shard.
    ///
    /// # Errors
    ///
    /// Returns an error if a shard is empty, or if an observation is not in exactly one shard.
    pub fn from_rows(observations: usize, rows: Vec<Vec<usize>>) -> Result<Self> {
        check_count(observations, rows.len())?;
        let mut owner = vec![None; observations];
        for (shard, rows) in rows.iter().enumerate() {
            if rows.is_empty() {
                return Err(Error::Empty { shard });
            }
            for observation in rows.iter().copied() {
                match owner.get_mut(observation) {
                    None => return Err(Error::OutOfRange { shard, observation, observations }),
                    Some(Some(one)) => return Err(Error::Repeated { observation, one: *one, other: shard }),
                    Some(free) => *free = Some(shard),
                }
            }
        }
        if let Some(observation) = owner.iter().position(Option::is_none) {
            let count = owner.iter().filter(|owner| owner.is_none()).count();
            return Err(Error::Missing { observation, count });
        }
        Ok(Self { observations, rows: rows.into_iter().map(sorted).collect(), tempering: Tempering::default() })
    }

    /// Sets the powers of prior and likelihood in the subposteriors. The default is [`Tempering::FractionalPrior`].
    #[must_use]
    pub fn tempering(self, tempering: Tempering) -> Self {
        Self { tempering, ..self }
    }

    /// Returns the number S of shards.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns `false`: there is at least one shard.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the number of observations of all shards.
    pub fn observations(&self) -> usize {
        self.observations
    }

    /// Returns the shard with this index, or `None` if there is none.
    pub fn shard(&self, index: usize) -> Option<Shard> {
        let (count, observations, tempering) = (self.len(), self.observations, self.tempering);
        let rows = self.rows.get(index)?.clone();
        Some(Shard::new(ShardInfo { index, count, observations, tempering }, rows, observations))
    }

    /// Returns an iterator over the shards.
    pub fn iter(&self) -> impl Iterator<Item = Shard> + '_ {
        (0..self.len()).filter_map(|index| self.shard(index))
    }

    /// Deals the observations in `order` to the shards in turn.
    fn deal(order: &[usize], shards: usize) -> Self {
        let of = |shard: usize| sorted(order.iter().skip(shard).step_by(shards).copied().collect());
        Self { observations: order.len(), rows: (0..shards).map(of).collect(), tempering: Tempering::default() }
    }
}

/// Returns an error if a division into `shards` non-empty shards does not exist.
fn check_count(observations: usize, shards: usize) -> Result<()> {
    if shards == 0 || shards > observations { Err(Error::Count { observations, shards }) } else { Ok(()) }
}

fn sorted(mut rows: Vec<usize>) -> Arc<[usize]> {
    rows.sort_unstable();
    rows.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(shards: &Shards, has: impl Fn(usize) -> bool) -> Vec<usize> {
        shards.iter().map(|shard| shard.rows().iter().filter(|row| has(**row)).count()).collect()
    }

    #[test]
    fn every_observation_is_in_one_shard() {
        let labels: Vec<usize> = (0..103).map(|row| row % 5 / 2).collect();
        for shards in [
            Shards::random(103, 8, 1).unwrap(),
            Shards::consecutive(103, 8).unwrap(),
            Shards::stratified(&labels, 8, 1).unwrap(),
        ] {
            let mut all: Vec<usize> = shards.iter().flat_map(|shard| shard.rows().to_vec()).collect();
            all.sort_unstable();
            assert_eq!(all, (0..103).collect::<Vec<_>>());
            let sizes = counts(&shards, |_| true);
            assert!(sizes.iter().all(|size| [12, 13].contains(size)), "{sizes:?}");
        }
        assert_ne!(Shards::random(103, 8, 1), Shards::random(103, 8, 2));
    }

    #[test]
    fn labels_are_spread_evenly() {
        let labels: Vec<usize> = (0..103).map(|row| row % 5 / 2).collect();
        let shards = Shards::stratified(&labels, 8, 1).unwrap();
        for label in 0..3 {
            let counts = counts(&shards, |row| labels[row] == label);
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(most - least <= 1, "{label}: {counts:?}");
        }
    }

    #[test]
    fn divisions_are_checked() {
        assert_eq!(Shards::random(3, 4, 0), Err(Error::Count { observations: 3, shards: 4 }));
        assert_eq!(Shards::from_rows(2, vec![]), Err(Error::Count { observations: 2, shards: 0 }));
        assert_eq!(Shards::from_rows(2, vec![vec![0, 1], vec![]]), Err(Error::Empty { shard: 1 }));
        assert_eq!(Shards::from_rows(3, vec![vec![0], vec![1]]), Err(Error::Missing { observation: 2, count: 1 }));
        let outside = Error::OutOfRange { shard: 1, observation: 5, observations: 2 };
        assert_eq!(Shards::from_rows(2, vec![vec![0], vec![5]]), Err(outside));
        assert_eq!(Shards::from_rows(2, vec![vec![1], vec![0]]).unwrap().shard(0).unwrap().rows(), [1]);
    }
}
