//! Observed entries of a matrix.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Error, Fingerprint, Result, settings};

/// One entry of a matrix. Rows and columns count from 0.
///
/// # Examples
///
/// See [`Entries`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The row, such as the index of a user.
    pub row: usize,
    /// The column, such as the index of a film.
    pub column: usize,
    /// The value, such as a rating.
    pub value: f64,
}

/// The observed entries of a matrix, in any order.
///
/// An entry that is given twice counts as two measurements.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::factorization::{Entries, Entry};
///
/// let entries = Entries::new(2, 3, [Entry { row: 0, column: 2, value: 4.0 }, Entry { row: 1, column: 0, value: 5.0 }])?;
/// assert_eq!((entries.len(), entries.mean()), (2, 4.5));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Entries {
    rows: usize,
    columns: usize,
    row: Vec<u32>,
    column: Vec<u32>,
    value: Vec<f64>,
}

impl Entries {
    /// Creates the entries of a matrix with `rows` rows and `columns` columns.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no entry, if an index is out of range, or if a value is not finite.
    pub fn new(rows: usize, columns: usize, entries: impl IntoIterator<Item = Entry>) -> Result<Self> {
        let limit = u32::MAX as usize;
        settings::within("the number of rows", rows, 1..=limit, "it must be at least 1 and fit in 32 bits")?;
        settings::within("the number of columns", columns, 1..=limit, "it must be at least 1 and fit in 32 bits")?;
        let mut all = Self { rows, columns, row: Vec::new(), column: Vec::new(), value: Vec::new() };
        for (index, entry) in entries.into_iter().enumerate() {
            let Entry { row, column, value } = entry;
            settings::within("the row of an entry", row, 0..rows, "it must be less than the number of rows")?;
            settings::within(
                "the column of an entry",
                column,
                0..columns,
                "it must be less than the number of columns",
            )?;
            if !value.is_finite() {
                return Err(Error::DataNotFinite { leaf: "entries".into(), position: format!("entry {index}"), value });
            }
            all.row.push(row as u32);
            all.column.push(column as u32);
            all.value.push(value);
        }
        if all.is_empty() {
            return Err(Error::EmptyDataset { reason: "the matrix has no observed entry".into() });
        }
        settings::at_least("the largest number of entries", limit, all.len(), "split the entries")?;
        Ok(all)
    }

    /// Creates the entries of a completely observed matrix from its values in row-major order.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of values is not rows × columns, or if a value is not finite.
    pub fn dense(rows: usize, columns: usize, values: &[f64]) -> Result<Self> {
        let expected = rows.saturating_mul(columns);
        if values.len() != expected {
            return Err(Error::ArrayShape { values: values.len(), shape: vec![rows, columns], expected });
        }
        let entry =
            |(index, value): (usize, &f64)| Entry { row: index / columns, column: index % columns, value: *value };
        Self::new(rows, columns, values.iter().enumerate().map(entry))
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.value.len()
    }

    /// Returns `false`: there is at least one entry.
    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }

    /// Returns the number of rows of the matrix.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns of the matrix.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the values.
    pub fn values(&self) -> &[f64] {
        &self.value
    }

    /// Returns the mean of the values.
    pub fn mean(&self) -> f64 {
        self.value.iter().sum::<f64>() / self.len() as f64
    }

    /// Returns the entry at `index`.
    ///
    /// # Panics
    ///
    /// Panics if `index` is not less than the number of entries.
    #[inline]
    pub fn entry(&self, index: usize) -> Entry {
        Entry { row: self.row[index] as usize, column: self.column[index] as usize, value: self.value[index] }
    }

    /// Returns an iterator over the entries.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Entry> + '_ {
        (0..self.len()).map(|index| self.entry(index))
    }

    /// Splits the entries at random: the first part has the share `fraction` of the entries.
    ///
    /// # Errors
    ///
    /// Returns an error if a part would be empty.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::models::factorization::Entries;
    ///
    /// let entries = Entries::dense(2, 5, &[1.0; 10])?;
    /// let (train, test) = entries.split(0.8, 1)?;
    /// assert_eq!((train.len(), test.len()), (8, 2));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn split(&self, fraction: f64, seed: u64) -> Result<(Self, Self)> {
        settings::probability("the fraction of a split", fraction)?;
        let first = (fraction * self.len() as f64).round() as usize;
        if first == 0 || first >= self.len() {
            return Err(Error::Split { requested: fraction.to_string(), observations: self.len() });
        }
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.shuffle(&mut StreamRng::seed_from_u64(seed));
        Ok((self.part(&order[..first]), self.part(&order[first..])))
    }

    /// Returns the entries with the indices `order`.
    fn part(&self, order: &[usize]) -> Self {
        Self {
            rows: self.rows,
            columns: self.columns,
            row: order.iter().map(|index| self.row[*index]).collect(),
            column: order.iter().map(|index| self.column[*index]).collect(),
            value: order.iter().map(|index| self.value[*index]).collect(),
        }
    }

    /// Simulates ratings from 1 to 5 of the shape of a film database: entries of a factorization of rank `rank` with
    /// biases, at random places, rounded to whole numbers.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no rows, columns or ratings.
    pub fn simulate_ratings(rows: usize, columns: usize, ratings: usize, rank: usize, seed: u64) -> Result<Self> {
        let mut rng = StreamRng::seed_from_u64(seed);
        let mut normals = |count: usize, sd: f64| -> Vec<f64> {
            (0..count).map(|_| sd * rng.sample::<f64, _>(rand_distr::StandardNormal)).collect()
        };
        let (u, v) = (normals(rows * rank, 0.6), normals(columns * rank, 0.6));
        let (a, b) = (normals(rows, 0.4), normals(columns, 0.5));
        let noise = normals(ratings, 0.8);
        let entries = noise.into_iter().map(|noise| {
            let (row, column) = (rng.random_range(0..rows.max(1)), rng.random_range(0..columns.max(1)));
            let product: f64 = (0..rank).map(|k| u[row * rank + k] * v[column * rank + k]).sum();
            Entry { row, column, value: (3.5 + a[row] + b[column] + product + noise).round().clamp(1.0, 5.0) }
        });
        if rows == 0 || columns == 0 {
            return Err(Error::EmptyDataset { reason: "the matrix has no row or no column".into() });
        }
        Self::new(rows, columns, entries.collect::<Vec<_>>())
    }

    /// Checks that a matrix has the same numbers of rows and columns.
    pub(super) fn check_same_shape(&self, rows: usize, columns: usize) -> Result<()> {
        if (self.rows, self.columns) == (rows, columns) {
            return Ok(());
        }
        Err(Error::ArrayShape { values: self.len(), shape: vec![self.rows, self.columns], expected: rows * columns })
    }

    /// Returns a fingerprint of the entries.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hasher = Fingerprinter::new();
        [self.rows, self.columns].iter().for_each(|size| hasher.word(*size as u64));
        self.row.iter().chain(&self.column).for_each(|index| hasher.word(u64::from(*index)));
        hasher.numbers(&self.value);
        hasher.finish()
    }

    /// Returns the entries of each row.
    pub(super) fn by_row(&self) -> Incidence {
        Incidence::new(self.rows, &self.row)
    }

    /// Returns the entries of each column.
    pub(super) fn by_column(&self) -> Incidence {
        Incidence::new(self.columns, &self.column)
    }

    /// Replaces the values.
    #[cfg(test)]
    pub(super) fn set_values(&mut self, values: &[f64]) {
        self.value.copy_from_slice(values);
    }
}

/// The indices of the entries of each row, or of each column.
#[derive(Clone, Debug)]
pub(super) struct Incidence {
    offsets: Vec<usize>,
    entries: Vec<u32>,
}

impl Incidence {
    /// Sorts the entries by `line`, the row or the column of each entry.
    fn new(count: usize, line: &[u32]) -> Self {
        let mut offsets = vec![0; count + 1];
        line.iter().for_each(|line| offsets[*line as usize + 1] += 1);
        (0..count).for_each(|line| offsets[line + 1] += offsets[line]);
        let (mut next, mut entries) = (offsets.clone(), vec![0; line.len()]);
        for (index, line) in line.iter().enumerate() {
            entries[next[*line as usize]] = index as u32;
            next[*line as usize] += 1;
        }
        Self { offsets, entries }
    }

    /// Returns the indices of the entries of row or column `line`.
    pub(super) fn of(&self, line: usize) -> &[u32] {
        &self.entries[self.offsets[line]..self.offsets[line + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incidence_lists_every_entry_once() {
        let entries = Entries::simulate_ratings(5, 7, 60, 2, 1).unwrap();
        let by_row = entries.by_row();
        let mut seen = vec![0; entries.len()];
        for row in 0..5 {
            for index in by_row.of(row) {
                assert_eq!(entries.entry(*index as usize).row, row);
                seen[*index as usize] += 1;
            }
        }
        assert!(seen.iter().all(|count| *count == 1));
    }

    #[test]
    fn wrong_entries_are_errors() {
        let entry = |row, column, value| Entries::new(2, 2, [Entry { row, column, value }]);
        assert!(entry(2, 0, 1.0).unwrap_err().to_string().contains("the row of an entry is 2"));
        assert!(entry(0, 3, 1.0).unwrap_err().to_string().contains("the column of an entry is 3"));
        assert!(entry(0, 0, f64::NAN).is_err());
        assert!(Entries::new(2, 2, []).is_err());
        assert!(Entries::dense(2, 2, &[1.0; 3]).is_err());
        assert!(Entries::dense(2, 2, &[1.0; 4]).unwrap().split(0.01, 1).is_err());
    }
}
