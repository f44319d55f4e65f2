//! A reader of posteriordb. `<data>.data.json.zip` is an object of columns and numbers. `<posterior>.draws.json.zip` is
//! a list of chains, each an object from parameters to draws.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sgmcmc::datasets;
use sgmcmc::sink::RunningMoments;

use crate::Result;

/// A directory with files of posteriordb.
pub(crate) struct PosteriorDb {
    directory: PathBuf,
}

impl PosteriorDb {
    /// Returns the folder `posteriordb` of the data directory, or prints a message and returns `None` if it does not
    /// exist.
    pub(crate) fn find() -> Option<Self> {
        let directory = datasets::directory().unwrap_or_else(|| "data".into()).join("posteriordb");
        if directory.is_dir() {
            return Some(Self { directory });
        }
        println!(
            "there is no {}; set the environment variable SGMCMC_DATA to the directory of the data",
            directory.display()
        );
        None
    }

    /// Reads the data set called `name`.
    pub(crate) fn data(&self, name: &str) -> Result<Data> {
        let file = self.directory.join(format!("{name}.data.json.zip"));
        Ok(Data { values: read(&file)?, name: name.to_owned() })
    }

    /// Reads the reference draws of all parameters of `posterior`, with all chains combined.
    pub(crate) fn reference(&self, posterior: &str) -> Result<Vec<Reference>> {
        let draws = read(&self.directory.join(format!("{posterior}.draws.json.zip")))?;
        let chains = draws.as_array().ok_or("reference draws are a list of chains")?;
        let first = chains.first().and_then(Value::as_object).ok_or("a chain is an object of parameters")?;
        first
            .keys()
            .map(|parameter| {
                let (mut moments, mut draws) = (RunningMoments::new(), Vec::new());
                for chain in chains {
                    draws.extend(numbers(&chain[parameter.as_str()]).ok_or("draws are a list of numbers")?);
                }
                draws.iter().try_for_each(|draw| moments.push(&[*draw], 1.0))?;
                let (mean, sd) = (moments.mean()[0], moments.variances()[0].sqrt());
                Ok(Reference { parameter: parameter.clone(), mean, sd, draws })
            })
            .collect()
    }
}

/// The reference draws of one parameter, with their mean and standard deviation.
pub(crate) struct Reference {
    pub(crate) parameter: String,
    pub(crate) mean: f64,
    pub(crate) sd: f64,
    pub(crate) draws: Vec<f64>,
}

/// One data set.
pub(crate) struct Data {
    values: Value,
    name: String,
}

impl Data {
    /// Returns the column `name`.
    pub(crate) fn column(&self, name: &str) -> Result<Vec<f64>> {
        numbers(&self.values[name]).ok_or_else(|| format!("{}: `{name}` is not a list of numbers", self.name).into())
    }

    /// Returns the rows of the matrix `name`.
    pub(crate) fn rows(&self, name: &str) -> Result<Vec<Vec<f64>>> {
        let rows = self.values[name].as_array().and_then(|rows| rows.iter().map(numbers).collect());
        rows.ok_or_else(|| format!("{}: `{name}` is not a list of lists of numbers", self.name).into())
    }
}

/// Returns the numbers of a JSON list.
fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(Value::as_f64).collect()
}

/// Reads the first file of an archive as JSON.
fn read(path: &Path) -> Result<Value> {
    let describe = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = File::open(path).map_err(|error| describe(&error))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|error| describe(&error))?;
    let mut text = String::new();
    archive
        .by_index(0)
        .map_err(|error| describe(&error))?
        .read_to_string(&mut text)
        .map_err(|error| describe(&error))?;
    serde_json::from_str(&text).map_err(|error| describe(&error).into())
}
