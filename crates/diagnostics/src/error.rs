//! What can be wrong with tables of draws.

/// Why a table of draws says nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A slice does not have the length its partner asks for.
    #[error("{what} has {found} numbers, expected {expected}: give one for each {per}")]
    Length {
        /// Which slice.
        what: &'static str,
        /// How many it has.
        found: usize,
        /// How many it should have.
        expected: usize,
        /// What each number belongs to.
        per: &'static str,
    },
    /// There are too few draws.
    #[error("{what} has {found} draws, at least {least} are needed: sample longer or thin less")]
    TooFew {
        /// Which sample.
        what: &'static str,
        /// How many it has.
        found: usize,
        /// How many are needed.
        least: usize,
    },
    /// A number is NaN or infinite.
    #[error(
        "{what} has a value that is not finite at draw {row}, column {column}: leave such draws out or start after them"
    )]
    NotFinite {
        /// Which slice.
        what: &'static str,
        /// The draw.
        row: usize,
        /// The column.
        column: usize,
    },
    /// A column that is not there was asked for.
    #[error("column {column} was asked for, but a draw has {width}: count from 0")]
    Column {
        /// The column.
        column: usize,
        /// How many there are.
        width: usize,
    },
    /// A setting is out of its range.
    #[error("{what} is {found}, expected {expected}")]
    Setting {
        /// Which setting.
        what: &'static str,
        /// Its value.
        found: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// A covariance is not positive definite.
    #[error(
        "the covariance is not positive definite at row {row}: leave out parameters that are combinations of others"
    )]
    NotPositiveDefinite {
        /// The first row that depends on those above it.
        row: usize,
    },
    /// All weights are zero, or one is negative or not finite.
    #[error("the weight of draw {row} is {found}, expected a number ≥ 0, and not all zero")]
    Weight {
        /// The draw.
        row: usize,
        /// Its weight.
        found: f64,
    },
}

/// Checks that `values` has rows of `width` finite numbers, and gives how many.
pub(crate) fn rows(what: &'static str, values: &[f64], width: usize) -> Result<usize, Error> {
    if width == 0 || !values.len().is_multiple_of(width) {
        let expected = values.len().div_ceil(width.max(1)) * width.max(1);
        return Err(Error::Length { what, found: values.len(), expected, per: "column of every draw" });
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(place) => Err(Error::NotFinite { what, row: place / width, column: place % width }),
        None => Ok(values.len() / width),
    }
}

/// Checks that there is a weight for each of `n` draws.
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
