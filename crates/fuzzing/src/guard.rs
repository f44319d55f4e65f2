//! An allocator with a limit.
#![allow(unsafe_code, reason = "an allocator is unsafe to implement")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

static USED: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// The system's allocator, which ends the process where more bytes are in use than [`allow`] said.
#[derive(Clone, Copy, Debug)]
pub struct Guard;

/// Allows so many bytes in addition to those in use.
pub fn allow(bytes: usize) {
    LIMIT.store(USED.load(Ordering::Relaxed).saturating_add(bytes), Ordering::Relaxed);
}

fn take(bytes: usize) {
    let used = USED.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
    if used > LIMIT.load(Ordering::Relaxed) {
        // Writing must not allocate; the case that was announced last is the one.
        LIMIT.store(usize::MAX, Ordering::Relaxed);
        let _ = std::io::stderr().write_all(b"more memory than allowed\n");
        std::process::abort();
    }
}

// SAFETY: every call goes to the system's allocator with the same arguments; only counters are kept besides.
unsafe impl GlobalAlloc for Guard {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size);
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
