//! Panics that are caught and explained should not be printed as well.

use std::cell::Cell;
use std::panic;
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `call`; panics of this thread meanwhile print nothing.
pub(super) fn quietly<T>(call: impl FnOnce() -> T) -> T {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
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
