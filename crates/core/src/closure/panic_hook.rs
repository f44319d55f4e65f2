//! A panic hook that does not print panics which become errors.
//!
//! The hook is installed once per process, on first use, and stays installed. It does nothing if the panicking thread
//! runs a closure of a model, because such panics are caught and returned as errors. It forwards all other panics to
//! the hook that was installed before. Taking the hook and restoring it around each call would be a race between
//! threads, since the hook belongs to the process. A hook that the program sets later replaces this one. The crate
//! documentation describes this behavior.

use std::cell::Cell;
use std::panic;
use std::sync::Once;

thread_local! {
    /// True while panics of this thread are caught by the caller and must not be printed.
    static SILENT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `call` without printing panics of this thread.
pub(crate) fn silence_panics<T>(call: impl FnOnce() -> T) -> T {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // The thread-local value is not accessible while the thread shuts down.
            if !SILENT.try_with(Cell::get).unwrap_or(false) {
                previous(info);
            }
        }));
    });
    let _restore = Restore(SILENT.replace(true));
    call()
}

/// Restores the previous value of [`SILENT`] when dropped, also during a panic.
struct Restore(bool);

impl Drop for Restore {
    fn drop(&mut self) {
        SILENT.set(self.0);
    }
}
