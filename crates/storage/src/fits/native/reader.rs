//! The reader of the native format.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use sgmcmc_fit::sink::{Draw, Schema};
use sgmcmc_fit::{ChainDraws, ChainOutcome, Fit, Group, RunInfo, Variable};

use super::record::{Record, Records};
use super::{DRAW, ENDS, EXTENSION, Ends, HEAD, PLAN, Plan, VARS, VariablePart};
use crate::error::{Error, Problem, Result, shown};
use crate::fits::directory::{begun_in, files_in};
use crate::fits::table::{self, MOST_CHAINS, Planned};
use crate::limit::{Budget, memory_limit};

/// The draws of one chain and the schema before them.
struct Segment {
    schema: Schema,
    draws: ChainDraws,
    file: PathBuf,
}

/// Reads a file, or all files of a directory, into one fit.
///
/// # Errors
///
/// Returns an error with file and offset if a file has another format, no whole header or a damaged record, or if the
/// files of a directory have different parameters.
///
/// # Examples
///
/// See [`write`](super::write).
pub fn read(path: impl AsRef<Path>) -> Result<Fit> {
    read_within(path.as_ref(), memory_limit())
}

/// The records of one or several files.
#[derive(Default)]
struct Content {
    segments: Vec<Segment>,
    plan: Option<Plan>,
    ends: Option<Ends>,
    groups: Vec<Group>,
    /// The length of the files in bytes.
    bytes: u64,
}

pub(in crate::fits) fn read_within(path: &Path, limit: u64) -> Result<Fit> {
    let mut budget = Budget::new(limit);
    let (files, begun) = if path.is_dir() {
        (files_in(path, EXTENSION)?, begun_in(path, EXTENSION)?)
    } else {
        (vec![path.to_path_buf()], Vec::new())
    };
    let mut all = Content::default();
    let mut truncated = false;
    for file in &files {
        let found = read_file(file, &mut budget)?;
        truncated |= found.plan.is_some() && found.ends.is_none();
        all.segments.extend(found.segments);
        all.groups.extend(found.groups);
        (all.ends, all.plan) = (all.ends.or(found.ends), all.plan.or(found.plan));
        all.bytes += found.bytes;
    }
    let Some(first) = all.segments.first() else { return Err(Error::file(path, Problem::NoDraws)) };
    let layout = first.schema.layout.clone();
    if let Some(other) = all.segments.iter().find(|segment| segment.schema.layout != layout) {
        let detail = format!("its parameters are not those of `{}`", shown(&first.file));
        return Err(Error::file(&other.file, Problem::Corrupt { detail }));
    }
    // Without draws, the number of values is not confirmed by the length of the file. Every summary allocates memory
    // for the values.
    if all.segments.iter().all(|segment| segment.draws.is_empty()) && layout.value_count() as u64 > all.bytes {
        return Err(Error::file(path, Problem::NoDraws));
    }
    let mut planned = Planned::new();
    for Segment { schema, .. } in &all.segments {
        let draws = planned.entry(schema.chain).or_default();
        *draws = schema.draws.max(*draws);
    }
    let mut missing = |number| _ = planned.entry(number).or_insert(1);
    begun.into_iter().for_each(&mut missing);
    (0..all.plan.map_or(0, |plan| plan.chains.min(MOST_CHAINS))).for_each(&mut missing);
    if path.is_dir() {
        let chains = all.segments.iter().map(|segment| segment.schema.chains).max().unwrap_or(0);
        table::fill_gaps(&mut planned, chains, all.segments.iter().map(|segment| segment.schema.chain));
    }
    let chains = all.segments.into_iter().map(|segment| (segment.schema.chain, segment.draws)).collect();
    let fit = table::fit_from_draws(path, layout, chains, &planned)?;
    let fit = all.groups.into_iter().try_fold(fit, Fit::with_group).map_err(Error::content(path))?;
    let stopped = |fit: Fit| {
        let outcomes = vec![ChainOutcome::Stopped; fit.chains().len()];
        fit.with_outcomes(outcomes).map_err(Error::content(path))
    };
    match all.ends {
        Some(Ends { outcomes, mode, info }) if outcomes.len() == fit.chains().len() => {
            Ok(fit.with_outcomes(outcomes).map_err(Error::content(path))?.with_mode(mode).with_info(info))
        }
        Some(Ends { mode, info, .. }) => Ok(fit.with_mode(mode).with_info(info)),
        None => {
            let planned = planned.values().copied().max();
            let planned = planned.filter(|planned| fit.chains().iter().any(|chain| chain.len() < *planned));
            let fit = fit.with_info(RunInfo { planned, ..RunInfo::default() });
            if truncated { stopped(fit) } else { Ok(fit) }
        }
    }
}

fn read_file(path: &Path, budget: &mut Budget) -> Result<Content> {
    let mut records = Records::open(path)?;
    budget.take(records.length()).map_err(|problem| Error::file(path, problem))?;
    let mut content = Content { bytes: records.length(), ..Content::default() };
    while let Some(Record { offset, tag, payload }) = records.next()? {
        match tag {
            PLAN => content.plan = Some(decode(&records, offset, &payload)?),
            HEAD => {
                let schema: Schema = decode(&records, offset, &payload)?;
                let draws = ChainDraws::new(schema.layout.value_count(), schema.stats.clone());
                content.segments.push(Segment { schema, draws, file: path.to_path_buf() });
            }
            DRAW => {
                let Some(segment) = content.segments.last_mut() else {
                    return Err(records.corrupt(offset, "draws come before the names of their values".into()));
                };
                append_draws(segment, &payload).map_err(|detail| records.corrupt(offset, detail))?;
            }
            VARS => append_variable(&mut content.groups, &payload).map_err(|detail| records.corrupt(offset, detail))?,
            ENDS => content.ends = Some(decode(&records, offset, &payload)?),
            _ => return Err(records.corrupt(offset, format!("unknown record type {tag:?}"))),
        }
    }
    if content.segments.is_empty() {
        return Err(records.truncated("no whole record is in it"));
    }
    Ok(content)
}

/// Appends a block of draws. The error is the reason in words.
fn append_draws(segment: &mut Segment, payload: &[u8]) -> Result<(), String> {
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

/// Appends a part of an array. The error is the reason in words.
fn append_variable(groups: &mut Vec<Group>, payload: &[u8]) -> Result<(), String> {
    let (length, rest) = payload.split_first_chunk::<4>().ok_or("an array has no header")?;
    let (header, numbers) =
        rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or("the header of an array is cut")?;
    let header: VariablePart = ciborium::from_reader(header).map_err(|error| error.to_string())?;
    let (numbers, rest) = numbers.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(format!("the array `{}` is not a whole number of numbers", header.name));
    }
    let VariablePart { group, name, dimensions, shape, first } = header;
    let position = groups.iter().position(|known| known.name == group).unwrap_or_else(|| {
        groups.push(Group { name: group, variables: Vec::new() });
        groups.len() - 1
    });
    let variables = &mut groups[position].variables;
    let index = variables.iter().position(|variable| variable.name == name).unwrap_or_else(|| {
        variables.push(Variable { name, dimensions, shape, values: Vec::new() });
        variables.len() - 1
    });
    let variable = &mut variables[index];
    if variable.values.len() != first {
        return Err(format!("a part of the array `{}` is missing", variable.name));
    }
    variable.values.extend(numbers.iter().map(|number| f64::from_le_bytes(*number)));
    Ok(())
}

/// Decodes the payload of the record at `offset`.
fn decode<T: DeserializeOwned>(records: &Records<'_>, offset: u64, payload: &[u8]) -> Result<T> {
    ciborium::from_reader(payload).map_err(|error| records.corrupt(offset, error.to_string()))
}
