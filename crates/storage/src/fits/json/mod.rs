//! Nested JSON for ArviZ: group → variable → `[chain][draw]…`.
//!
//! ```python
//! groups = json.load(open("fit.json"))
//! # ArviZ 1.x takes arrays, not lists.
//! arviz.from_dict({group: {name: numpy.array(x) for name, x in content.items()} for group, content in groups.items()})
//! ```
//!
//! The groups are `posterior` and `sample_stats` (`lp`, `weight`, `iteration` and the statistics of the run). Numbers
//! read back exactly. The other [groups](Fit::groups) of the fit follow; the names of their dimensions are not kept. Numbers that are not finite are `NaN`, `Infinity` and `-Infinity`, as in Python's `json`. A chain
//! that is shorter than the others is padded with NaN at iteration 0.
//!
//! If a chain did not make all its draws, the sample statistic `chain_outcome` has the outcome: 0 complete, 1 stopped, 2
//! failed, 3 diverged.
//!
//! A JSON file is invalid until its last bracket is written. A run therefore writes [native files](super::native),
//! which survive a kill, to a directory with the same name and the suffix `.parts`. [`JsonFit::finish`] converts them
//! to JSON.

mod nested;
mod reader;

pub use reader::read;
pub(super) use reader::read_within;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sgmcmc_fit::{ChainDraws, ChainOutcome, Fit};

use super::native::{self, EXTENSION, NativeDraws};
use super::table::{stat_names, unique};
use crate::error::{Error, Problem, Result};
use crate::output;

/// The sample statistic with the outcome of a chain: 0 complete, 1 stopped, 2 failed, 3 diverged.
const OUTCOME: &str = "chain_outcome";

/// The sample statistics of every fit.
const OWN_STATS: [&str; 3] = ["lp", "weight", "iteration"];

/// The output of a run that is converted to a JSON file at the end.
///
/// During the run, the draws are in `<path>.parts/chain-<k>.sgmcmc`. After a kill, [`open`](super::open()) reads that
/// directory. The directory is kept, so that a finished run can be resumed with more draws.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::storage::fits::{self, json::JsonFit};
///
/// let output = JsonFit::new(std::env::temp_dir().join("sgmcmc-doc-run.json"))?;
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// hmc(&model, &Dataset::none(), 0.5).sample_into(&zeros([2]), 20, |chain| output.chain(chain))?;
/// let path = output.finish()?;
/// assert_eq!(fits::open(&path)?.chains()[0].len(), 20);
/// # std::fs::remove_dir_all(output.parts())?;
/// # std::fs::remove_file(path)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct JsonFit {
    path: PathBuf,
}

impl JsonFit {
    /// Creates the output for the file at `path`, and the directory of the draws.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be created.
    pub fn new(path: impl Into<PathBuf>) -> Result<Self> {
        let fit = Self { path: path.into() };
        output::create_dir_all(fit.parts()).map_err(|error| Error::file(&fit.parts(), Problem::Io(error)))?;
        Ok(fit)
    }

    /// Returns the directory of the draws.
    pub fn parts(&self) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".parts");
        name.into()
    }

    /// Returns the sink of one chain.
    pub fn chain(&self, chain: usize) -> NativeDraws {
        NativeDraws::new(self.parts().join(format!("chain-{chain}.{EXTENSION}")))
    }

    /// Writes the JSON file with all draws, and returns its path.
    ///
    /// # Errors
    ///
    /// Returns an error if a file of draws is damaged, or the JSON file cannot be written.
    pub fn finish(&self) -> Result<PathBuf> {
        write(&native::read(self.parts())?, &self.path)?;
        Ok(self.path.clone())
    }
}

/// Writes a whole fit to one file. An existing file is replaced atomically.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::storage::fits::json;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.5).sample(&zeros([2]), 20)?;
/// let path = std::env::temp_dir().join("sgmcmc-doc-write.json");
/// json::write(&fit, &path)?;
/// assert_eq!(json::read(&path)?.chains(), fit.chains());
/// # std::fs::remove_file(path)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn write(fit: &Fit, path: impl AsRef<Path>) -> Result<()> {
    super::write_file(path.as_ref(), |file| write_to(fit, file))
}

fn write_to(fit: &Fit, file: &mut impl Write) -> io::Result<()> {
    let draws = fit.chains().iter().map(ChainDraws::len).max().unwrap_or(0);
    write!(file, "{{\"posterior\": {{")?;
    let names = unique(fit.layout().blocks().iter().map(|block| block.name.as_str()), &["chain", "draw"]);
    for (number, (block, name)) in fit.layout().blocks().iter().zip(&names).enumerate() {
        separate(file, number)?;
        write!(file, "{}: ", quoted(name))?;
        let shape: &[usize] = if block.shape == [1] { &[] } else { &block.shape };
        write_chains(fit, file, draws, |file, chain, draw| match draw {
            Some(draw) => {
                let row = chain.rows().nth(draw).unwrap_or_default();
                write_nested(file, &row[block.values.clone()], shape)
            }
            None => write_nested(file, &vec![f64::NAN; block.values.len()], shape),
        })?;
    }
    write!(file, "\n}},\n\"sample_stats\": {{")?;
    let stats = stat_names(fit);
    let taken = [OWN_STATS.as_slice(), &[OUTCOME]].concat();
    let written = unique(stats.iter().map(String::as_str), &taken);
    for (number, name) in OWN_STATS.into_iter().chain(written.iter().map(String::as_str)).enumerate() {
        separate(file, number)?;
        write!(file, "{}: ", quoted(name))?;
        write_chains(fit, file, draws, |file, chain, draw| match (number, draw) {
            (2, draw) => write!(file, "{}", draw.map_or(0, |draw| chain.iterations()[draw])),
            (_, None) => write_number(file, f64::NAN),
            (0, Some(draw)) => write_number(file, chain.log_posterior()[draw]),
            (1, Some(draw)) => write_number(file, chain.weights()[draw]),
            (_, Some(draw)) => {
                let column = chain.stat(&stats[number - OWN_STATS.len()]).unwrap_or_default();
                write_number(file, column[draw])
            }
        })?;
    }
    if fit.outcomes().iter().any(|outcome| *outcome != ChainOutcome::Complete) {
        write!(file, ",\n{}: ", quoted(OUTCOME))?;
        let codes: Vec<u8> = fit.outcomes().iter().map(code).collect();
        let mut codes = codes.iter();
        write_lists(file, fit.chains().len(), |file| {
            let code = codes.next().copied().unwrap_or_default();
            write_items(file, draws, |file, _| write!(file, "{code}"))
        })?;
    }
    write!(file, "\n}}")?;
    for group in fit.groups() {
        write!(file, ",\n{}: {{", quoted(&group.name))?;
        for (number, variable) in group.variables.iter().enumerate() {
            separate(file, number)?;
            write!(file, "{}: ", quoted(&variable.name))?;
            write_nested(file, &variable.values, &variable.shape)?;
        }
        write!(file, "\n}}")?;
    }
    writeln!(file, "}}")
}

/// Returns the code of an outcome.
fn code(outcome: &ChainOutcome) -> u8 {
    match outcome {
        outcome if outcome.is_divergence() => 3,
        ChainOutcome::Complete => 0,
        ChainOutcome::Stopped => 1,
        ChainOutcome::Failed(_) => 2,
    }
}

/// Writes one variable, one line per chain.
fn write_chains<W: Write>(
    fit: &Fit,
    file: &mut W,
    draws: usize,
    mut cell: impl FnMut(&mut W, &ChainDraws, Option<usize>) -> io::Result<()>,
) -> io::Result<()> {
    let mut chains = fit.chains().iter();
    write_lists(file, fit.chains().len(), |file| {
        let Some(chain) = chains.next() else { return Ok(()) };
        write_items(file, draws, |file, draw| cell(file, chain, (draw < chain.len()).then_some(draw)))
    })
}

fn write_lists<W: Write>(file: &mut W, count: usize, mut list: impl FnMut(&mut W) -> io::Result<()>) -> io::Result<()> {
    write!(file, "[")?;
    for number in 0..count {
        separate(file, number)?;
        list(file)?;
    }
    write!(file, "]")
}

fn write_items<W: Write>(
    file: &mut W,
    count: usize,
    mut item: impl FnMut(&mut W, usize) -> io::Result<()>,
) -> io::Result<()> {
    write!(file, "[")?;
    for number in 0..count {
        if number > 0 {
            write!(file, ",")?;
        }
        item(file, number)?;
    }
    write!(file, "]")
}

fn separate(file: &mut impl Write, number: usize) -> io::Result<()> {
    file.write_all(if number > 0 { b",\n" } else { b"\n" })
}

fn write_nested(file: &mut impl Write, values: &[f64], shape: &[usize]) -> io::Result<()> {
    let Some((&size, inner)) = shape.split_first() else {
        return values.first().map_or(Ok(()), |value| write_number(file, *value));
    };
    write!(file, "[")?;
    let width = values.len() / size.max(1);
    for number in 0..size {
        if number > 0 {
            write!(file, ",")?;
        }
        write_nested(file, &values[number * width..(number + 1) * width], inner)?;
    }
    write!(file, "]")
}

fn write_number(file: &mut impl Write, number: f64) -> io::Result<()> {
    match number {
        f64::INFINITY => write!(file, "Infinity"),
        f64::NEG_INFINITY => write!(file, "-Infinity"),
        // The shortest form that reads back exactly.
        number => write!(file, "{number:?}"),
    }
}

fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}
