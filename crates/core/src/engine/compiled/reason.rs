//! Why a model cannot be compiled.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::error::Error;

/// Why a model cannot be compiled: one sentence for its author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engine) struct Reason(String);

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Reason {
    /// Says on standard error, the first time, that the eager engine takes over.
    pub(in crate::engine) fn report(&self) {
        static SAID: Mutex<Vec<Reason>> = Mutex::new(Vec::new());
        let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        if !said.contains(self) {
            eprintln!("sgmcmc: the model runs eagerly, which is slower: {self}");
            said.push(self.clone());
        }
    }

    pub(super) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }

    /// The values of different rows meet in `operation`.
    pub(super) fn mixed_rows(operation: &str) -> Self {
        Self(format!(
            "the value of one row depends on other rows, by `{operation}`; \
             the log-likelihood must be one term per row, each from its own row"
        ))
    }

    /// The closures consist of too many operations.
    pub(super) fn too_long(operations: usize, most: usize) -> Self {
        Self(format!(
            "the closures consist of {operations} operations, and at most {most} are compiled; \
             write loops as operations on whole tensors"
        ))
    }

    /// `operation` is not among those that can be compiled.
    pub(super) fn unsupported(operation: &str) -> Self {
        Self(format!("the operation `{operation}` cannot be compiled"))
    }

    /// What the closure does depends on how many rows it is given.
    pub(super) fn depends_on_rows(what: &str) -> Self {
        Self(format!(
            "{what} depends on the number of rows; \
             the term of a row may depend on its own values and the parameters only"
        ))
    }

    /// Two calls with the same arguments did not do the same.
    pub(super) fn changes(what: &str) -> Self {
        Self(format!(
            "{what} changes from call to call, as random numbers drawn inside the closure do; \
             draw them beforehand and pass them as data"
        ))
    }

    /// A failed call of a closure on tensors that have no values.
    pub(super) fn failed_call(error: &Error) -> Self {
        let Error::ClosurePanicked { closure, message } = error else { return Self(error.to_string()) };
        let has = |part: &str| message.contains(part);
        if has("no concrete value") || has("no initialized value") {
            Self(format!(
                "the {closure} reads the value of a tensor (`into_scalar`, `to_data` and the like), which is not known \
                 when it is compiled; choose between values with `mask_where` instead of `if`"
            ))
        } else if has("wrong backend") || has("not on the same device") || has("different backends") {
            Self(format!(
                "the {closure} mixes its arguments with a tensor made outside of it; make the tensor data, a parameter, \
                 or move it inside with `.to_device(&argument.device())`"
            ))
        } else if has("do not support autodiff") || has("Requires autodiff") {
            Self(format!("the {closure} asks for gradients itself, which a compiled closure cannot"))
        } else if has("DTypeMismatch") {
            Self(format!(
                "the {closure} combines tensors of different element types; \
                 give constants the type of an argument with `.cast(argument.dtype())`"
            ))
        } else {
            Self(format!("the {closure} does not run on tensors without values: {message}"))
        }
    }
}

impl From<sgmcmc_compiler::Error> for Reason {
    fn from(error: sgmcmc_compiler::Error) -> Self {
        Self(error.to_string())
    }
}
