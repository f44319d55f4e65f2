//! Panics that are caught and explained are not printed as well.
//!
//! A panic hook is installed once for the process, in front of the one that was there. It is silent for panics of a thread that is in a
//! user's closure, whose panics become errors, and calls the other hook for all others. A hook that is set later takes its place.

use std::cell::Cell;
use std::panic;
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `call`; panics of this thread meanwhile print nothing.
pub(crate) fn quietly<T>(call: impl FnOnce() -> T) -> T {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // A thread that is ending has no such value any more.
            if !QUIET.try_with(Cell::get).unwrap_or(false) {
                loud(info);
            }
        }));
    });
    let _reset = Reset(QUIET.replace(true));
    call()
}

struct Reset(bool);

impl Drop for Reset {
    fn drop(&mut self) {
        QUIET.set(self.0);
    }
}
