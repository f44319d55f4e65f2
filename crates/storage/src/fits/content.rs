//! Formats told by the content of files.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::directory::files_in;
use super::{Format, native};
use crate::error::{Error, Problem, Result};

/// How much of a file is looked at.
const LOOKED_AT: u64 = 1 << 16;

/// The format of a directory, by the content of the files in it.
pub(super) fn of_directory(path: &Path) -> Result<Option<Format>> {
    if is_zarr(path) {
        return Ok(Some(Format::Zarr));
    }
    type Is = fn(&Path) -> bool;
    let formats: [(Format, &str, Is); 3] = [
        (Format::Native, native::EXTENSION, is_native),
        (Format::Parquet, "parquet", |path| start(path).is_some_and(|start| start.starts_with(b"PAR1"))),
        (Format::StanCsv, "csv", is_stan),
    ];
    for (format, extension, is) in formats {
        if files_in(path, extension)?.iter().any(|file| is(file)) {
            return Ok(Some(format));
        }
    }
    Ok(None)
}

/// The format of a file, by its first bytes.
pub(super) fn of_file(path: &Path) -> Result<Option<Format>> {
    let start = read_start(path, 1 << 12).map_err(|error| Error::file(path, Problem::Io(error)))?;
    if start.is_empty() {
        return Err(Error::file(path, Problem::NoDraws));
    }
    let text = start.trim_ascii_start();
    Ok(match () {
        () if native::MAGIC.starts_with(&start[..start.len().min(8)]) => Some(Format::Native),
        () if start.starts_with(b"PAR1") => Some(Format::Parquet),
        () if text.starts_with(b"{") => Some(Format::Json),
        () if text.starts_with(b"#") || text.starts_with(b"lp__") => Some(Format::StanCsv),
        () => None,
    })
}

fn is_zarr(path: &Path) -> bool {
    let json = |name: &str| -> Option<serde_json::Value> {
        let file = File::open(path.join(name)).ok()?;
        serde_json::from_reader(std::io::BufReader::new(file)).ok()
    };
    let group = |name: &str| json(name).is_some_and(|root| root["zarr_format"].is_u64());
    group("zarr.json") || group(".zgroup") || json(".zmetadata").is_some_and(|root| root["metadata"].is_object())
}

pub(super) fn is_native(path: &Path) -> bool {
    start(path).is_some_and(|start| start.starts_with(&native::MAGIC))
}

/// Whether a text has the comments or the first column of Stan's files.
fn is_stan(path: &Path) -> bool {
    let Some(start) = start(path) else { return false };
    start.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"# stan_version") || line.starts_with(b"lp__"))
}

/// Whether a text is a Stan CSV file that this library wrote.
pub(super) fn is_own_stan(path: &Path) -> bool {
    let own = super::stan_csv::OWN.as_bytes();
    start(path).is_some_and(|start| start.split(|byte| *byte == b'\n').any(|line| line.starts_with(own)))
}

/// Whether a file is a Parquet file that this library wrote: the key of its metadata is in the footer.
pub(super) fn is_own_parquet(path: &Path) -> bool {
    let end = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let mut end = [0; 8];
        file.seek(SeekFrom::End(-8))?;
        file.read_exact(&mut end)?;
        let [length @ .., _, _, _, _] = end;
        let length = u64::from(u32::from_le_bytes(length)).min(LOOKED_AT * 16);
        file.seek(SeekFrom::End(-8 - length as i64))?;
        let mut footer = Vec::new();
        file.take(length + 8).read_to_end(&mut footer)?;
        Ok(footer)
    };
    end().is_ok_and(|footer| footer.ends_with(b"PAR1") && footer.windows(6).any(|word| word == b"sgmcmc"))
}

fn start(path: &Path) -> Option<Vec<u8>> {
    read_start(path, LOOKED_AT).ok()
}

fn read_start(path: &Path, bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut start = Vec::new();
    File::open(path)?.take(bytes).read_to_end(&mut start)?;
    Ok(start)
}
