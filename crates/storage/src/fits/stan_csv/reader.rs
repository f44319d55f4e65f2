//! CmdStan's text format back into a fit: files of this library, of CmdStan, and of whoever writes alike.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use sgmcmc_core::Layout;
use sgmcmc_samplers::run::Fit;

use super::names::value_columns;
use super::{OWN, RENAMED};
use crate::error::{Error, Place, Problem, Result};
use crate::fits::directory::{begun_in, files_in};
use crate::fits::extra::Extra;
use crate::fits::table::{self, Grouped, Planned};
use crate::fits::{Format, of_file};
use crate::limit::{Budget, memory_limit};
use crate::source::open_plain;

/// One file as it is read.
#[derive(Default)]
struct Chain {
    id: Option<u64>,
    extra: Option<Extra>,
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    seconds: f64,
    /// What the comments of CmdStan say of the number of draws.
    samples: Option<usize>,
    thin: Option<usize>,
}

impl Chain {
    /// The number of draws the chain was to make, if that is known.
    fn planned(&self) -> Option<usize> {
        match &self.extra {
            Some(extra) => extra.planned.values().next().copied(),
            None => Some(self.samples?.div_ceil(self.thin.unwrap_or(1).max(1))),
        }
    }
}

/// Reads one file, or all Stan CSV files of a directory, one chain each, in the order of their `id`.
///
/// Draws of a warm-up that was saved are left out. Of a file that was cut, all whole lines are read.
///
/// # Errors
///
/// With file, line and column: if there is no draw, a line has too few fields, a field is no number, or files in one directory have
/// different parameters.
pub fn read(path: impl AsRef<Path>) -> Result<Fit> {
    read_within(path.as_ref(), memory_limit())
}

pub(in crate::fits) fn read_within(path: &Path, limit: u64) -> Result<Fit> {
    let mut budget = Budget::new(limit);
    let (files, begun) = if path.is_dir() {
        let mut files = Vec::new();
        for file in files_in(path, "csv")? {
            if matches!(of_file(&file), Ok(Some(Format::StanCsv))) {
                files.push(file);
            }
        }
        (files, begun_in(path, "csv")?)
    } else {
        (vec![path.to_path_buf()], Vec::new())
    };
    let mut chains: Vec<(Chain, PathBuf)> = Vec::new();
    for file in files {
        chains.push((read_file(&file, &mut budget)?, file));
    }
    chains.sort_by_key(|(chain, _)| chain.id.unwrap_or(u64::MAX));
    let Some((first, _)) = chains.first() else { return Err(Error::file(path, Problem::NoDraws)) };
    let (layout, order) = layout(path, first)?;
    let own = first.extra.is_some();
    let mut info = first.extra.as_ref().and_then(|extra| extra.info.clone()).unwrap_or_default();
    if own && info.seconds.len() != chains.len() {
        info.seconds = chains.iter().map(|(chain, _)| chain.seconds).collect();
    }
    let names = first.names.clone();
    let (mut read, mut planned, mut endings) = (Vec::new(), Planned::new(), Vec::new());
    for (place, (mut chain, file)) in chains.into_iter().enumerate() {
        if chain.names != names {
            let detail = "its columns are not those of the other files".to_owned();
            return Err(Error::file(&file, Problem::Corrupt { detail }));
        }
        // The files of one fit have different ids; others come in the order of their names.
        let number = if own { chain.id.map_or(place, |id| id.saturating_sub(1) as usize) } else { place };
        planned.extend(chain.planned().map(|draws| (number, draws)));
        endings.extend(chain.extra.as_mut().and_then(|extra| extra.endings.pop()));
        let draws = chain.columns.first().map_or(0, Vec::len);
        read.push((number, columns(chain, &order, own), draws));
    }
    // Ids count from 1.
    begun.into_iter().for_each(|id| _ = planned.entry(id.saturating_sub(1)).or_insert(1));
    if own && path.is_dir() {
        table::fill_gaps(&mut planned, read.iter().map(|(number, ..)| *number));
    }
    let fit = table::fit(path, layout.clone(), read, &planned)?;
    if own { Extra { layout, stats: Vec::new(), info: Some(info), endings, planned }.dress(path, fit) } else { Ok(fit) }
}

/// The layout, and the column of each value.
fn layout(path: &Path, chain: &Chain) -> Result<(Layout, Vec<usize>)> {
    let values: Vec<(usize, &str)> =
        chain.names.iter().enumerate().map(|(i, name)| (i, name.as_str())).filter(|(_, name)| !is_stat(name)).collect();
    if let Some(extra) = &chain.extra {
        // The comment may announce any number of values, but the columns are there.
        let fits = extra.layout.value_count() == values.len();
        let own = if fits { value_columns(&extra.layout) } else { Vec::new() };
        if fits && own.iter().zip(&values).all(|((own, _), (_, name))| own == name) {
            let mut order = vec![0; values.len()];
            own.iter().zip(&values).for_each(|((_, value), (column, _))| order[*value] = *column);
            return Ok((extra.layout.clone(), order));
        }
    }
    let grouped: Vec<Grouped> = table::group(&values, true);
    let order = grouped.iter().flat_map(|(.., columns)| columns.iter().copied()).collect();
    Ok((table::layout(path, grouped.into_iter().map(|(name, shape, _)| (name, shape)))?, order))
}

fn columns(mut chain: Chain, order: &[usize], own: bool) -> table::Chain {
    let stats = chain.extra.take().filter(|_| own).map(|extra| extra.stats).unwrap_or_default();
    let weight = if chain.names.iter().any(|name| name == "weight__") { "weight__" } else { "stepsize__" };
    let mut found =
        table::Chain { values: order.iter().map(|c| chain.columns[*c].clone()).collect(), ..Default::default() };
    let mut given = stats.into_iter();
    for (name, column) in chain.names.iter().zip(chain.columns).filter(|(name, _)| is_stat(name)) {
        match name.as_str() {
            "lp__" => found.log_posterior = Some(column),
            "iteration__" if own => found.iterations = Some(column.into_iter().map(|number| number as u64).collect()),
            name if own && name == weight => found.weights = Some(column),
            name => {
                let stem = name.trim_end_matches('_').to_owned();
                let ours = RENAMED.iter().find(|(_, theirs)| *theirs == name).map(|(ours, _)| (*ours).to_owned());
                found.stats.push((given.next().or(ours).unwrap_or(stem), column));
            }
        }
    }
    found
}

fn is_stat(name: &str) -> bool {
    name.ends_with("__")
}

fn read_file(path: &Path, budget: &mut Budget) -> Result<Chain> {
    let mut reader = open_plain(path)?;
    let mut chain = Chain::default();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = (&mut reader).take(budget.left()).read_until(b'\n', &mut line);
        let read = read.map_err(|error| Error::at(path, Place::line(number), Problem::reading(error)))?;
        if read as u64 == budget.left() && read > 0 {
            return Err(Error::at(path, Place::line(number), budget.exceeded()));
        }
        // A line without an end was cut: its last number may be another.
        if !line.ends_with(b"\n") {
            break;
        }
        let place = Place::line(number);
        let not_text = |_| Problem::Corrupt { detail: "it is no text".into() };
        let text = std::str::from_utf8(&line).map_err(|error| Error::at(path, place.clone(), not_text(error)))?.trim();
        if text.starts_with('#') {
            comment(&mut chain, text);
        } else if text.is_empty() {
        } else if chain.names.is_empty() {
            chain.names = text.split(',').map(|name| name.trim().to_owned()).collect();
            chain.columns = vec![Vec::new(); chain.names.len()];
        } else {
            budget.take_elements::<f64>(chain.names.len() as u64).map_err(|p| Error::at(path, place.clone(), p))?;
            row(&mut chain, text).map_err(|(column, problem)| {
                Error::at(path, column.map_or(place.clone(), |column| place.clone().column(column)), problem)
            })?;
        }
    }
    if chain.names.is_empty() {
        let detail = "there is no whole line with the names of columns".into();
        return Err(Error::file(path, Problem::Truncated { detail }));
    }
    if !chain.names.iter().any(|name| name == "lp__") {
        let detail = "there is no column `lp__`, which every Stan CSV file has".into();
        return Err(Error::file(path, Problem::Corrupt { detail }));
    }
    Ok(chain)
}

fn comment(chain: &mut Chain, text: &str) {
    if let Some(extra) = text.strip_prefix(OWN) {
        chain.extra = Extra::from_json(extra);
    } else if let Some(id) = text.strip_prefix("# id = ") {
        chain.id = id.trim_end_matches("(Default)").trim().parse().ok();
    } else if text.contains("Adaptation terminated") {
        // What came before was the warm-up.
        chain.columns.iter_mut().for_each(Vec::clear);
    } else if let Some(samples) = setting(text, "num_samples") {
        chain.samples = Some(samples);
    } else if let Some(thin) = setting(text, "thin") {
        chain.thin = Some(thin);
    } else if let Some(seconds) = text.strip_suffix(" seconds (Sampling)") {
        chain.seconds = seconds.trim_start_matches('#').trim().parse().unwrap_or(0.0);
    }
}

/// The value of a comment such as `#     thin = 1 (Default)`.
fn setting(text: &str, name: &str) -> Option<usize> {
    let value = text.trim_start_matches('#').trim_start().strip_prefix(name)?.trim_start().strip_prefix('=')?;
    value.trim_end_matches("(Default)").trim().parse().ok()
}

fn row(chain: &mut Chain, text: &str) -> Result<(), (Option<String>, Problem)> {
    let found = text.split(',').count();
    if found != chain.names.len() {
        return Err((None, Problem::Ragged { found, expected: chain.names.len() }));
    }
    for ((field, column), name) in text.split(',').zip(&mut chain.columns).zip(&chain.names) {
        let parsed = field.trim().parse();
        column.push(parsed.map_err(|_| (Some(name.clone()), Problem::not_a_number(field.as_bytes(), "a number")))?);
    }
    Ok(())
}
