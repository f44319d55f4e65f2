//! Observations that are counts of categories.

use sgmcmc_gradient::data::Column;
use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_gradient::{Error, Result};

use super::Observations;

/// Counts of categories, stored without the zeros: one observation is a bag of categories with repetitions, such as the
/// areas of a web site that a user visits.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::{Counts, Observations};
///
/// // Two observations of five categories: {0, 0, 3} and {4}.
/// let counts = Counts::new(5, [vec![(0, 2), (3, 1)], vec![(4, 1)]])?;
/// assert_eq!((counts.observations(), counts.categories()), (2, 5));
/// assert!(Counts::new(5, [vec![(5, 1)]]).is_err());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    categories: usize,
    /// The start of every observation in `entries`, and the end of the last.
    starts: Vec<usize>,
    entries: Vec<Entry>,
}

/// A category and its number of occurrences in an observation.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    category: u32,
    count: f64,
}

impl Counts {
    /// Creates the observations of `categories` categories from pairs of a category, which counts from 0, and its
    /// number of occurrences. Repeated categories of an observation are added.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no observation or if a category is too large.
    pub fn new<R>(categories: usize, rows: impl IntoIterator<Item = R>) -> Result<Self>
    where
        R: IntoIterator<Item = (usize, u32)>,
    {
        let (mut starts, mut entries) = (vec![0], Vec::new());
        for (index, row) in rows.into_iter().enumerate() {
            for (category, count) in row {
                match u32::try_from(category) {
                    Ok(narrow) if category < categories => {
                        entries.push(Entry { category: narrow, count: f64::from(count) });
                    }
                    _ => {
                        return Err(Error::DataOutsideSupport {
                            leaf: "the counts".into(),
                            position: format!("observation {index}"),
                            value: category as f64,
                            distribution: "Multinomial",
                            support: format!("categories below {categories}").into(),
                        });
                    }
                }
            }
            starts.push(entries.len());
        }
        if starts.len() == 1 {
            return Err(Error::EmptyDataset { reason: "there is no observation".into() });
        }
        Ok(Self { categories, starts, entries })
    }

    /// Creates the observations from a column with one count per category, such as
    /// `datasets::msweb(dir)?.train.columns()[0]`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no observation, or if a count is negative or not an integer.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::data::Column;
    /// use sgmcmc::models::mixture::{Counts, Observations};
    ///
    /// let visits = Column::new("visits", vec![1.0_f32, 0.0, 0.0, 2.0, 0.0, 1.0], [3])?;
    /// let counts = Counts::from_column(&visits)?;
    /// assert_eq!((counts.observations(), counts.categories()), (2, 3));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn from_column(column: &Column) -> Result<Self> {
        column.check_readable()?;
        let width = column.width().max(1);
        let mut rows: Vec<Vec<(usize, u32)>> = vec![Vec::new(); column.observations()];
        for (index, count) in column.numbers().enumerate() {
            if !(count >= 0.0 && count <= f64::from(u32::MAX) && count.fract() == 0.0) {
                return Err(Error::DataOutsideSupport {
                    leaf: format!("data leaf `{}`", column.name()),
                    position: column.position(index),
                    value: count,
                    distribution: "Multinomial",
                    support: "integers that are not negative".into(),
                });
            }
            if count > 0.0 {
                rows[index / width].push((index % width, count as u32));
            }
        }
        Self::new(width, rows)
    }

    /// Returns the number of categories.
    pub fn categories(&self) -> usize {
        self.categories
    }

    /// Returns the categories of an observation and their counts.
    pub(crate) fn row(&self, index: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let entries = &self.entries[self.starts[index]..self.starts[index + 1]];
        entries.iter().map(|entry| (entry.category as usize, entry.count))
    }
}

impl Observations for Counts {
    fn observations(&self) -> usize {
        self.starts.len() - 1
    }

    fn fingerprint(&self, hasher: &mut Fingerprinter) {
        hasher.word(self.categories as u64);
        self.starts.iter().for_each(|start| hasher.word(*start as u64));
        for entry in &self.entries {
            hasher.word(u64::from(entry.category));
            hasher.word(entry.count.to_bits());
        }
    }
}
