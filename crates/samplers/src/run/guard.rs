//! Panics of users' closures as errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use sgmcmc_core::{Error, Result};

/// Runs `call`. A panic in it becomes [`Error::Panicked`], which says that it happened in `what`.
///
/// Whatever `call` has borrowed may be in any state after a panic. Callers must use it only to hand out draws that were recorded before.
pub(super) fn guard<T>(what: impl FnOnce() -> String, call: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|panic| Err(Error::Panicked { what: what(), message: message(panic) }))
}

/// The message of a panic.
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

    struct Grenade;

    impl Drop for Grenade {
        fn drop(&mut self) {
            panic!("twice");
        }
    }

    #[test]
    fn panics_become_errors() {
        let caught = |call: fn() -> Result<()>| guard(|| "a test".into(), call).unwrap_err().to_string();
        assert_eq!(caught(|| panic!("boom")), "a test panicked: boom");
        assert_eq!(caught(|| panic!("{}", 1)), "a test panicked: 1");
        assert_eq!(caught(|| std::panic::panic_any(Grenade)), "a test panicked: no message");
    }
}
