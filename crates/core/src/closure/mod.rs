//! Calls of the closures of a model.

mod panic_hook;

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn_tensor::Tensor;

use sgmcmc_gradient::error::{Closure, Error, Result};

pub(crate) use panic_hook::silence_panics;

/// A tensor of rank one, or the shape of a tensor of another rank.
///
/// Closures may return any rank. A forgotten `squeeze` is then reported by an error message when the model is first
/// evaluated, instead of a type error about the closure.
pub(crate) type RankOne = std::result::Result<Tensor<1>, Vec<usize>>;

/// Returns `tensor` if it has rank one, and its shape otherwise.
pub(crate) fn rank_one<const R: usize>(tensor: Tensor<R>) -> RankOne {
    if R == 1 { Ok(Tensor::from_bridge(tensor.into_bridge())) } else { Err(tensor.dims().to_vec()) }
}

/// Runs `call` and converts a panic to an error that names `closure`.
///
/// # Errors
///
/// Returns an error if `call` panics.
pub(crate) fn guarded<T>(closure: Closure, call: impl FnOnce() -> T) -> Result<T> {
    // Unwind safety: tensors are values, and the engines discard all tensors of a failed call.
    silence_panics(|| catch_unwind(AssertUnwindSafe(call))).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        if text.is_none() {
            // Dropping a payload of another type may panic again.
            std::mem::forget(panic);
        }
        let message = text.unwrap_or_else(|| "a panic without a message".into());
        // Burn's messages span several lines; an error message is one line.
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        Error::ClosurePanicked { closure, message }
    })
}
