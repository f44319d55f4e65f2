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

/// Starts to load a number, if there is one at this place.
#[inline(always)]
pub(super) fn prefetch_number<T>(numbers: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(number) = numbers.get(place) {
        // SAFETY: as below.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(number).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (numbers, place);
}

/// Starts to load one row.
#[inline(always)]
pub(super) fn prefetch_row<T>(table: &[T], width: usize, line: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        let start = line.wrapping_mul(width);
        if let Some(row) = table.get(start..start.wrapping_add(width)) {
            let (start, bytes) = (row.as_ptr().cast::<i8>(), size_of_val(row));
            // A last line of a few bytes, where the row does not start with a line, is left to the processor's own foresight.
            for line in 0..bytes.div_ceil(CACHE_LINE) {
                let address = start.wrapping_add(line * CACHE_LINE);
                // SAFETY: prefetching reads nothing and may be given any address; every x86-64 processor has it (SSE).
                unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, width, line);
}
