//! Subsets of a data set. A subset has the same observations in every leaf.

use rand::SeedableRng;
use rand::seq::SliceRandom;

use sgmcmc_gradient::data::Rows;
use sgmcmc_gradient::minibatch::BatchSize;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Error, Result};

use super::Dataset;
use crate::tree::TensorTree;

impl<D: TensorTree> Dataset<D> {
    /// Copies the selected observations to a new data set. The weights of `rows` are ignored.
    ///
    /// # Errors
    ///
    /// Returns an error if no observation is selected, or if a selected observation does not exist.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::data::Rows;
    /// use sgmcmc::prelude::*;
    ///
    /// let data = Columns::new().leaf("y", vec![5_i64, 6, 7, 8], [4])?.into_dataset()?;
    /// assert_eq!(data.take(Rows::range(0..3))?.observations(), 3);
    /// assert_eq!(data.take(Rows::list(&[3, 0]))?.columns()[0].values(), &vec![8_i64, 5].into());
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn take(&self, rows: Rows<'_>) -> Result<Self> {
        rows.check(self.observations)?;
        if rows.is_empty() {
            return Err(Error::EmptyDataset { reason: "no row was selected".into() });
        }
        let columns = self.columns.iter().map(|column| column.take(rows)).collect();
        Ok(Self::assemble(columns, &*self.template, rows.len()))
    }

    /// Returns these observations in a random order that is a function of `seed`.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let data = Columns::new().leaf("y", vec![5_i64, 6, 7, 8], [4])?.into_dataset()?;
    /// assert_eq!(data.shuffle(3).columns()[0].values(), data.shuffle(3).columns()[0].values());
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    #[must_use]
    pub fn shuffle(&self, seed: u64) -> Self {
        let order = permutation(self.observations, seed);
        let rows = Rows::list(&order);
        let columns = self.columns.iter().map(|column| column.take(rows)).collect();
        Self::assemble(columns, &*self.template, self.observations)
    }

    /// Splits the observations at random into two data sets. The first has `first` observations: an integer is a count,
    /// a float is a proportion.
    ///
    /// The split is a function of `seed`. Both data sets keep the order of the observations.
    ///
    /// # Errors
    ///
    /// Returns an error if one of the data sets would be empty.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let data = Columns::new().leaf("y", (0..10).collect::<Vec<i64>>(), [10])?.into_dataset()?;
    /// let (train, test) = data.split(0.8, 13)?;
    /// assert_eq!((train.observations(), test.observations()), (8, 2));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn split(&self, first: impl Into<BatchSize>, seed: u64) -> Result<(Self, Self)> {
        let n = self.observations;
        let size = first_size(first.into(), n)?;
        let mut order = permutation(n, seed);
        let (first, second) = order.split_at_mut(size);
        first.sort_unstable();
        second.sort_unstable();
        Ok((self.take(Rows::list(first))?, self.take(Rows::list(second))?))
    }
}

/// Returns a random permutation of 0, …, n − 1.
fn permutation(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut StreamRng::seed_from_u64(seed));
    order
}

/// Returns the number of observations in the first data set of a split.
fn first_size(size: BatchSize, observations: usize) -> Result<usize> {
    let (count, requested) = match size {
        BatchSize::Count(count) => (usize::try_from(count).ok(), count.to_string()),
        BatchSize::Proportion(share) => {
            let inside = share > 0.0 && share < 1.0;
            (inside.then(|| (share * observations as f64).round() as usize), format!("a proportion of {share}"))
        }
    };
    match count {
        Some(count) if count > 0 && count < observations => Ok(count),
        _ => Err(Error::Split { requested, observations }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::IntoDataset;
    use crate::tree::Named;
    use sgmcmc_gradient::data::{Columns, Values};

    fn data() -> Dataset<Named> {
        let x: Vec<f64> = (0..40).map(f64::from).collect();
        let columns = Columns::new().leaf("x", x, [20, 2]).unwrap();
        columns.leaf("row", (0..20).collect::<Vec<i64>>(), [20]).unwrap().into_dataset().unwrap()
    }

    fn rows_of(data: &Dataset<Named>) -> Vec<i64> {
        match (data.columns()[0].values(), data.columns()[1].values()) {
            (Values::F64(x), Values::I64(rows)) => {
                // Both leaves have the same observations: observation i of `x` is [2i, 2i + 1].
                let expected: Vec<f64> =
                    rows.iter().flat_map(|row| [*row as f64 * 2.0, *row as f64 * 2.0 + 1.0]).collect();
                assert_eq!(x.to_vec(), expected);
                rows.to_vec()
            }
            _ => unreachable!("the leaves keep their types"),
        }
    }

    #[test]
    fn a_split_is_a_partition_and_a_function_of_the_seed() {
        let (first, second) = data().split(0.75, 1).unwrap();
        let (mut all, rest) = (rows_of(&first), rows_of(&second));
        assert_eq!((all.len(), rest.len()), (15, 5));
        assert!(all.is_sorted() && rest.is_sorted());
        all.extend(rest);
        all.sort_unstable();
        assert_eq!(all, (0..20).collect::<Vec<_>>());
        assert_eq!(rows_of(&data().split(15, 1).unwrap().0), rows_of(&first));
        assert_ne!(rows_of(&data().split(15, 2).unwrap().0), rows_of(&first));
    }

    #[test]
    fn empty_subsets_are_rejected() {
        for (size, word) in [(BatchSize::from(0), "0"), (20.into(), "20"), (25.into(), "25"), ((-1).into(), "-1")] {
            let message = data().split(size, 1).unwrap_err().to_string();
            assert!(message.contains(word) && message.contains("20 observations"), "{message}");
        }
        for share in [0.0, 1.0, 1.5, 0.01, f64::NAN] {
            assert!(data().split(share, 1).unwrap_err().to_string().contains("proportion"), "{share}");
        }
        assert!(data().take(Rows::list(&[])).unwrap_err().to_string().contains("no row was selected"));
        assert!(data().take(Rows::list(&[20])).unwrap_err().to_string().contains("row 20"));
    }

    #[test]
    fn a_shuffle_is_a_permutation() {
        let shuffled = rows_of(&data().shuffle(3));
        assert_ne!(shuffled, (0..20).collect::<Vec<_>>());
        assert_eq!(shuffled, rows_of(&data().shuffle(3)));
        let mut sorted = shuffled;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
    }
}
