//! Errors of the diagnostics.

/// An error in the arguments of a diagnostic.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::{Error, ksd::Points};
///
/// let error = Points::new(&[1.0, 2.0], &[0.5], 1).unwrap_err();
/// assert!(matches!(error, Error::Length { found: 1, expected: 2, .. }));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A slice does not have the expected length.
    #[error("{what} has {found} numbers, expected {expected}: give one for each {per}")]
    Length {
        /// The name of the slice.
        what: &'static str,
        /// The number of elements.
        found: usize,
        /// The expected number of elements.
        expected: usize,
        /// The item that needs one element each.
        per: &'static str,
    },
    /// There are too few draws.
    #[error("{what} has {found} draws, at least {least} are needed: sample longer or thin less")]
    TooFew {
        /// The name of the sample.
        what: &'static str,
        /// The number of draws.
        found: usize,
        /// The smallest number of draws.
        least: usize,
    },
    /// A number is NaN or infinite.
    #[error(
        "{what} has a value that is not finite at draw {row}, column {column}: leave such draws out or start after them"
    )]
    NotFinite {
        /// The name of the slice.
        what: &'static str,
        /// The index of the draw.
        row: usize,
        /// The index of the column.
        column: usize,
    },
    /// A column index is out of range.
    #[error("column {column} was requested, but a draw has {width}: count from 0")]
    Column {
        /// The index of the column.
        column: usize,
        /// The number of columns.
        width: usize,
    },
    /// A setting is out of its range.
    #[error("{what} is {found}, expected {expected}")]
    Setting {
        /// The name of the setting.
        what: &'static str,
        /// Its value.
        found: f64,
        /// The valid values.
        expected: &'static str,
    },
    /// A covariance is not positive definite.
    #[error(
        "the covariance is not positive definite at row {row}: leave out parameters that are combinations of others"
    )]
    NotPositiveDefinite {
        /// The index of the first row that depends on the rows above it.
        row: usize,
    },
    /// All weights are zero, or a weight is negative or not finite.
    #[error("the weight of draw {row} is {found}, expected a number ≥ 0, and not all zero")]
    Weight {
        /// The index of the draw.
        row: usize,
        /// The weight of the draw.
        found: f64,
    },
}

impl From<sgmcmc_numerics::Error> for Error {
    fn from(error: sgmcmc_numerics::Error) -> Self {
        match error {
            sgmcmc_numerics::Error::NotPositiveDefinite { row, .. } => Self::NotPositiveDefinite { row },
            sgmcmc_numerics::Error::Length { expected, found, .. } => {
                Self::Length { what: "the covariance", found, expected, per: "pair of parameters" }
            }
            _ => Self::NotPositiveDefinite { row: 0 },
        }
    }
}

/// Checks that `values` consists of rows of `width` finite numbers. Returns the number of rows.
pub(crate) fn rows(what: &'static str, values: &[f64], width: usize) -> Result<usize, Error> {
    if width == 0 || !values.len().is_multiple_of(width) {
        let expected = values.len().div_ceil(width.max(1)) * width.max(1);
        return Err(Error::Length { what, found: values.len(), expected, per: "column of every draw" });
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(Error::NotFinite { what, row: index / width, column: index % width }),
        None => Ok(values.len() / width),
    }
}

/// Checks that there are `n` valid weights.
pub(crate) fn weights(weights: &[f64], n: usize) -> Result<(), Error> {
    if weights.len() != n {
        return Err(Error::Length { what: "weights", found: weights.len(), expected: n, per: "draw" });
    }
    if let Some(row) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        return Err(Error::Weight { row, found: weights[row] });
    }
    if weights.iter().all(|w| *w <= 0.0) {
        return Err(Error::Weight { row: 0, found: 0.0 });
    }
    Ok(())
}
