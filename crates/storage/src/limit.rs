//! Memory limits of readers.
//!
//! Every reader has a limit on the memory that it takes for the content of a file, compressed or not: 2 GiB unless said otherwise. A
//! file that needs more is refused before the memory is allocated. The limit counts the numbers that are kept; while a file is being
//! read, copies can take up to about twice as much. A line of a text may take an eighth of the limit.
//!
//! The default is changed by [`set_memory_limit`], or by the environment variable `SGMCMC_MEMORY_LIMIT` (a number of bytes). Single
//! reads have limits of their own: the method `memory_limit` of [`Csv`](crate::read::Csv), [`Libsvm`](crate::read::Libsvm) and
//! `Parquet`, and the functions that end in `_within`.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Problem;

/// The memory limit of readers in bytes, unless another one is set.
pub const DEFAULT_MEMORY_LIMIT: u64 = 2 << 30;

/// The environment variable that sets the memory limit of readers, in bytes.
pub const MEMORY_LIMIT_VARIABLE: &str = "SGMCMC_MEMORY_LIMIT";

/// The limit that was set; 0 if none was.
static SET: AtomicU64 = AtomicU64::new(0);

/// Returns the memory limit of readers that have no limit of their own, in bytes.
pub fn memory_limit() -> u64 {
    static ENVIRONMENT: OnceLock<Option<u64>> = OnceLock::new();
    let environment = || std::env::var(MEMORY_LIMIT_VARIABLE).ok()?.trim().parse().ok().filter(|bytes| *bytes > 0);
    match SET.load(Ordering::Relaxed) {
        0 => ENVIRONMENT.get_or_init(environment).unwrap_or(DEFAULT_MEMORY_LIMIT),
        set => set,
    }
}

/// Sets the memory limit of readers that have no limit of their own, in bytes. 0 stands for the default.
pub fn set_memory_limit(bytes: u64) {
    SET.store(bytes, Ordering::Relaxed);
}

/// The share of the limit that a line of a text may take.
pub(crate) const LINE_SHARE: u64 = 8;

/// Memory that one read may still take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    limit: u64,
    left: u64,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, left: limit }
    }

    /// Takes so many bytes of the budget.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<(), Problem> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| self.exceeded())?;
        Ok(())
    }

    /// Takes the bytes of `count` elements of type `T`.
    pub(crate) fn take_elements<T>(&mut self, count: u64) -> Result<(), Problem> {
        self.take(count.saturating_mul(size_of::<T>() as u64))
    }

    /// Returns the bytes that are left.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// The error of a content that does not fit.
    pub(crate) fn exceeded(&self) -> Problem {
        exceeded(self.limit)
    }
}

/// The error of a content that needs more than `limit` bytes.
pub(crate) fn exceeded(limit: u64) -> Problem {
    Problem::TooLarge {
        detail: format!(
            "its content takes more than the memory limit of {limit} bytes: raise the limit with `memory_limit`, \
             `set_memory_limit` or the environment variable {MEMORY_LIMIT_VARIABLE}"
        ),
    }
}
