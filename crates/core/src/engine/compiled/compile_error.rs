//! Errors of the compilation of a model.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use sgmcmc_gradient::error::Error;

/// The reason why a model cannot be compiled, as a sentence for the author of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engine) struct CompileError(String);

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl CompileError {
    /// Logs a warning that the model runs eagerly, once per process for each reason.
    pub(in crate::engine) fn warn_once(&self) {
        static LOGGED: Mutex<Vec<CompileError>> = Mutex::new(Vec::new());
        let mut logged = LOGGED.lock().unwrap_or_else(PoisonError::into_inner);
        if !logged.contains(self) {
            log::warn!("the model runs eagerly, which is slower: {self}");
            logged.push(self.clone());
        }
    }

    /// Creates an error with this message.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Creates the error for an `operation` that combines values of different observations.
    pub(super) fn mixed_rows(operation: &str) -> Self {
        Self(format!(
            "the value of one row depends on other rows, by `{operation}`; \
             the log-likelihood must be one term per row, each from its own row"
        ))
    }

    /// Creates the error for closures of too many operations.
    pub(super) fn too_long(operations: usize, most: usize) -> Self {
        Self(format!(
            "the closures consist of {operations} operations, and at most {most} are compiled; \
             write loops as operations on whole tensors"
        ))
    }

    /// Creates the error for an `operation` that the compiler does not support.
    pub(super) fn unsupported(operation: &str) -> Self {
        Self(format!("the operation `{operation}` cannot be compiled"))
    }

    /// Creates the error for closures whose operations depend on the number of observations.
    pub(super) fn depends_on_rows(what: &str) -> Self {
        Self(format!(
            "{what} depends on the number of rows; \
             the term of a row may depend on its own values and the parameters only"
        ))
    }

    /// Creates the error for closures whose operations differ between calls with the same arguments.
    pub(super) fn changes(what: &str) -> Self {
        Self(format!(
            "{what} changes from call to call, as random numbers drawn inside the closure do; \
             draw them beforehand and pass them as data"
        ))
    }

    /// Creates the error for a closure that failed on tensors without values.
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

impl From<sgmcmc_compiler::Error> for CompileError {
    fn from(error: sgmcmc_compiler::Error) -> Self {
        Self(error.to_string())
    }
}
