//! Files back into a fit.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use sgmcmc_samplers::run::{ChainDraws, Ending, Fit};
use sgmcmc_samplers::sink::{Draw, Schema};

use super::record::{Record, Records};
use super::{DRAW, ENDS, EXTENSION, Ends, HEAD};
use crate::error::{Error, Problem, Result};
use crate::fits::files_in;

/// The draws of one chain, and what was said of them before the first.
struct Segment {
    schema: Schema,
    draws: ChainDraws,
    file: PathBuf,
}

/// Reads a file, or all files of a directory, into one fit.
///
/// # Errors
///
/// With file and place: if a file is of another format, has no whole header or a damaged record, or if files in one directory are of
/// different models.
pub fn read(path: impl AsRef<Path>) -> Result<Fit> {
    let path = path.as_ref();
    let files = if path.is_dir() { files_in(path, EXTENSION)? } else { vec![path.to_path_buf()] };
    let mut segments: Vec<Segment> = Vec::new();
    let mut ends = None;
    for file in &files {
        let (found, end) = read_file(file)?;
        segments.extend(found);
        ends = ends.or(end);
    }
    // Stable, so that files of the same number stay in the order of their names.
    segments.sort_by_key(|segment| segment.schema.chain);
    let Some(first) = segments.first() else { return Err(Error::file(path, Problem::NoDraws)) };
    let layout = first.schema.layout.clone();
    if let Some(other) = segments.iter().find(|segment| segment.schema.layout != layout) {
        let detail = format!("its parameters are not those of `{}`", first.file.display());
        return Err(Error::file(&other.file, Problem::Corrupt { detail }));
    }
    let ending = |segment: &Segment| {
        if segment.draws.len() < segment.schema.draws { Ending::Stopped } else { Ending::Complete }
    };
    let endings: Vec<Ending> = segments.iter().map(ending).collect();
    let chains = segments.into_iter().map(|segment| segment.draws).collect();
    let fit = Fit::new(layout, chains).map_err(Error::content(path))?;
    let (endings, mode, info) = match ends {
        Some(ends) if ends.endings.len() == endings.len() => (ends.endings, ends.mode, ends.info),
        Some(ends) => (endings, ends.mode, ends.info),
        None => (endings, None, sgmcmc_samplers::run::RunInfo::default()),
    };
    Ok(fit.with_endings(endings).map_err(Error::content(path))?.with_mode(mode).with_info(info))
}

fn read_file(path: &Path) -> Result<(Vec<Segment>, Option<Ends>)> {
    let mut records = Records::open(path)?;
    let mut segments: Vec<Segment> = Vec::new();
    let mut ends = None;
    while let Some(Record { place, tag, payload }) = records.next()? {
        match tag {
            HEAD => {
                let schema: Schema = decode(&records, place, &payload)?;
                let draws = ChainDraws::new(schema.layout.value_count(), schema.stats.clone());
                segments.push(Segment { schema, draws, file: path.to_path_buf() });
            }
            DRAW => {
                let Some(segment) = segments.last_mut() else {
                    return Err(records.corrupt(place, "draws come before the names of their values".into()));
                };
                rows(segment, &payload).map_err(|detail| records.corrupt(place, detail))?;
            }
            ENDS => ends = Some(decode(&records, place, &payload)?),
            _ => return Err(records.corrupt(place, format!("there is no record called {tag:?}"))),
        }
    }
    if segments.is_empty() {
        return Err(records.cut("no whole record is in it"));
    }
    Ok((segments, ends))
}

/// Appends the rows of a block of draws.
fn rows(segment: &mut Segment, payload: &[u8]) -> Result<(), String> {
    let stats = segment.schema.stats.len();
    let numbers = 3 + stats + segment.draws.width();
    let (words, rest) = payload.as_chunks::<8>();
    if words.len() % numbers != 0 || !rest.is_empty() {
        return Err(format!("{} bytes are not a whole number of draws of {numbers} numbers", payload.len()));
    }
    let mut row = Vec::with_capacity(words.len().min(numbers));
    for words in words.chunks_exact(numbers) {
        row.clear();
        row.extend(words.iter().map(|word| f64::from_le_bytes(*word)));
        let draw = Draw {
            iteration: u64::from_le_bytes(words[0]),
            weight: row[1],
            log_posterior: row[2],
            stats: &row[3..3 + stats],
            values: &row[3 + stats..],
        };
        segment.draws.push(&draw).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn decode<T: DeserializeOwned>(records: &Records<'_>, place: u64, payload: &[u8]) -> Result<T> {
    ciborium::from_reader(payload).map_err(|error| records.corrupt(place, error.to_string()))
}
