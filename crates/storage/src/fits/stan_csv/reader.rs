//! The reader of CmdStan's text format, for files of this library, CmdStan and other programs.

use std::path::{Path, PathBuf};

use sgmcmc_fit::Fit;
use sgmcmc_gradient::Layout;

use super::names::value_columns;
use super::{OWN, RENAMED};
use crate::error::{Error, Problem, Result};
use crate::fits::Format;
use crate::fits::directory::{begun_in, files_in};
use crate::fits::extra::Extra;
use crate::fits::lines::{NumberTable, WholeLines, error_in_line};
use crate::fits::recognize::recognize_file;
use crate::fits::table::{self, Planned};
use crate::limit::{Budget, memory_limit};

/// The content of one file.
#[derive(Default)]
struct Chain {
    /// The number of the chain, counted from 1.
    id: Option<u64>,
    extra: Option<Extra>,
    table: NumberTable,
    /// The sampling time in seconds.
    seconds: f64,
    /// The number of iterations in the comments of CmdStan.
    samples: Option<usize>,
    /// The thinning interval in the comments of CmdStan.
    thin: Option<usize>,
}

impl Chain {
    /// Returns the number of draws that the chain was to make, if it is known.
    fn planned(&self) -> Option<usize> {
        match &self.extra {
            Some(extra) => extra.planned.values().next().copied(),
            None => Some(self.samples?.div_ceil(self.thin.unwrap_or(1).max(1))),
        }
    }
}

/// Reads one file, or all Stan CSV files of a directory as one chain each, in the order of their `id`.
///
/// Draws of a saved warm-up are skipped. All whole lines of a truncated file are read.
///
/// # Errors
///
/// Returns an error with file, line and column if there is no draw, a line has the wrong number of fields, a field is
/// not a number, or the files of a directory have different parameters.
///
/// # Examples
///
/// ```
/// use sgmcmc::storage::fits::stan_csv;
///
/// let path = std::env::temp_dir().join("sgmcmc-doc-read-stan.csv");
/// std::fs::write(&path, "# stan_version_major = 2\nlp__,mu\n-2.5,0.25\n-2,0.5\n")?;
/// let fit = stan_csv::read(&path)?;
/// assert_eq!(fit.element("mu")?, [[0.25, 0.5]]);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn read(path: impl AsRef<Path>) -> Result<Fit> {
    read_within(path.as_ref(), memory_limit())
}

pub(in crate::fits) fn read_within(path: &Path, limit: u64) -> Result<Fit> {
    let mut budget = Budget::new(limit);
    let (files, begun) = if path.is_dir() {
        let mut files = Vec::new();
        for file in files_in(path, "csv")? {
            if matches!(recognize_file(&file), Ok(Some(Format::StanCsv))) {
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
    let names = first.table.names.clone();
    let number_of_chains = chains.iter().filter_map(|(chain, _)| Some(chain.extra.as_ref()?.chains)).max().unwrap_or(0);
    let (mut read, mut planned, mut outcomes) = (Vec::new(), Planned::new(), Vec::new());
    for (index, (mut chain, file)) in chains.into_iter().enumerate() {
        if chain.table.names != names {
            let detail = "its columns are not those of the other files".to_owned();
            return Err(Error::file(&file, Problem::Corrupt { detail }));
        }
        // The files of one fit of this library have different ids. Files of other programs are numbered by their names.
        let number = if own { chain.id.map_or(index, |id| id.saturating_sub(1) as usize) } else { index };
        planned.extend(chain.planned().map(|draws| (number, draws)));
        outcomes.extend(chain.extra.as_mut().and_then(|extra| extra.outcomes.pop()));
        read.push(table::Chain { number, ..columns(chain, &order, own) });
    }
    // Ids are counted from 1 as in CmdStan, and the names of files from 0.
    begun.into_iter().for_each(|number| _ = planned.entry(number).or_insert(1));
    if own && path.is_dir() {
        table::fill_gaps(&mut planned, number_of_chains, read.iter().map(|chain| chain.number));
    }
    let fit = table::fit(path, layout.clone(), read, &planned)?;
    if own {
        let extra = Extra { layout, stats: Vec::new(), info: Some(info), outcomes, planned, chains: number_of_chains };
        extra.apply_to(path, fit)
    } else {
        Ok(fit)
    }
}

/// Returns the layout and the column of each value.
fn layout(path: &Path, chain: &Chain) -> Result<(Layout, Vec<usize>)> {
    let values: Vec<(usize, &str)> = chain
        .table
        .names
        .iter()
        .enumerate()
        .map(|(i, name)| (i, name.as_str()))
        .filter(|(_, name)| !is_stat(name))
        .collect();
    if let Some(extra) = &chain.extra {
        // The comment may announce any number of values. The columns confirm it.
        let fits = extra.layout.value_count() == values.len();
        let own = if fits { value_columns(&extra.layout) } else { Vec::new() };
        if fits && own.iter().zip(&values).all(|((own, _), (_, name))| own == name) {
            let mut order = vec![0; values.len()];
            own.iter().zip(&values).for_each(|((_, value), (column, _))| order[*value] = *column);
            return Ok((extra.layout.clone(), order));
        }
    }
    table::layout_of_columns(path, table::group(&values, true))
}

/// Sorts the columns of a file into values, in the order of the layout, and statistics.
fn columns(mut chain: Chain, order: &[usize], own: bool) -> table::Chain {
    let stats = chain.extra.take().filter(|_| own).map(|extra| extra.stats).unwrap_or_default();
    let weight = if chain.table.names.iter().any(|name| name == "weight__") { "weight__" } else { "stepsize__" };
    let mut found = table::Chain {
        draws: chain.table.len(),
        values: order.iter().map(|column| chain.table.columns[*column].clone()).collect(),
        ..Default::default()
    };
    let mut given = stats.into_iter();
    for (name, column) in chain.table.names.iter().zip(chain.table.columns).filter(|(name, _)| is_stat(name)) {
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

/// Returns whether a column is a sample statistic.
fn is_stat(name: &str) -> bool {
    name.ends_with("__")
}

fn read_file(path: &Path, budget: &mut Budget) -> Result<Chain> {
    let mut lines = WholeLines::open(path)?;
    let mut chain = Chain::default();
    while let Some((number, line)) = lines.next(budget)? {
        let text = line.trim();
        if text.starts_with('#') {
            read_comment(&mut chain, text);
        } else if text.is_empty() {
        } else if chain.table.names.is_empty() {
            chain.table = NumberTable::new(text.split(',').map(|name| name.trim().to_owned()).collect());
        } else {
            chain.table.push(text, budget, error_in_line(path, number))?;
        }
    }
    if chain.table.names.is_empty() {
        let detail = "there is no whole line with the names of columns".into();
        return Err(Error::file(path, Problem::Truncated { detail }));
    }
    if !chain.table.names.iter().any(|name| name == "lp__") {
        let detail = "there is no column `lp__`, which every Stan CSV file has".into();
        return Err(Error::file(path, Problem::Corrupt { detail }));
    }
    Ok(chain)
}

/// Reads the settings in a comment.
fn read_comment(chain: &mut Chain, text: &str) {
    if let Some(extra) = text.strip_prefix(OWN) {
        chain.extra = Extra::from_json(extra);
    } else if let Some(id) = text.strip_prefix("# id = ") {
        chain.id = id.trim_end_matches("(Default)").trim().parse().ok();
    } else if text.contains("Adaptation terminated") {
        // The draws before this comment are those of the warm-up.
        chain.table.columns.iter_mut().for_each(Vec::clear);
    } else if let Some(samples) = setting(text, "num_samples") {
        chain.samples = Some(samples);
    } else if let Some(thin) = setting(text, "thin") {
        chain.thin = Some(thin);
    } else if let Some(seconds) = text.strip_suffix(" seconds (Sampling)") {
        chain.seconds = seconds.trim_start_matches('#').trim().parse().unwrap_or(0.0);
    }
}

/// Returns the value of a comment such as `#     thin = 1 (Default)`.
fn setting(text: &str, name: &str) -> Option<usize> {
    let value = text.trim_start_matches('#').trim_start().strip_prefix(name)?.trim_start().strip_prefix('=')?;
    value.trim_end_matches("(Default)").trim().parse().ok()
}
