//! Constant counts.

use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_gradient::{Error, Fingerprint, Result};

use super::statistics::{Observation, Statistics};

/// Counts that are data: categorical or multinomial observations.
///
/// Only counts other than zero are stored.
///
/// # Examples
///
/// ```
/// use sgmcmc::simplex::{Counts, Statistics};
///
/// // Four observations of three categories.
/// let categories = Counts::from_labels(&[0, 2, 2, 1], 3)?;
/// assert_eq!(categories.observations(), 4);
/// // Two multinomial observations, one per row.
/// let words = Counts::from_rows(&[3.0, 0.0, 1.0, 0.0, 5.0, 2.0], 3)?;
/// assert_eq!(words.observations(), 2);
/// assert!(Counts::from_labels(&[3], 3).is_err() && Counts::from_rows(&[-1.0, 2.0], 2).is_err());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    /// The number of counts of an observation.
    width: usize,
    /// The start of every observation in the other two vectors, and their length.
    starts: Vec<usize>,
    columns: Vec<u32>,
    counts: Vec<f64>,
}

impl Counts {
    /// Creates observations of one category each, from 0 to `categories` − 1.
    ///
    /// # Errors
    ///
    /// Returns an error if a label is not below `categories`.
    pub fn from_labels(labels: &[usize], categories: usize) -> Result<Self> {
        let mut counts = Self::empty(categories)?;
        for label in labels {
            if *label >= categories {
                let expected = "labels count from 0 and are below the number of categories";
                return Err(Error::Setting { name: "a label", value: label.to_string(), expected });
            }
            counts.push(*label, 1.0);
            counts.end_observation();
        }
        Ok(counts)
    }

    /// Creates observations with the rows of a matrix as counts, in row-major order with `width` columns.
    ///
    /// # Errors
    ///
    /// Returns an error if a row is incomplete, or if a count is negative or not finite.
    pub fn from_rows(rows: &[f64], width: usize) -> Result<Self> {
        let mut counts = Self::empty(width)?;
        if !rows.len().is_multiple_of(width) {
            let expected = rows.len().div_ceil(width) * width;
            return Err(Error::Length { what: "the matrix of counts", expected, found: rows.len() });
        }
        for row in rows.chunks_exact(width) {
            for (column, count) in row.iter().enumerate() {
                if !(count.is_finite() && *count >= 0.0) {
                    let expected = "counts are zero or positive numbers";
                    return Err(Error::Setting { name: "a count", value: count.to_string(), expected });
                }
                if *count > 0.0 {
                    counts.push(column, *count);
                }
            }
            counts.end_observation();
        }
        Ok(counts)
    }

    /// Creates counts without observations.
    fn empty(width: usize) -> Result<Self> {
        if width == 0 || u32::try_from(width).is_err() {
            let expected = "it must be at least 1 and fit into 32 bits";
            return Err(Error::Setting { name: "the number of categories", value: width.to_string(), expected });
        }
        Ok(Self { width, starts: vec![0], columns: Vec::new(), counts: Vec::new() })
    }

    /// Adds a count to the last observation. `column` is less than the width and thus fits into 32 bits.
    fn push(&mut self, column: usize, count: f64) {
        self.columns.push(column as u32);
        self.counts.push(count);
    }

    fn end_observation(&mut self) {
        self.starts.push(self.columns.len());
    }
}

impl Statistics for Counts {
    fn observations(&self) -> usize {
        self.starts.len() - 1
    }

    fn add(&self, observation: &Observation<'_>, counts: &mut [f64]) {
        let range = self.starts[observation.row]..self.starts[observation.row + 1];
        for (column, count) in self.columns[range.clone()].iter().zip(&self.counts[range]) {
            counts[*column as usize] += observation.weight * count;
        }
    }

    fn width(&self) -> Option<usize> {
        Some(self.width)
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        let mut fingerprint = Fingerprinter::new();
        fingerprint.word(self.width as u64);
        self.starts.iter().for_each(|start| fingerprint.word(*start as u64));
        self.columns.iter().for_each(|column| fingerprint.word(u64::from(*column)));
        fingerprint.numbers(&self.counts);
        Some(fingerprint.finish())
    }
}
