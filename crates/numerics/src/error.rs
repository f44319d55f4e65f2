//! Errors of matrix operations.

/// An error of a matrix operation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The matrix is not positive definite and has no Cholesky factor.
    #[error(
        "the matrix is not positive definite: the pivot of row {row} is {pivot:e}, but it must be positive; add to its diagonal"
    )]
    NotPositiveDefinite {
        /// The index of the first row whose pivot is not positive.
        row: usize,
        /// The pivot of that row.
        pivot: f64,
    },
    /// The number of entries is not the square of the number of rows.
    #[error("a square matrix of {dim} rows has {expected} numbers, but {found} were given")]
    Length {
        /// The number of rows.
        dim: usize,
        /// The square of the number of rows.
        expected: usize,
        /// The number of entries given.
        found: usize,
    },
}
