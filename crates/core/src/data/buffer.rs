//! Numbers that someone owns: a vector, or a part of a mapped file.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::memory::in_large_pages;

/// Who owns the numbers of a [`Buffer`]. What it shows must stay the same as long as it lives.
pub trait Owner<T>: Send + Sync {
    /// All numbers.
    fn values(&self) -> &[T];

    /// Whether the numbers are meant to be read where they lie. If not, they are to be copied row by row.
    fn in_place(&self) -> bool {
        true
    }

    /// Returns the reason if the numbers can no longer be read, for instance because a file was cut.
    ///
    /// # Errors
    ///
    /// Returns the reason as a text that follows the name of the leaf.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// A copy of the numbers of `range`. Copies of numbers that are no longer there have any content; [`check`](Self::check) tells.
    fn copy_range(&self, range: Range<usize>) -> Vec<T>
    where
        T: Copy,
    {
        self.values()[range].to_vec()
    }

    /// A copy of `rows`, of `width` numbers each, one after another.
    fn copy_rows(&self, width: usize, rows: &[usize]) -> Vec<T>
    where
        T: Copy,
    {
        let values = self.values();
        if width == 1 {
            return rows.iter().map(|row| values[*row]).collect();
        }
        let mut copied = Vec::with_capacity(rows.len() * width);
        for row in rows {
            copied.extend_from_slice(&values[row * width..(row + 1) * width]);
        }
        copied
    }
}

impl<T: Send + Sync> Owner<T> for Vec<T> {
    fn values(&self) -> &[T] {
        self
    }
}

/// A slice of numbers kept alive by whoever owns it. Cloning shares it.
///
/// ```
/// use std::sync::Arc;
/// use sgmcmc_core::data::Buffer;
///
/// let owned = Buffer::from(vec![1.0_f32, 2.0]);
/// let shared = Buffer::shared(Arc::new(vec![1.0_f32, 2.0]));
/// assert_eq!(owned, shared);
/// ```
pub struct Buffer<T> {
    owner: Arc<dyn Owner<T>>,
}

impl<T> Buffer<T> {
    /// The numbers `owner` shows.
    pub fn shared(owner: Arc<dyn Owner<T>>) -> Self {
        Self { owner }
    }

    /// Who owns the numbers.
    pub(super) fn owner(&self) -> &dyn Owner<T> {
        &*self.owner
    }
}

impl<T: Copy + Send + Sync + 'static> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Self {
        Self { owner: Arc::new(in_large_pages(values)) }
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.owner.values()
    }
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self { owner: self.owner.clone() }
    }
}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
