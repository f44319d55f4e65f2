//! Conversion of panics in user closures into errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use sgmcmc_gradient::{Error, Result};

/// Calls `call`. Converts a panic into [`Error::Panicked`] with the description `what`.
///
/// Values borrowed by `call` may be in any state after a panic. Callers must use them only to return draws that were
/// recorded before.
pub(crate) fn guard<T>(what: impl FnOnce() -> String, call: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|panic| Err(Error::Panicked { what: what(), message: message(panic) }))
}

/// Returns the message of a panic.
fn message(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    if text.is_none() {
        // Dropping a payload of another type may panic again.
        std::mem::forget(panic);
    }
    text.unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct PanicsOnDrop;

    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            panic!("twice");
        }
    }

    #[test]
    fn panics_become_errors() {
        let caught = |call: fn() -> Result<()>| guard(|| "a test".into(), call).unwrap_err().to_string();
        assert_eq!(caught(|| panic!("boom")), "a test panicked: boom");
        assert_eq!(caught(|| panic!("{}", 1)), "a test panicked: 1");
        assert_eq!(caught(|| std::panic::panic_any(PanicsOnDrop)), "a test panicked: no message");
    }
}
