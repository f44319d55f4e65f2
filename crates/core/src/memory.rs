//! Room for many numbers, in large pages where the system has them.
//!
//! Rows at places all over a large table miss the processor's page tables as often as its caches, and the first write to a page costs a
//! visit to the operating system. Pages of 2 MiB instead of 4 KiB make both rare.
#![cfg_attr(target_os = "linux", expect(unsafe_code, reason = "there is no safe function that advises on memory"))]

/// Fewer bytes are not worth it.
const LARGE: usize = 2 << 20;

/// An empty vector with room for `capacity` elements, in large pages if that is a lot.
pub fn with_capacity<T>(capacity: usize) -> Vec<T> {
    let room = Vec::with_capacity(capacity);
    if capacity.saturating_mul(size_of::<T>()) >= LARGE {
        advise(&room);
    }
    room
}

/// The same elements, moved to large pages if they are many.
pub(crate) fn in_large_pages<T: Copy>(values: Vec<T>) -> Vec<T> {
    if size_of_val(values.as_slice()) < LARGE {
        return values;
    }
    let mut moved = with_capacity(values.len());
    moved.extend_from_slice(&values);
    moved
}

#[cfg(target_os = "linux")]
fn advise<T>(room: &Vec<T>) {
    const PAGE: usize = 4096;
    let start = room.as_ptr().addr().next_multiple_of(PAGE);
    let end = room.as_ptr().addr() + room.capacity() * size_of::<T>();
    let length = end.saturating_sub(start) / PAGE * PAGE;
    let first = room.as_ptr().cast_mut().cast::<u8>().wrapping_add(start - room.as_ptr().addr());
    // SAFETY: the pages from `first` on are within the vector's own allocation, and MADV_HUGEPAGE changes neither what is in
    // them nor who may access them. That the system may refuse is no harm.
    let _ = unsafe { libc::madvise(first.cast(), length, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_: &Vec<T>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_numbers_stay_the_same() {
        let values: Vec<f32> = (0..2_000_000).map(|i| i as f32).collect();
        assert_eq!(in_large_pages(values.clone()), values);
        let mut room = with_capacity::<u64>(1 << 20);
        let before = room.as_ptr();
        room.extend(0..1 << 20);
        assert_eq!((room.as_ptr(), room[77]), (before, 77));
    }
}
