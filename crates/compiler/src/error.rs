//! The error type of the compiler.

/// A [`std::result::Result`] with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// An error that prevents the compilation of a graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The shapes of the inputs are incompatible.
    #[error("the shapes of {what} do not fit: {found}")]
    Shape {
        /// The operation.
        what: &'static str,
        /// A description of the shapes.
        found: String,
    },
    /// The value of an observation depends on other observations.
    #[error("the value of one row depends on other rows")]
    MixedRows,
    /// The operation has no known derivative.
    #[error("the gradient of {operation} is not known")]
    NoGradient {
        /// The operation.
        operation: String,
    },
    /// The executor does not support the operation in this form.
    #[error("{operation} is not supported")]
    Unsupported {
        /// The operation.
        operation: String,
    },
}

impl Error {
    pub(crate) fn shape(what: &'static str, found: String) -> Self {
        Self::Shape { what, found }
    }
}
