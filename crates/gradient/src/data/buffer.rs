//! Shared buffers of numbers, in a vector or in a part of a mapped file.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use super::Rows;
use super::column::gather;
use crate::memory::in_large_pages;

/// The owner of the memory of a [`Buffer`]. The values must not change during its lifetime.
///
/// # Examples
///
/// ```
/// use sgmcmc::data::{Buffer, BufferOwner};
/// use std::sync::Arc;
///
/// struct Shared(Arc<[f32]>);
///
/// impl BufferOwner<f32> for Shared {
///     fn values(&self) -> &[f32] {
///         &self.0
///     }
/// }
///
/// let buffer = Buffer::shared(Arc::new(Shared(Arc::from([1.0_f32, 2.0]))));
/// assert_eq!(buffer[1], 2.0);
/// ```
pub trait BufferOwner<T>: Send + Sync {
    /// Returns all values.
    fn values(&self) -> &[T];

    /// Returns `true` if the values can be read in place. Otherwise the selected observations are copied before use.
    fn in_place(&self) -> bool {
        true
    }

    /// Checks that the values are still readable. They are not if, for instance, a mapped file was truncated.
    ///
    /// # Errors
    ///
    /// Returns the reason, as text that follows the name of the leaf.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Returns a copy of the values in `range`. If they are no longer readable, the content of the copy is unspecified
    /// and [`check`](Self::check) returns an error.
    fn copy_range(&self, range: Range<usize>) -> Vec<T>
    where
        T: Copy,
    {
        self.values()[range].to_vec()
    }

    /// Returns a copy of the observations `rows`, with `width` values each. See [`copy_range`](Self::copy_range).
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

impl<T: Send + Sync> BufferOwner<T> for Vec<T> {
    fn values(&self) -> &[T] {
        self
    }
}

/// A reference-counted slice of numbers. Clones share the memory.
///
/// # Examples
///
/// ```
/// use sgmcmc::data::Buffer;
/// use std::sync::Arc;
///
/// let owned = Buffer::from(vec![1.0_f32, 2.0]);
/// let shared = Buffer::shared(Arc::new(vec![1.0_f32, 2.0]));
/// assert_eq!(owned, shared);
/// ```
pub struct Buffer<T> {
    owner: Arc<dyn BufferOwner<T>>,
}

impl<T> Buffer<T> {
    /// Creates a buffer of the values of `owner`.
    pub fn shared(owner: Arc<dyn BufferOwner<T>>) -> Self {
        Self { owner }
    }

    /// Returns a copy of the selected observations, with `width` values each.
    ///
    /// # Panics
    ///
    /// Panics if the index of an observation is out of range.
    pub fn gather(&self, width: usize, rows: Rows<'_>) -> Vec<T>
    where
        T: Copy,
    {
        gather(self, width, rows)
    }

    /// Returns the owner of the memory.
    pub(super) fn owner(&self) -> &dyn BufferOwner<T> {
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
