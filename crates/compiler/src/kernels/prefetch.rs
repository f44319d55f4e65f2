//! Prefetching of data rows.
#![expect(unsafe_code, reason = "there is no safe function for the prefetch instruction")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

use super::rows::{CACHED_BYTES, RowSelection, prefetch_distance};

/// The size of a cache line in bytes.
#[cfg(target_arch = "x86_64")]
const CACHE_LINE: usize = 64;

/// Prefetches the first of `count` rows of a table that does not fit the near cache, up to the prefetch distance of the
/// kernels.
pub(crate) fn prefetch<T>(table: &[T], width: usize, selection: RowSelection<'_>, count: usize) {
    if size_of_val(table) <= CACHED_BYTES {
        return;
    }
    for i in 0..count.min(prefetch_distance::<T>(width)) {
        prefetch_row(table, width, selection.get(i));
    }
}

/// Prefetches one row.
#[inline(always)]
pub(super) fn prefetch_row<T>(table: &[T], width: usize, index: usize) {
    let start = index.wrapping_mul(width);
    if let Some(row) = table.get(start..start.wrapping_add(width)) {
        prefetch_numbers(row);
    }
}

/// Prefetches these numbers.
#[inline(always)]
pub(super) fn prefetch_numbers<T>(numbers: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        let (start, bytes) = (numbers.as_ptr().cast::<i8>(), size_of_val(numbers));
        // If the numbers do not start at a cache line, the end of the last line is left to the hardware prefetcher.
        for line in 0..bytes.div_ceil(CACHE_LINE) {
            let address = start.wrapping_add(line * CACHE_LINE);
            // SAFETY: a prefetch does not access memory and accepts any address; every x86-64 processor supports it
            // (SSE).
            unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = numbers;
}
