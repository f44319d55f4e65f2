//! One error for programs.

/// The result of a program that uses this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Any error of this library. The errors of all parts convert to it, so that `?` works in one function for all of them.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// fn open() -> sgmcmc::Result<Fit> {
///     Ok(Fit::open("no such file.sgmcmc")?)
/// }
/// assert!(matches!(open(), Err(sgmcmc::Error::Storage(_))));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of a model, a gradient, a setting or a run.
    #[error(transparent)]
    Run(#[from] sgmcmc_gradient::Error),
    /// An error of a file.
    #[error(transparent)]
    Storage(#[from] sgmcmc_storage::Error),
    /// An error of a diagnostic.
    #[error(transparent)]
    Diagnostics(#[from] sgmcmc_diagnostics::Error),
    /// An error of a matrix operation.
    #[error(transparent)]
    Numerics(#[from] sgmcmc_numerics::Error),
    /// An error of shards.
    #[cfg(feature = "distributed")]
    #[error(transparent)]
    Shards(#[from] sgmcmc_distributed::shards::Error),
    /// A combination of subposteriors.
    #[cfg(feature = "distributed")]
    #[error(transparent)]
    Combine(#[from] sgmcmc_distributed::combine::Error),
    /// An error of a run on several ranks.
    #[cfg(feature = "distributed")]
    #[error(transparent)]
    Distributed(#[from] sgmcmc_distributed::collective::Error),
    /// A plot or a report.
    #[cfg(feature = "report")]
    #[error(transparent)]
    Report(#[from] sgmcmc_report::Error),
    /// Another I/O error.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
