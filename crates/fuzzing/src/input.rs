//! Inputs of a fuzzer as files or directories.

use std::fs;
use std::path::{Path, PathBuf};

use crate::pack::unpack;
use crate::repair::Wrapping;
use crate::targets::Reader;

/// The memory limit of the readers in bytes.
const READ_LIMIT: u64 = 16 << 20;

/// Returns a temporary path, in memory if possible.
fn scratch() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let root = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    root.join(format!("sgmcmc-fuzz-{}", std::process::id()))
}

/// Reads `bytes` as a file with repaired checksums.
pub fn file(reader: Reader, bytes: &[u8]) {
    sgmcmc_storage::set_memory_limit(READ_LIMIT);
    let path = scratch();
    let wrapping = match Wrapping::detect(bytes) {
        Wrapping::Gzip => Wrapping::None,
        other => other,
    };
    if fs::write(&path, wrapping.encode(bytes.to_vec())).is_ok() {
        reader.read(&path);
    }
    let _ = fs::remove_file(path);
}

/// Reads `bytes` as a [packed](crate::pack) directory.
pub fn directory(reader: Reader, bytes: &[u8]) {
    sgmcmc_storage::set_memory_limit(READ_LIMIT);
    let path = scratch();
    let _ = fs::remove_dir_all(&path);
    if fs::create_dir_all(&path).is_ok() && unpack(bytes, &path).is_ok() {
        reader.read(&path);
    }
    let _ = fs::remove_dir_all(path);
}
