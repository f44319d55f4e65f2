//! Fault injection for tests: operation number k on the files below a directory fails, or the process is aborted after
//! it.
//!
//! An [`Injector`] is active until it is dropped, for all threads of the process. It is limited to paths below its
//! root, so that tests with different directories can run in parallel. Without an injector, an operation costs one
//! relaxed atomic load.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An operation that changes the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Creates a file.
    Create,
    /// Opens a file for writing.
    Open,
    /// Writes bytes.
    Write,
    /// Flushes buffered bytes to the operating system.
    Flush,
    /// Waits until the content is on the disk.
    Sync,
    /// Changes the length of a file.
    SetLen,
    /// Renames a file or directory.
    Rename,
    /// Removes a file or directory.
    Remove,
    /// Creates a directory.
    CreateDir,
    /// Locks a file.
    Lock,
}

/// The fault to inject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// No fault. Operations are only counted.
    None,
    /// The operation fails with the error of a full disk. A write fails after half of its bytes.
    Fail,
    /// The operation and all later operations except removals fail.
    FailFrom,
    /// The process is aborted after the operation. A write is aborted after half of its bytes.
    Kill,
}

/// The state of an injector.
#[derive(Debug)]
struct State {
    root: PathBuf,
    fault: Fault,
    /// The number of the operation, counted from 0.
    at: usize,
    /// The operations so far.
    log: Mutex<Vec<(Operation, PathBuf)>>,
}

static ACTIVE: AtomicUsize = AtomicUsize::new(0);
static INJECTORS: Mutex<Vec<Arc<State>>> = Mutex::new(Vec::new());

/// An active fault. It is removed on drop.
#[derive(Debug)]
pub struct Injector {
    state: Arc<State>,
}

impl Injector {
    /// Injects `fault` at operation number `at`, counting from 0, below the directory `root`.
    pub fn new(root: impl Into<PathBuf>, fault: Fault, at: usize) -> Self {
        let state = Arc::new(State { root: root.into(), fault, at, log: Mutex::new(Vec::new()) });
        lock(&INJECTORS).push(Arc::clone(&state));
        ACTIVE.fetch_add(1, Ordering::SeqCst);
        Self { state }
    }

    /// Returns the operations so far, in order.
    pub fn operations(&self) -> Vec<(Operation, PathBuf)> {
        lock(&self.state.log).clone()
    }
}

impl Drop for Injector {
    fn drop(&mut self) {
        ACTIVE.fetch_sub(1, Ordering::SeqCst);
        lock(&INJECTORS).retain(|state| !Arc::ptr_eq(state, &self.state));
    }
}

/// The decision about an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Fail,
    Kill,
}

/// Records an operation and decides whether it fails.
pub(crate) fn verdict(operation: Operation, path: &Path) -> Verdict {
    if ACTIVE.load(Ordering::Relaxed) == 0 {
        return Verdict::Pass;
    }
    let mut verdict = Verdict::Pass;
    for state in lock(&INJECTORS).iter().filter(|state| path.starts_with(&state.root)) {
        let mut log = lock(&state.log);
        let number = log.len();
        log.push((operation, path.to_path_buf()));
        verdict = match state.fault {
            Fault::Fail if number == state.at => Verdict::Fail,
            Fault::FailFrom if number >= state.at && operation != Operation::Remove => Verdict::Fail,
            Fault::Kill if number == state.at => Verdict::Kill,
            _ => verdict,
        };
    }
    verdict
}

/// Calls `act`, or injects the fault that is due.
pub(crate) fn perform<T>(operation: Operation, path: &Path, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    match verdict(operation, path) {
        Verdict::Pass => act(),
        Verdict::Fail => Err(full()),
        Verdict::Kill => {
            let _ = act();
            std::process::abort()
        }
    }
}

/// Returns the error of a full disk.
pub(crate) fn full() -> io::Error {
    io::Error::from(io::ErrorKind::StorageFull)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
