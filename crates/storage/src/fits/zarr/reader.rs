//! The reader of Zarr stores of version 2 and 3, for stores of this library, ArviZ and xarray.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sgmcmc_fit::{Fit, Group, Variable};

use super::OWN;
use super::array::ArrayInfo;
use super::chunks::read_all;
use super::schema::{DIMENSIONS, FIRST, GROUPS, arrays};
use crate::error::{Error, FilePosition, Problem, Result};
use crate::fits::extra::Extra;
use crate::fits::table;
use crate::limit::{Budget, memory_limit};

/// The maximal ratio of numbers to stored bytes. A store with a higher ratio is damaged.
const MOST_PER_BYTE: u64 = 1000;

/// An array in memory.
struct Draws {
    name: String,
    /// Of draws: the number of chains, the number of draws, and the shape of one draw.
    shape: Vec<usize>,
    values: Vec<f64>,
}

impl Draws {
    /// Returns the number of elements of one draw.
    fn width(&self) -> usize {
        self.shape[2..].iter().product()
    }

    /// Returns the first `draws` values of one element in a chain.
    fn column(&self, chain: usize, draws: usize, element: usize) -> Vec<f64> {
        let width = self.width();
        let first = chain * self.shape[1];
        (first..first + draws).map(|draw| self.values[draw * width + element]).collect()
    }
}

/// Reads the groups `posterior` and `sample_stats` of a store.
///
/// Arrays whose first two dimensions are not `chain` and `draw` are skipped, and sample statistics that are not one
/// number per draw. Chunks may be compressed with gzip or Zstandard.
///
/// # Errors
///
/// Returns an error with store and array if metadata are damaged or missing, or a chunk is damaged or compressed in
/// another way.
///
/// # Examples
///
/// See [`write`](super::write).
pub fn read(path: impl AsRef<Path>) -> Result<Fit> {
    read_within(path.as_ref(), memory_limit())
}

pub(in crate::fits) fn read_within(path: &Path, limit: u64) -> Result<Fit> {
    let mut budget = Budget::new(limit);
    let posterior = read_group(path, GROUPS[0], &mut budget)?;
    let statistics = if path.join(GROUPS[1]).is_dir() { read_group(path, GROUPS[1], &mut budget)? } else { Vec::new() };
    let all = || posterior.iter().chain(statistics.iter().filter(|array| array.shape.len() == 2));
    let chains = posterior.iter().map(|array| array.shape[0]).min().unwrap_or(0);
    // A run that was killed between two arrays may have extended only one of them.
    let draws = all().map(|array| array.shape[1]).min().unwrap_or(0);
    if chains == 0 || draws == 0 || all().any(|array| array.shape[0] < chains) {
        return Err(Error::file(path, Problem::NoDraws));
    }
    let extra = attribute(path).and_then(|text| Extra::from_json(&text));
    // The metadata of this library name the arrays. In other stores, all arrays are used.
    let known = extra.as_ref().and_then(|extra| {
        let (named, found): (Vec<_>, Vec<_>) = (arrays(&extra.layout, &extra.stats), all().collect());
        let find = |expected: &super::schema::Array| {
            let group = if expected.group == GROUPS[0] { &posterior } else { &statistics };
            group.iter().find(|array| array.name == expected.name && array.shape[2..] == expected.shape)
        };
        let matched: Option<Vec<&Draws>> = named.iter().map(find).collect();
        matched.filter(|matched| matched.len() <= found.len())
    });
    let (layout, values, statistics): (_, Vec<&Draws>, Vec<(String, &Draws)>) = match (&extra, &known) {
        (Some(extra), Some(known)) => {
            let split = known.len() - FIRST.len() - extra.stats.len();
            let names = FIRST.iter().map(|name| (*name).to_owned()).chain(extra.stats.iter().cloned());
            (extra.layout.clone(), known[..split].to_vec(), names.zip(known[split..].iter().copied()).collect())
        }
        _ => {
            let shapes = posterior.iter().map(|array| (array.name.clone(), array.shape[2..].to_vec()));
            let flat = statistics.iter().filter(|array| array.shape.len() == 2);
            let named = flat.map(|array| (array.name.clone(), array)).collect();
            (table::layout(path, shapes)?, posterior.iter().collect(), named)
        }
    };
    let chain = |chain: usize| {
        let mut columns = table::Chain { number: chain, draws, ..Default::default() };
        for array in &values {
            columns.values.extend((0..array.width()).map(|element| array.column(chain, draws, element)));
        }
        for (position, (name, array)) in statistics.iter().enumerate() {
            let column = array.column(chain, draws, 0);
            // A statistic of the run may have the name of one of the first statistics, but comes after it.
            let own = FIRST.iter().position(|own| own == name).filter(|_| known.is_none() || position < FIRST.len());
            match own {
                Some(0) => columns.iterations = Some(column.into_iter().map(|number| number as u64).collect()),
                Some(1) => columns.weights = Some(column),
                Some(_) => columns.log_posterior = Some(column),
                None => columns.stats.push((name.clone(), column)),
            }
        }
        columns
    };
    let mut planned = extra.as_ref().map(|extra| extra.planned.clone()).unwrap_or_default();
    if let Some(extra) = extra.as_ref().filter(|_| known.is_some()) {
        table::fill_gaps(&mut planned, extra.chains, std::iter::empty());
    }
    let fit = table::fit(path, layout, (0..chains).map(chain).collect(), &planned)?;
    let fit = match extra.filter(|_| known.is_some()) {
        Some(extra) => extra.apply_to(path, fit)?,
        None => fit,
    };
    read_other_groups(path, fit, &mut budget)
}

/// Adds the other groups of the store to a fit. Groups whose draws are not those of the fit, and arrays that are not
/// numbers with named dimensions, are skipped.
fn read_other_groups(path: &Path, mut fit: Fit, budget: &mut Budget) -> Result<Fit> {
    for directory in subdirectories(path).map_err(|error| Error::file(path, Problem::reading(error)))? {
        let name = name_of(&directory);
        if GROUPS.contains(&name.as_str()) || name.starts_with("warmup") {
            continue;
        }
        let fail = |problem| Error::at_position(path, FilePosition::default().column(name.clone()), problem);
        let mut variables = Vec::new();
        for array in subdirectories(&directory).map_err(|error| fail(Problem::reading(error)))? {
            let (Some(Ok(info)), own) = (ArrayInfo::read(&array), name_of(&array)) else { continue };
            // A coordinate has the name of its dimension.
            let Some(dimensions) = info.dimensions.clone().filter(|names| !names.contains(&own)) else { continue };
            if dimensions.len() == info.shape.len() && !dimensions.is_empty() {
                let Draws { name, shape, values } = read_array(&array, own, &info, budget).map_err(fail)?;
                variables.push(Variable { name, dimensions, shape, values });
            }
        }
        if !variables.is_empty() {
            let group = Group { name: name.clone(), variables };
            if fit.accepts_group(&group) {
                fit = fit.with_group(group).map_err(Error::content(path))?;
            }
        }
    }
    Ok(fit)
}

/// Returns the directories in `path`, in the order of their names.
fn subdirectories(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?.path();
        if entry.is_dir() {
            found.push(entry);
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the last part of a path.
fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Reads all arrays of draws of a group, in the order of their names.
fn read_group(path: &Path, name: &str, budget: &mut Budget) -> Result<Vec<Draws>> {
    let fail = |error| Error::at_position(path, FilePosition::default().column(name), Problem::reading(error));
    let mut read = Vec::new();
    for directory in subdirectories(&path.join(name)).map_err(fail)? {
        let array = name_of(&directory);
        let fail =
            |problem| Error::at_position(path, FilePosition::default().column(format!("{name}/{array}")), problem);
        let Some(info) = ArrayInfo::read(&directory) else { continue };
        let info = info.map_err(|detail| fail(Problem::Corrupt { detail }))?;
        let of_draws =
            |names: &Vec<String>| names.len() >= 2 && names.len() == info.shape.len() && names[..2] == DIMENSIONS;
        if info.dimensions.as_ref().is_some_and(of_draws) {
            read.push(read_array(&directory, array.clone(), &info, budget).map_err(fail)?);
        }
    }
    Ok(read)
}

/// Reads an array.
fn read_array(directory: &Path, name: String, info: &ArrayInfo, budget: &mut Budget) -> Result<Draws, Problem> {
    let bytes = stored_bytes(directory).map_err(Problem::Io)?;
    let numbers = info.shape.iter().try_fold(1_u64, |count, size| count.checked_mul(*size));
    if numbers.is_none_or(|count| count > bytes.saturating_mul(MOST_PER_BYTE)) {
        let detail = format!("the shape {:?} does not match the {bytes} bytes in the store", info.shape);
        return Err(Problem::Corrupt { detail });
    }
    let values = read_all(info, directory, budget)?;
    Ok(Draws { name, shape: info.shape.iter().map(|size| *size as usize).collect(), values })
}

/// Returns the total length of all files below a directory.
fn stored_bytes(directory: &Path) -> io::Result<u64> {
    let mut bytes = 0_u64;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let data = entry.metadata()?;
        bytes = bytes.saturating_add(if data.is_dir() { stored_bytes(&entry.path())? } else { data.len() });
    }
    Ok(bytes)
}

/// Returns the metadata of this library, if it wrote the store.
fn attribute(path: &Path) -> Option<String> {
    let root: serde_json::Value = serde_json::from_slice(&fs::read(path.join("zarr.json")).ok()?).ok()?;
    Some(root["attributes"][OWN].as_str()?.to_owned())
}
