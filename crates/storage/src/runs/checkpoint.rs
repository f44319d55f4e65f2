//! Checkpoints in files, two per chain.

use std::fs;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sgmcmc_core::{Error, Result};
use sgmcmc_files::{File, create_dir_all, sync_directory, write_atomically};
use sgmcmc_samplers::run::{CheckpointStore, Claim};

/// Keeps the checkpoint of chain k in `<directory>/chain-<k>.checkpoint`, its state, and `<directory>/chain-<k>.journal`, the draws that
/// sinks keep in memory.
///
/// The state is written beside its place, flushed to the disk and renamed. The journal is appended to and flushed before that. A run
/// killed at any moment therefore finds the old checkpoint or the new one, whole. A run locks the directory: another run, of this or of
/// another process, that uses it meanwhile is an error. The lock ends with the run or with its process, however that ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCheckpoints {
    directory: PathBuf,
}

impl FileCheckpoints {
    /// Keeps checkpoints in `directory`, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub fn new(directory: impl Into<PathBuf>) -> Result<Self> {
        let directory = directory.into();
        create_dir_all(&directory).map_err(|error| failed("make", &directory, &error))?;
        Ok(Self { directory })
    }

    fn path(&self, chain: usize, kind: &str) -> PathBuf {
        self.directory.join(format!("chain-{chain}.{kind}"))
    }

    fn state(&self, chain: usize) -> PathBuf {
        self.path(chain, "checkpoint")
    }
}

impl CheckpointStore for FileCheckpoints {
    fn save(&self, chain: usize, state: &[u8]) -> Result<()> {
        let path = self.state(chain);
        write_atomically(&path, |file| file.write_all(state)).map_err(|error| failed("write", &path, &error))
    }

    fn load(&self, chain: usize) -> Result<Option<Vec<u8>>> {
        let path = self.state(chain);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("read", &path, &error)),
        }
    }

    fn append(&self, chain: usize, at: u64, bytes: &[u8]) -> Result<()> {
        let path = self.path(chain, "journal");
        let append = || -> io::Result<()> {
            let is_new = !path.exists();
            let mut file = File::open(&path)?;
            let length = file.len()?;
            if length < at {
                return Err(shorter(length, at));
            }
            if length > at {
                file.set_len(at)?;
            }
            file.seek(SeekFrom::Start(at))?;
            file.write_all(bytes)?;
            file.sync_data()?;
            if is_new { sync_directory(&self.directory) } else { Ok(()) }
        };
        append().map_err(|error| failed("write", &path, &error))
    }

    fn journal(&self, chain: usize, length: u64) -> Result<Box<dyn Read + Send + '_>> {
        let path = self.path(chain, "journal");
        let open = || -> io::Result<fs::File> {
            let file = fs::File::open(&path)?;
            let found = file.metadata()?.len();
            if found < length { Err(shorter(found, length)) } else { Ok(file) }
        };
        let file = open().map_err(|error| failed("read", &path, &error))?;
        Ok(Box::new(BufReader::new(file).take(length)))
    }

    fn claim(&self) -> Result<Claim> {
        let path = self.directory.join("run.lock");
        let lock = || -> io::Result<Option<File>> {
            let file = File::open(&path)?;
            Ok(file.try_lock()?.then_some(file))
        };
        match lock() {
            Ok(Some(file)) => Ok(Claim::new(file)),
            Ok(None) => {
                let directory = self.directory.display();
                let reason = format!("another run uses `{directory}`: wait for its end, or use another directory");
                Err(Error::Checkpoint { reason })
            }
            Err(error) => Err(failed("lock", &path, &error)),
        }
    }
}

fn shorter(length: u64, expected: u64) -> io::Error {
    io::Error::other(format!("it has {length} bytes, but the checkpoint was made at {expected}"))
}

fn failed(what: &str, path: &Path, error: &io::Error) -> Error {
    Error::Checkpoint { reason: format!("could not {what} `{}`: {error}", path.display()) }
}
