//! What can go wrong.

/// What can go wrong with a matrix.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A matrix has no Cholesky factor.
    #[error(
        "the matrix is not positive definite: the pivot of row {row} is {pivot:e}, but it must be positive; add to its diagonal"
    )]
    NotPositiveDefinite {
        /// The first row with a pivot that is not positive, from 0.
        row: usize,
        /// That pivot.
        pivot: f64,
    },
    /// A matrix does not have as many numbers as its size says.
    #[error("a square matrix of {dim} rows has {expected} numbers, but {found} were given")]
    Length {
        /// The number of rows.
        dim: usize,
        /// The square of it.
        expected: usize,
        /// How many numbers there are.
        found: usize,
    },
}
