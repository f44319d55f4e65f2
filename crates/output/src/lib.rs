//! File output of all `sgmcmc` crates.
//!
//! Every operation that changes a file system goes through this crate: [`File`] for the content of files, and functions such as
//! [`rename`] and [`create_dir_all`] for directories. Tests can make any of these operations fail or be the last one of the process,
//! see [`fault`].
//!
//! [`write_atomically`] and [`AtomicFile`] write a file beside its final place and rename it when it is complete;
//! [`AtomicDirectory`] does the same for a directory of files. A reader finds the old content or the new content, never a part.
//!
//! ```
//! use std::io::Write;
//!
//! let path = std::env::temp_dir().join("sgmcmc-doc-atomic.txt");
//! sgmcmc_files::write_atomically(&path, |file| file.write_all(b"all of it"))?;
//! assert_eq!(std::fs::read(&path)?, b"all of it");
//! # std::fs::remove_file(path)?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod atomic;
mod beside;
mod directory;
#[doc(hidden)]
pub mod fault;
mod file;
mod operations;

pub use atomic::{AtomicFile, resolve, write_atomically};
pub use directory::AtomicDirectory;
pub use file::File;
pub use operations::{create_dir, create_dir_all, remove_dir, remove_dir_all, remove_file, rename, sync_directory};
