//! Telling the processor which rows are read next.
#![expect(unsafe_code, reason = "there is no safe function for the prefetch instruction")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

use super::rows::{Lines, NEAR, ahead};

/// Bytes that come into the cache together.
#[cfg(target_arch = "x86_64")]
const CACHE_LINE: usize = 64;

/// Starts to load the first of `count` rows of a table that is not in the near cache anyway, as many as a kernel is ahead of itself.
pub(crate) fn prefetch<T>(table: &[T], width: usize, lines: Lines<'_>, count: usize) {
    if size_of_val(table) <= NEAR {
        return;
    }
    for i in 0..count.min(ahead::<T>(width)) {
        prefetch_row(table, width, lines.get(i));
    }
}

/// Starts to load one row.
#[inline(always)]
pub(super) fn prefetch_row<T>(table: &[T], width: usize, line: usize) {
    let start = line.wrapping_mul(width);
    if let Some(row) = table.get(start..start.wrapping_add(width)) {
        prefetch_numbers(row);
    }
}

/// Starts to load these numbers.
#[inline(always)]
pub(super) fn prefetch_numbers<T>(numbers: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        let (start, bytes) = (numbers.as_ptr().cast::<i8>(), size_of_val(numbers));
        // A last line of a few bytes, where the numbers do not start with a line, is left to the processor's own foresight.
        for line in 0..bytes.div_ceil(CACHE_LINE) {
            let address = start.wrapping_add(line * CACHE_LINE);
            // SAFETY: prefetching reads nothing and may be given any address; every x86-64 processor has it (SSE).
            unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = numbers;
}
