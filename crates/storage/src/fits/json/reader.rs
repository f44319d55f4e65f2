//! Nested JSON back into a fit.

use std::fs;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use sgmcmc_samplers::run::{Ending, Fit};

use super::nested::{Nested, Ordered, quote_non_finite};
use super::{ENDING, OWN_STATS};
use crate::error::{Error, Place, Problem, Result};
use crate::fits::table;
use crate::limit::{Budget, memory_limit};

#[derive(Deserialize)]
struct Groups {
    posterior: Ordered<Nested>,
    #[serde(default)]
    sample_stats: Ordered<Nested>,
}

/// Reads groups of nested arrays. Other groups than `posterior` and `sample_stats` are passed over, and so are sample statistics
/// that are no single number per draw.
///
/// # Errors
///
/// With file and line: if it is no JSON, has no posterior, or lists of different lengths.
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
    // There are not more numbers than commas and opening brackets.
    let numbers = text.iter().filter(|byte| matches!(byte, b',' | b'[')).count();
    budget.take_elements::<f64>(numbers as u64).map_err(fail)?;
    if text.trim_ascii().is_empty() {
        return Err(Error::file(path, Problem::NoDraws));
    }
    let groups: Groups = serde_json::from_slice(&quote_non_finite(&text)).map_err(|error| {
        let place = Place::line(error.line() as u64);
        let detail = error.to_string();
        let problem = if error.is_eof() { Problem::Truncated { detail } } else { Problem::Corrupt { detail } };
        Error::at(path, place, problem)
    })?;
    let [chains, draws] = sizes(path, &groups.posterior)?;
    let shapes = groups.posterior.0.iter().map(|(name, array)| (name.clone(), array.shape[2..].to_vec()));
    let layout = table::layout(path, shapes)?;
    let chain = |chain: usize| {
        let part = |array: &Nested, element: usize, width: usize| -> Vec<f64> {
            (0..draws).map(|draw| array.data[(chain * draws + draw) * width + element]).collect()
        };
        let mut columns = table::Chain::default();
        for (_, array) in &groups.posterior.0 {
            let width = array.shape[2..].iter().product();
            columns.values.extend((0..width).map(|element| part(array, element, width)));
        }
        for (name, array) in
            groups.sample_stats.0.iter().filter(|(name, array)| name != ENDING && array.shape == [chains, draws])
        {
            let column = part(array, 0, 1);
            match OWN_STATS.iter().position(|own| own == name) {
                Some(0) => columns.log_posterior = Some(column),
                Some(1) => columns.weights = Some(column),
                Some(_) => columns.iterations = Some(column.into_iter().map(|iteration| iteration as u64).collect()),
                None => columns.stats.push((name.clone(), column)),
            }
        }
        (columns, draws)
    };
    let numbered = (0..chains).map(|number| (number, chain(number).0, draws)).collect();
    let fit = table::fit(path, layout, numbered, &table::Planned::new())?;
    match groups.sample_stats.0.iter().find(|(name, array)| name == ENDING && array.shape == [chains, draws]) {
        Some((_, codes)) => {
            let endings = codes.data.chunks(draws).map(|codes| ending(codes[0])).collect();
            fit.with_endings(endings).map_err(Error::content(path))
        }
        None => Ok(fit),
    }
}

fn ending(code: f64) -> Ending {
    match code as u8 {
        0 => Ending::Complete,
        1 => Ending::Stopped,
        _ => Ending::Failed(sgmcmc_core::Error::Recorded {
            message: "JSON files do not keep the reason for which a chain failed".into(),
        }),
    }
}

/// Chains and draws, the same for all variables.
fn sizes(path: &Path, posterior: &Ordered<Nested>) -> Result<[usize; 2]> {
    let mut found = None;
    for (name, array) in &posterior.0 {
        let [chains, draws, ..] = array.shape[..] else {
            let detail = format!("`{name}` has {} axes, where chains and draws are the first two", array.shape.len());
            return Err(Error::at(path, Place::default().column(name.clone()), Problem::Corrupt { detail }));
        };
        let expected = *found.get_or_insert([chains, draws]);
        if expected != [chains, draws] {
            let detail =
                format!("it has chains and draws {:?} where another variable has {expected:?}", [chains, draws]);
            return Err(Error::at(path, Place::default().column(name.clone()), Problem::Corrupt { detail }));
        }
    }
    found.filter(|[chains, draws]| *chains > 0 && *draws > 0).ok_or_else(|| Error::file(path, Problem::NoDraws))
}
