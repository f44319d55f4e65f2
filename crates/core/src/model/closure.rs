//! Calling what a user wrote.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn_tensor::Tensor;

use super::quiet::quietly;
use crate::error::{Closure, Error, Result};

/// A tensor of rank one, or the shape of one that is not.
///
/// Closures may return any rank, so that a forgotten `squeeze` is explained in a sentence when the model is first
/// evaluated rather than by a type error about the closure.
pub(super) type AnyRank = std::result::Result<Tensor<1>, Vec<usize>>;

pub(super) fn rank_one<const R: usize>(tensor: Tensor<R>) -> AnyRank {
    if R == 1 { Ok(Tensor::from_bridge(tensor.into_bridge())) } else { Err(tensor.dims().to_vec()) }
}

/// Runs `call`, turning a panic into an error that names `closure`.
pub(crate) fn guarded<T>(closure: Closure, call: impl FnOnce() -> T) -> Result<T> {
    // Whatever the closure left half done is dropped with it: tensors are values, and the engines keep none of a failed call.
    quietly(|| catch_unwind(AssertUnwindSafe(call))).map_err(|panic| {
        let message = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic without a message".into());
        // Burn explains itself over several lines; an error is one sentence.
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        Error::ClosurePanicked { closure, message }
    })
}
