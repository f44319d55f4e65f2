//! Detection of a standard output that was closed when the program started, as by `>&-` in a shell.
//!
//! Rust's runtime opens `/dev/null` in place of closed standard streams before `main`, so that `main` cannot tell a closed
//! output from one that was redirected to `/dev/null`. The check therefore runs before the runtime starts.

use std::io::{self, StdoutLock};

/// Returns standard output.
///
/// # Errors
///
/// Returns an error if it was closed when the program started.
pub(crate) fn stdout() -> io::Result<StdoutLock<'static>> {
    if was_closed() { Err(io::Error::other("it is closed")) } else { Ok(io::stdout().lock()) }
}

#[cfg(target_os = "linux")]
fn was_closed() -> bool {
    at_start::CLOSED.load(std::sync::atomic::Ordering::Relaxed)
}

#[cfg(not(target_os = "linux"))]
fn was_closed() -> bool {
    false
}

#[cfg(target_os = "linux")]
mod at_start {
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::io::{Errno, fcntl_getfd};
    use rustix::stdio::stdout;

    pub(super) static CLOSED: AtomicBool = AtomicBool::new(false);

    extern "C" fn look() {
        CLOSED.store(fcntl_getfd(stdout()) == Err(Errno::BADF), Ordering::Relaxed);
    }

    // SAFETY: the section has pointers to functions of this type, which the loader calls before `main`. The function
    // makes one system call and stores a flag; it does not depend on the runtime and cannot panic.
    #[allow(unsafe_code)]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}
