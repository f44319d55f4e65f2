//! The error type of this crate. Each message names the cause and the remedy.

mod batch_size;
mod closure;
mod format;
mod variants;

pub use batch_size::BatchSizeError;
pub use closure::Closure;
pub use variants::Error;

/// The result of every fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
