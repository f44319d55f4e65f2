//! Memory limits of readers.
//!
//! Every reader limits the memory for the content of a file, with or without compression. The default is 2 GiB. A file
//! that needs more is an error, which is returned before the memory is allocated. The limit counts the numbers that are
//! kept. Copies during reading can take about twice as much. A line of a text file may take an eighth of the limit.
//!
//! [`set_memory_limit`] or the environment variable `SGMCMC_MEMORY_LIMIT` (a number of bytes) changes the default. A
//! single read has its own limit with the method `memory_limit` of [`Csv`](crate::read::Csv),
//! [`Libsvm`](crate::read::Libsvm) and `Parquet`, and with the functions whose names end in `_within`.
//!
//! # Examples
//!
//! ```
//! use sgmcmc::storage::fits;
//!
//! let path = std::env::temp_dir().join("sgmcmc-doc-limit.csv");
//! std::fs::write(&path, "iteration,weight,log_posterior,mu\n1,1,0,0.5\n")?;
//! assert!(fits::open_within(&path, 8).unwrap_err().to_string().contains("memory limit"));
//! # std::fs::remove_file(path)?;
//! # Ok::<(), sgmcmc::Error>(())
//! ```

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Problem;

/// The default memory limit of readers in bytes.
pub const DEFAULT_MEMORY_LIMIT: u64 = 2 << 30;

/// The environment variable that sets the memory limit of readers, in bytes.
pub const MEMORY_LIMIT_VARIABLE: &str = "SGMCMC_MEMORY_LIMIT";

/// The limit of [`set_memory_limit`], or 0 if it was not called.
static SET: AtomicU64 = AtomicU64::new(0);

/// Returns the memory limit of readers without a limit of their own, in bytes.
///
/// # Examples
///
/// ```
/// assert!(sgmcmc::storage::memory_limit() > 0);
/// ```
pub fn memory_limit() -> u64 {
    static ENVIRONMENT: OnceLock<Option<u64>> = OnceLock::new();
    let environment = || std::env::var(MEMORY_LIMIT_VARIABLE).ok()?.trim().parse().ok().filter(|bytes| *bytes > 0);
    match SET.load(Ordering::Relaxed) {
        0 => ENVIRONMENT.get_or_init(environment).unwrap_or(DEFAULT_MEMORY_LIMIT),
        set => set,
    }
}

/// Sets the memory limit of readers without a limit of their own, in bytes. 0 restores the default.
///
/// # Examples
///
/// ```
/// sgmcmc::storage::set_memory_limit(4 << 30);
/// assert_eq!(sgmcmc::storage::memory_limit(), 4 << 30);
/// sgmcmc::storage::set_memory_limit(0);
/// ```
pub fn set_memory_limit(bytes: u64) {
    SET.store(bytes, Ordering::Relaxed);
}

/// The divisor of the limit for a line of text.
pub(crate) const LINE_SHARE: u64 = 8;

/// The memory that one read may still allocate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// The limit in bytes.
    limit: u64,
    /// The number of bytes that are left.
    left: u64,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, left: limit }
    }

    /// Subtracts `bytes` from the budget.
    ///
    /// # Errors
    ///
    /// Returns an error if fewer bytes are left.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<(), Problem> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| self.exceeded())?;
        Ok(())
    }

    /// Subtracts the size of `count` elements of type `T`.
    pub(crate) fn take_elements<T>(&mut self, count: u64) -> Result<(), Problem> {
        self.take(count.saturating_mul(size_of::<T>() as u64))
    }

    /// Returns the number of bytes that are left.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Returns the problem of content that exceeds the limit.
    pub(crate) fn exceeded(&self) -> Problem {
        exceeded(self.limit)
    }
}

/// Returns the problem of content that needs more than `limit` bytes.
pub fn exceeded(limit: u64) -> Problem {
    Problem::TooLarge {
        detail: format!(
            "its content takes more than the memory limit of {limit} bytes: raise the limit with `memory_limit`, \
             `set_memory_limit` or the environment variable {MEMORY_LIMIT_VARIABLE}"
        ),
    }
}
