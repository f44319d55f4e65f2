//! File output of all `sgmcmc` crates.
//!
//! Every operation that changes the file system goes through this crate: [`File`] for the content of files, and
//! functions such as [`rename`] and [`create_dir_all`] for directories. Tests can inject a failure or an abort into any
//! of these operations, see [`fault`].
//!
//! [`write_atomically`] and [`AtomicFile`] write a file under a temporary name in the same directory and rename it when
//! it is complete. [`AtomicDirectory`] does the same for a directory of files. A reader sees the old or the new
//! content, and never a part of it.
//!
//! # Examples
//!
//! ```
//! use std::io::Write;
//! use sgmcmc::storage::output::write_atomically;
//!
//! let path = std::env::temp_dir().join("sgmcmc-doc-atomic.txt");
//! write_atomically(&path, |file| file.write_all(b"content"))?;
//! assert_eq!(std::fs::read(&path)?, b"content");
//! # std::fs::remove_file(path)?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod atomic;
mod beside;
mod directory;
#[doc(hidden)]
pub mod fault;
mod file;
mod lock;
mod operations;

pub use atomic::{AtomicFile, resolve, write_atomically};
pub use directory::AtomicDirectory;
pub use file::File;
pub use lock::DirectoryLock;
pub use operations::{
    create_dir, create_dir_all, remove_dir, remove_dir_all, remove_file, rename, sync_directory, sync_files,
};
