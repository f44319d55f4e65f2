//! Checkpoints in files, one per chain, replaced all or nothing.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sgmcmc_core::{Error, Result};
use sgmcmc_samplers::run::CheckpointStore;

/// Keeps the last checkpoint of every chain in `<directory>/chain-<k>.checkpoint`.
///
/// A checkpoint is written to another name, flushed to the disk and renamed, so that a run killed at any moment finds either the old
/// one or the new one, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCheckpoints {
    directory: PathBuf,
}

impl FileCheckpoints {
    /// Checkpoints in `directory`, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub fn new(directory: impl Into<PathBuf>) -> Result<Self> {
        let directory = directory.into();
        fs::create_dir_all(&directory).map_err(|error| failed("make", &directory, &error))?;
        Ok(Self { directory })
    }

    fn path(&self, chain: usize) -> PathBuf {
        self.directory.join(format!("chain-{chain}.checkpoint"))
    }
}

impl CheckpointStore for FileCheckpoints {
    fn save(&self, chain: usize, bytes: &[u8]) -> Result<()> {
        let path = self.path(chain);
        let unfinished = path.with_extension("unfinished");
        let write = || -> io::Result<()> {
            let mut file = File::create(&unfinished)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&unfinished, &path)
        };
        write().map_err(|error| failed("write", &path, &error))
    }

    fn load(&self, chain: usize) -> Result<Option<Vec<u8>>> {
        let path = self.path(chain);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("read", &path, &error)),
        }
    }
}

fn failed(what: &str, path: &Path, error: &io::Error) -> Error {
    Error::Checkpoint { reason: format!("could not {what} `{}`: {error}", path.display()) }
}
