//! A cache of compilations, shared by all chains.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::compilation::Compilation;
use super::compile_error::CompileError;
use sgmcmc_gradient::layout::Layout;

/// A layout, and the result of the compilation for it.
struct Entry {
    layout: Layout,
    compilation: Result<Arc<Compilation>, CompileError>,
}

/// The compilations of one posterior, one for each layout of the parameters.
#[derive(Default)]
pub(in crate::engine) struct CompilationCache {
    entries: Mutex<Vec<Entry>>,
}

impl CompilationCache {
    /// Returns the compilation for `layout`. Calls `compile` if there is none yet.
    ///
    /// # Errors
    ///
    /// Returns the error of `compile`, which is cached as well.
    pub(super) fn get_or_compile(
        &self,
        layout: &Layout,
        compile: impl FnOnce() -> Result<Compilation, CompileError>,
    ) -> Result<Arc<Compilation>, CompileError> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.iter().find(|entry| entry.layout == *layout) {
            return entry.compilation.clone();
        }
        let compilation = compile().map(Arc::new);
        entries.push(Entry { layout: layout.clone(), compilation: compilation.clone() });
        compilation
    }
}

impl fmt::Debug for CompilationCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompilationCache").finish_non_exhaustive()
    }
}
