//! Directories packed into one byte string, because fuzzers have one input.
//!
//! ```text
//! per file: length of the name: u8, name, length of the content: u16 little-endian, content
//! ```

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Packs the files of `directory`. Files above 64 KiB are truncated.
///
/// # Errors
///
/// Returns an error if a file cannot be read.
pub fn pack(directory: &Path, files: &[PathBuf]) -> io::Result<Vec<u8>> {
    let mut packed = Vec::new();
    for file in files {
        let name = file.strip_prefix(directory).unwrap_or(file).to_string_lossy().into_owned();
        let content = fs::read(file)?;
        packed.push(name.len().min(255) as u8);
        packed.extend(&name.as_bytes()[..name.len().min(255)]);
        packed.extend((content.len().min(usize::from(u16::MAX)) as u16).to_le_bytes());
        packed.extend(&content[..content.len().min(usize::from(u16::MAX))]);
    }
    Ok(packed)
}

/// Writes the packed files to `directory`. Names outside of the directory are skipped, and so are names that are not
/// valid.
///
/// # Errors
///
/// The result is always `Ok` at present.
pub fn unpack(mut packed: &[u8], directory: &Path) -> io::Result<()> {
    while let Some((name, content, rest)) = first(packed) {
        packed = rest;
        let name = Path::new(name);
        if name.as_os_str().is_empty() || !name.components().all(|part| matches!(part, Component::Normal(_))) {
            continue;
        }
        let path = directory.join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        // The name may be that of a directory, or have a NUL.
        if made.is_ok() {
            let _ = fs::write(path, content);
        }
    }
    Ok(())
}

/// Splits the first file off: its name, its content and the rest.
fn first(packed: &[u8]) -> Option<(&str, &[u8], &[u8])> {
    let (length, rest) = packed.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(*length))?;
    let (length, rest) = rest.split_first_chunk::<2>()?;
    let (content, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)).min(rest.len()))?;
    Some((std::str::from_utf8(name).unwrap_or_default(), content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_unpacked() {
        let [from, to] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        fs::create_dir(from.path().join("a")).unwrap();
        fs::write(from.path().join("a/b"), "content").unwrap();
        let packed = pack(from.path(), &[from.path().join("a/b")]).unwrap();
        let inner = to.path().join("inner");
        fs::create_dir(&inner).unwrap();
        unpack(&[&packed[..], b"\x04../x\x01\x00y", &packed[..5]].concat(), &inner).unwrap();
        assert_eq!(fs::read(inner.join("a/b")).unwrap(), b"content");
        assert!(!to.path().join("x").exists());
    }
}
