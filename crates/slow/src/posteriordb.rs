//! Reading posteriordb: `<data>.data.json.zip` is an object of columns and numbers, `<posterior>.draws.json.zip` a list of
//! chains, each an object from parameter to draws.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sgmcmc::datasets;
use sgmcmc::sink::RunningMoments;

use crate::Result;

/// The directory of the files.
pub(crate) struct PosteriorDb {
    directory: PathBuf,
}

impl PosteriorDb {
    /// The folder `posteriordb` of the data directory, if it is there.
    pub(crate) fn find() -> Option<Self> {
        let directory = datasets::directory().join("posteriordb");
        if directory.is_dir() {
            return Some(Self { directory });
        }
        println!("there is no {}; the environment variable SGMCMC_DATA says where data are", directory.display());
        None
    }

    /// The data set called `name`.
    pub(crate) fn data(&self, name: &str) -> Result<Data> {
        let file = self.directory.join(format!("{name}.data.json.zip"));
        Ok(Data { values: read(&file)?, name: name.to_owned() })
    }

    /// The reference draws of every parameter, their mean and standard deviation, of `posterior`, all chains together.
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

/// What the reference draws say of one parameter.
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
    /// The column `name`.
    pub(crate) fn column(&self, name: &str) -> Result<Vec<f64>> {
        numbers(&self.values[name]).ok_or_else(|| format!("{}: `{name}` is not a list of numbers", self.name).into())
    }

    /// The matrix `name`, row by row.
    pub(crate) fn rows(&self, name: &str) -> Result<Vec<Vec<f64>>> {
        let rows = self.values[name].as_array().and_then(|rows| rows.iter().map(numbers).collect());
        rows.ok_or_else(|| format!("{}: `{name}` is not a list of lists of numbers", self.name).into())
    }
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(Value::as_f64).collect()
}

/// The only file of an archive, as JSON.
fn read(path: &Path) -> Result<Value> {
    let say = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = File::open(path).map_err(|error| say(&error))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|error| say(&error))?;
    let mut text = String::new();
    archive.by_index(0).map_err(|error| say(&error))?.read_to_string(&mut text).map_err(|error| say(&error))?;
    serde_json::from_str(&text).map_err(|error| say(&error).into())
}
