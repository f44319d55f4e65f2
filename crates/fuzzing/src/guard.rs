//! An allocator with a limit.
#![allow(unsafe_code, reason = "an allocator is unsafe to implement")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

static USED: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// The system allocator with a limit. The process is aborted if more bytes are allocated than [`allow`] permits.
#[derive(Clone, Copy, Debug)]
pub struct Guard;

/// Sets the limit to `bytes` more than are currently allocated.
pub fn allow(bytes: usize) {
    LIMIT.store(USED.load(Ordering::Relaxed).saturating_add(bytes), Ordering::Relaxed);
}

/// Counts an allocation and aborts the process if the limit is exceeded.
fn count(bytes: usize) {
    let used = USED.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
    if used > LIMIT.load(Ordering::Relaxed) {
        // The limit is lifted first, so that writing the message cannot recurse.
        LIMIT.store(usize::MAX, Ordering::Relaxed);
        let _ = std::io::stderr().write_all(b"more memory than allowed\n");
        std::process::abort();
    }
}

// SAFETY: every call is forwarded to the system allocator with the same arguments. Otherwise only counters are updated.
unsafe impl GlobalAlloc for Guard {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller upholds the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
