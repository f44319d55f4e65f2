//! Large allocations in huge pages, if the operating system supports them.
//!
//! Random access to the rows of a large table causes as many TLB misses as cache misses, and the first write to each
//! page causes a page fault. Pages of 2 MiB instead of 4 KiB make both rare.
#![cfg_attr(target_os = "linux", expect(unsafe_code, reason = "there is no safe function that advises on memory"))]

/// The minimum size in bytes of an allocation in huge pages.
const LARGE: usize = 2 << 20;

/// Creates an empty vector with the given capacity, in huge pages if the allocation is large.
pub fn with_capacity<T>(capacity: usize) -> Vec<T> {
    let vector = Vec::with_capacity(capacity);
    if capacity.saturating_mul(size_of::<T>()) >= LARGE {
        advise(&vector);
    }
    vector
}

/// Moves the values to huge pages if the allocation is large.
pub(crate) fn in_large_pages<T: Copy>(values: Vec<T>) -> Vec<T> {
    if size_of_val(values.as_slice()) < LARGE {
        return values;
    }
    let mut moved = with_capacity(values.len());
    moved.extend_from_slice(&values);
    moved
}

/// Advises the operating system to use huge pages for the allocation of `vector`.
#[cfg(target_os = "linux")]
fn advise<T>(vector: &Vec<T>) {
    const PAGE: usize = 4096;
    let start = vector.as_ptr().addr().next_multiple_of(PAGE);
    let end = vector.as_ptr().addr() + vector.capacity() * size_of::<T>();
    let length = end.saturating_sub(start) / PAGE * PAGE;
    let first = vector.as_ptr().cast_mut().cast::<u8>().wrapping_add(start - vector.as_ptr().addr());
    // SAFETY: The pages from `first` on are within the allocation of the vector. MADV_HUGEPAGE changes neither their
    // content nor their access rights. Failure is harmless.
    let _ = unsafe { libc::madvise(first.cast(), length, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_: &Vec<T>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_do_not_change() {
        let values: Vec<f32> = (0..2_000_000).map(|i| i as f32).collect();
        assert_eq!(in_large_pages(values.clone()), values);
        let mut vector = with_capacity::<u64>(1 << 20);
        let before = vector.as_ptr();
        vector.extend(0..1 << 20);
        assert_eq!((vector.as_ptr(), vector[77]), (before, 77));
    }
}
