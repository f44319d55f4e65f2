//! Checkpoints in files, two files per chain.

use std::fs;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sgmcmc_fit::Fit;
use sgmcmc_fit::checkpoint::{CheckpointStore, Claim, saved_fit};
use sgmcmc_gradient::{Error, Result};
use sgmcmc_output::{File, create_dir_all, sync_directory, write_atomically};

use crate::error::Error as FileError;
use crate::limit::Budget;

/// A store of checkpoints in a directory.
///
/// The state of chain k is in `chain-<k>.checkpoint`, and the draws that sinks keep in memory are in
/// `chain-<k>.journal`.
///
/// The journal is appended to and synchronized with the disk first. The state is then written to a temporary file,
/// synchronized and renamed. A run that is killed at any moment leaves the old or the new checkpoint complete. A run
/// locks the directory: another run that uses it at the same time, in this or another process, is an error. The lock
/// ends with the run or its process.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::run::CheckpointInterval;
/// use sgmcmc::storage::FileCheckpoints;
///
/// let directory = std::env::temp_dir().join("sgmcmc-doc-checkpoints");
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let run = hmc(&model, &Dataset::none(), 0.5)
///     .checkpoint(FileCheckpoints::new(&directory)?, CheckpointInterval::Steps(10));
/// let fit = run.sample(&zeros([2]), 20)?;
/// assert_eq!(fit.chains()[0].len(), 20);
/// assert!(directory.join("chain-0.checkpoint").exists());
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCheckpoints {
    directory: PathBuf,
}

impl FileCheckpoints {
    /// Creates a store in `directory`. The directory is created if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be created.
    pub fn new(directory: impl Into<PathBuf>) -> Result<Self> {
        let directory = directory.into();
        create_dir_all(&directory).map_err(|error| failed("make", &directory, &error))?;
        Ok(Self { directory })
    }

    /// Returns the draws in the checkpoints of a run that keeps its draws in memory. The run may be under way. Chains with
    /// fewer draws than requested count as stopped. Returns `None` if there are no draws in the checkpoints.
    ///
    /// # Errors
    ///
    /// Returns an error if a checkpoint cannot be read or is damaged.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    /// use sgmcmc::run::CheckpointInterval;
    /// use sgmcmc::storage::FileCheckpoints;
    ///
    /// let directory = std::env::temp_dir().join("sgmcmc-doc-saved-fit");
    /// let store = FileCheckpoints::new(&directory)?;
    /// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
    /// let run = ula(&model, &Dataset::none(), 0.1).checkpoint(store.clone(), CheckpointInterval::Steps(10));
    /// let fit = run.sample(&zeros([1]), 50)?;
    /// assert_eq!(store.fit()?.unwrap().chains(), fit.chains());
    /// # std::fs::remove_dir_all(directory)?;
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn fit(&self) -> Result<Option<Fit>> {
        let chains = self.chains().map_err(|error| failed("read", &self.directory, &error))?;
        saved_fit(self, chains)
    }

    /// Returns the indices of the chains with checkpoints.
    fn chains(&self) -> io::Result<Vec<usize>> {
        let mut chains = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let name = entry?.file_name();
            let index = name.to_str().and_then(|name| name.strip_prefix("chain-")?.strip_suffix(".checkpoint"));
            chains.extend(index.and_then(|index| index.parse::<usize>().ok()));
        }
        chains.sort_unstable();
        Ok(chains)
    }

    /// Returns the draws in the checkpoints in `directory`, if it is a directory with checkpoints that have draws.
    ///
    /// # Errors
    ///
    /// Returns an error if the files exceed `limit` bytes. Their numbers take about as much memory as the files.
    pub(crate) fn open_fit(directory: &Path, limit: u64) -> crate::Result<Option<Fit>> {
        let store = Self { directory: directory.to_owned() };
        let chains = store.chains().unwrap_or_default();
        let mut budget = Budget::new(limit);
        for path in chains.iter().flat_map(|chain| [store.state(*chain), store.path(*chain, "journal")]) {
            let length = fs::metadata(&path).map_or(0, |data| data.len());
            budget.take(length).map_err(|problem| FileError::file(&path, problem))?;
        }
        if chains.is_empty() { Ok(None) } else { saved_fit(&store, chains).map_err(FileError::content(directory)) }
    }

    /// Returns the path of a file of a chain.
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

    fn append(&self, chain: usize, offset: u64, bytes: &[u8]) -> Result<()> {
        let path = self.path(chain, "journal");
        let append = || -> io::Result<()> {
            let is_new = !path.exists();
            let mut file = File::open(&path)?;
            let length = file.len()?;
            if length < offset {
                return Err(too_short(length, offset));
            }
            if length > offset {
                file.set_len(offset)?;
            }
            file.seek(SeekFrom::Start(offset))?;
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
            if found < length { Err(too_short(found, length)) } else { Ok(file) }
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

/// Returns the error of a journal that is shorter than its checkpoint requires.
fn too_short(length: u64, expected: u64) -> io::Error {
    io::Error::other(format!("it has {length} bytes, but the checkpoint was made at {expected}"))
}

/// Returns the error of an operation on a file.
fn failed(what: &str, path: &Path, error: &io::Error) -> Error {
    Error::Checkpoint { reason: format!("could not {what} `{}`: {error}", path.display()) }
}
