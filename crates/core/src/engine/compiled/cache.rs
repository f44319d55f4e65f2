//! What was compiled, kept for the other chains.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::reason::Reason;
use super::sheet::Sheet;
use crate::layout::Layout;

/// A layout, and the sheet for it or why there is none.
type Known = (Layout, Result<Arc<Sheet>, Reason>);

/// The sheets of one posterior, one for each layout of the parameters, or why there is none.
#[derive(Default)]
pub(in crate::engine) struct SheetCache {
    known: Mutex<Vec<Known>>,
}

impl SheetCache {
    /// The sheet for `layout`, made by `make` if it is the first time.
    pub(super) fn get_or_make(
        &self,
        layout: &Layout,
        make: impl FnOnce() -> Result<Sheet, Reason>,
    ) -> Result<Arc<Sheet>, Reason> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = known.iter().find(|(known, _)| known == layout) {
            return found.clone();
        }
        let made = make().map(Arc::new);
        known.push((layout.clone(), made.clone()));
        made
    }
}

impl fmt::Debug for SheetCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SheetCache").finish_non_exhaustive()
    }
}
