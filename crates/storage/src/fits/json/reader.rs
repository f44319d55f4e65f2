//! The reader of nested JSON.

use std::fs;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use sgmcmc_fit::{ChainOutcome, Fit, Group, Variable};

use super::nested::{Nested, Ordered, quote_non_finite};
use super::{OUTCOME, OWN_STATS};
use crate::error::{Error, FilePosition, Problem, Result};
use crate::fits::table;
use crate::limit::{Budget, memory_limit};

/// The groups of a file. Those beside the draws are kept as text, because they may be anything.
#[derive(Deserialize)]
struct Groups<'a> {
    posterior: Ordered<Nested>,
    #[serde(default)]
    sample_stats: Ordered<Nested>,
    #[serde(default, borrow)]
    log_likelihood: Option<&'a RawValue>,
    #[serde(default, borrow)]
    posterior_predictive: Option<&'a RawValue>,
    #[serde(default, borrow)]
    observed_data: Option<&'a RawValue>,
    #[serde(default, borrow)]
    constant_data: Option<&'a RawValue>,
    #[serde(default, borrow)]
    prior: Option<&'a RawValue>,
    #[serde(default, borrow)]
    prior_predictive: Option<&'a RawValue>,
}

impl Groups<'_> {
    /// Returns the groups of arrays beside the draws. Arrays without draws are data.
    fn others(&self) -> Vec<Group> {
        let others = [
            ("log_likelihood", self.log_likelihood),
            ("posterior_predictive", self.posterior_predictive),
            ("observed_data", self.observed_data),
            ("constant_data", self.constant_data),
            ("prior", self.prior),
            ("prior_predictive", self.prior_predictive),
        ];
        let group = |(name, text): (&str, Option<&RawValue>)| {
            let Ordered(arrays): Ordered<Nested> = serde_json::from_str(text?.get()).ok()?;
            let draws: &[&str] = if name.contains("data") { &[] } else { &["chain", "draw"] };
            let variable = |(array, Nested { shape, data }): (String, Nested)| {
                let inner = (0..shape.len().saturating_sub(draws.len())).map(|axis| format!("{array}_dim_{axis}"));
                let dimensions = draws.iter().map(|name| (*name).to_owned()).chain(inner).take(shape.len()).collect();
                Variable { name: array, dimensions, shape, values: data }
            };
            Some(Group { name: name.to_owned(), variables: arrays.into_iter().map(variable).collect() })
        };
        others.into_iter().filter_map(group).collect()
    }
}

/// Reads the groups `posterior` and `sample_stats`, and those of log-likelihoods, predictions, data and the prior. Other
/// groups are skipped, groups whose draws are not those of the posterior, and sample statistics that are not one number
/// per draw.
///
/// # Errors
///
/// Returns an error with file and line if the file is not JSON, has no posterior, or has lists of different lengths.
///
/// # Examples
///
/// See [`write`](super::write).
pub fn read(path: impl AsRef<Path>) -> Result<Fit> {
    read_within(path.as_ref(), memory_limit())
}

pub(in crate::fits) fn read_within(path: &Path, limit: u64) -> Result<Fit> {
    let mut budget = Budget::new(limit);
    let fail = |problem| Error::file(path, problem);
    let length = fs::metadata(path).map_err(|error| fail(Problem::Io(error)))?.len();
    budget.take(length).map_err(fail)?;
    let mut text = Vec::new();
    let file = fs::File::open(path).map_err(|error| fail(Problem::Io(error)))?;
    file.take(length).read_to_end(&mut text).map_err(|error| fail(Problem::Io(error)))?;
    // The number of commas and opening brackets is an upper bound of the number of numbers.
    let numbers = text.iter().filter(|byte| matches!(byte, b',' | b'[')).count();
    budget.take_elements::<f64>(numbers as u64).map_err(fail)?;
    if text.trim_ascii().is_empty() {
        return Err(Error::file(path, Problem::NoDraws));
    }
    let text = quote_non_finite(&text);
    let groups: Groups<'_> = serde_json::from_slice(&text).map_err(|error| {
        let position = FilePosition::line(error.line() as u64);
        let detail = error.to_string();
        let problem = if error.is_eof() { Problem::Truncated { detail } } else { Problem::Corrupt { detail } };
        Error::at_position(path, position, problem)
    })?;
    let others = groups.others();
    let [chains, draws] = sizes(path, &groups.posterior)?;
    let shapes = groups.posterior.0.iter().map(|(name, array)| (name.clone(), array.shape[2..].to_vec()));
    let layout = table::layout(path, shapes)?;
    let chain = |chain: usize| {
        let part = |array: &Nested, element: usize, width: usize| -> Vec<f64> {
            (0..draws).map(|draw| array.data[(chain * draws + draw) * width + element]).collect()
        };
        let mut columns = table::Chain { number: chain, draws, ..Default::default() };
        for (_, array) in &groups.posterior.0 {
            let width = array.shape[2..].iter().product();
            columns.values.extend((0..width).map(|element| part(array, element, width)));
        }
        for (name, array) in
            groups.sample_stats.0.iter().filter(|(name, array)| name != OUTCOME && array.shape == [chains, draws])
        {
            let column = part(array, 0, 1);
            match OWN_STATS.iter().position(|own| own == name) {
                Some(0) => columns.log_posterior = Some(column),
                Some(1) => columns.weights = Some(column),
                Some(_) => columns.iterations = Some(column.into_iter().map(|iteration| iteration as u64).collect()),
                None => columns.stats.push((name.clone(), column)),
            }
        }
        columns
    };
    let mut fit = table::fit(path, layout, (0..chains).map(chain).collect(), &table::Planned::new())?;
    for group in others {
        if fit.accepts_group(&group) {
            fit = fit.with_group(group).map_err(Error::content(path))?;
        }
    }
    match groups.sample_stats.0.iter().find(|(name, array)| name == OUTCOME && array.shape == [chains, draws]) {
        Some((_, codes)) => {
            let outcomes = codes.data.chunks(draws).map(|codes| outcome(codes[0])).collect();
            fit.with_outcomes(outcomes).map_err(Error::content(path))
        }
        None => Ok(fit),
    }
}

/// Returns the outcome of a code.
fn outcome(code: f64) -> ChainOutcome {
    match code as u8 {
        0 => ChainOutcome::Complete,
        1 => ChainOutcome::Stopped,
        3 => ChainOutcome::Failed(sgmcmc_gradient::Error::RecordedDivergence {
            message: "JSON files do not keep the details of a divergence".into(),
        }),
        _ => ChainOutcome::Failed(sgmcmc_gradient::Error::Recorded {
            message: "JSON files do not keep the reason of a failed chain".into(),
        }),
    }
}

/// Returns the number of chains and of draws, which all variables share.
fn sizes(path: &Path, posterior: &Ordered<Nested>) -> Result<[usize; 2]> {
    let mut found = None;
    for (name, array) in &posterior.0 {
        let [chains, draws, ..] = array.shape[..] else {
            let detail = format!("`{name}` has {} axes, where chains and draws are the first two", array.shape.len());
            return Err(Error::at_position(
                path,
                FilePosition::default().column(name.clone()),
                Problem::Corrupt { detail },
            ));
        };
        let expected = *found.get_or_insert([chains, draws]);
        if expected != [chains, draws] {
            let detail =
                format!("it has chains and draws {:?} where another variable has {expected:?}", [chains, draws]);
            return Err(Error::at_position(
                path,
                FilePosition::default().column(name.clone()),
                Problem::Corrupt { detail },
            ));
        }
    }
    found.filter(|[chains, draws]| *chains > 0 && *draws > 0).ok_or_else(|| Error::file(path, Problem::NoDraws))
}
