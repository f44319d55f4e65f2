//! Why a graph cannot be compiled.

/// A [`std::result::Result`] with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why a graph cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Shapes that do not fit each other.
    #[error("the shapes of {what} do not fit: {found}")]
    Shape {
        /// The operation.
        what: &'static str,
        /// What was found.
        found: String,
    },
    /// A value that depends on several observations at once and is used for each of them.
    #[error("the value of one row depends on other rows")]
    MixedRows,
    /// An operation that has no derivative here.
    #[error("the gradient of {operation} is not known")]
    NoGradient {
        /// The operation.
        operation: String,
    },
    /// An operation the executor does not know in this form.
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
