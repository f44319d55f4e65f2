//! Runs without settings on the reference posteriors of posteriordb.
//!
//! The regressions have two entries: with orthogonal covariates, as in the table of all algorithms, and with the
//! covariates of the data, as a user would write them.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use sgmcmc::tuning::Auto;

use super::comparison::{Differences, Moments, Verdict};
use super::methods::{algorithm, smallest_ess};
use super::{SECTION, page};
use crate::Result;
use crate::suites::posteriordb::PosteriorDb;
use crate::suites::posteriors::coordinates::Coordinates;
use crate::suites::posteriors::problem::Problem;
use crate::suites::{Outcome, posteriors, sections};

/// A posterior with the results of its runs.
#[derive(Debug)]
pub(super) struct Case {
    /// The name of the posterior, and its covariates if they are those of the data.
    pub(super) label: String,
    pub(super) observations: usize,
    /// The results, or the error of a run, for every seed.
    pub(super) runs: Vec<std::result::Result<Run, String>>,
}

/// The results of one run.
#[derive(Debug)]
pub(super) struct Run {
    /// The name of the algorithm that was chosen.
    pub(super) algorithm: String,
    /// True if the run used minibatches.
    pub(super) minibatches: bool,
    pub(super) differences: Differences,
    pub(super) verdict: Verdict,
    /// The smallest bulk or tail effective sample size of all coordinates.
    pub(super) ess: f64,
    pub(super) seconds: f64,
}

impl Case {
    /// Returns the number of runs that fail: confident wrong answers and errors.
    pub(super) fn failures(&self) -> usize {
        self.runs.iter().filter(|run| run.as_ref().map_or(true, |run| run.verdict.failed())).count()
    }
}

/// Runs `seeds` seeds on every posterior and writes the section of `page`. With `names`, runs these posteriors and
/// writes nothing.
///
/// # Errors
///
/// Returns an error if there is no such posterior, or if a file cannot be read or written.
pub(super) fn run(names: &[&str], seeds: u64, page: &Path) -> Result<Outcome> {
    let Some(db) = PosteriorDb::find() else { return Ok(Outcome::NotRun) };
    let whole = posteriors::all(&db)?.into_iter().map(|problem| (problem.name.to_owned(), problem));
    let raw = posteriors::raw_regressions(&db)?.into_iter();
    let raw = raw.map(|problem| (format!("{}, raw covariates", problem.name), problem));
    let mut cases = Vec::new();
    for (label, problem) in whole.chain(raw) {
        if !names.is_empty() && !names.iter().any(|name| problem.name.starts_with(name)) {
            continue;
        }
        println!("{label}: N = {}", problem.observations);
        let reference = Moments::of_reference(&db.reference(problem.name)?);
        let problem = Arc::new(problem);
        let runs = (1..=seeds).map(|seed| {
            let run = one(&problem, &reference, seed).map_err(|error| error.to_string());
            match &run {
                Ok(run) => println!("  seed {seed}: {}", run.line()),
                Err(error) => println!("  seed {seed}: FAIL: {error}"),
            }
            run
        });
        cases.push(Case { label, observations: problem.observations, runs: runs.collect() });
    }
    if cases.is_empty() {
        return Err("there is no such posterior".into());
    }
    if names.is_empty() {
        let text = sections::read(page)?;
        sections::write(page, &sections::replace(&text, SECTION, &page::section(&cases)))?;
    }
    Ok(Outcome::from_failures(cases.iter().map(Case::failures).sum()))
}

/// Runs one seed.
fn one(problem: &Arc<Problem>, reference: &[Moments], seed: u64) -> Result<Run> {
    let target = Coordinates::model(problem);
    let start = Coordinates::start(&problem.start)?;
    let begin = Instant::now();
    let fit = Auto::new(target.clone()).seed(seed).sample(&start)?;
    let seconds = begin.elapsed().as_secs_f64();
    let values = problem.to_reference(&fit, |position| target.to_model(position))?;
    let differences = Differences::new(&Moments::of_summary(&values.summary()), reference)?;
    Ok(Run {
        algorithm: algorithm(fit.info()).to_owned(),
        minibatches: fit.info().minibatch.is_some(),
        verdict: Verdict::new(&fit, &differences),
        differences,
        ess: smallest_ess(&fit.summary()),
        seconds,
    })
}

impl Run {
    /// Returns the run as a line of text.
    fn line(&self) -> String {
        let (mean, sd) = (self.differences.worst_mean(), self.differences.worst_sd());
        format!(
            "{}, ESS {:.0}, {:.1} s; mean off by {:.3} ± {:.3} sd ({}), sd by {:.3} ± {:.3} ({}); check {}; {}",
            self.algorithm,
            self.ess,
            self.seconds,
            mean.mean.error,
            mean.mean.noise,
            mean.name,
            sd.sd.error,
            sd.sd.noise,
            sd.name,
            self.verdict.check(),
            self.verdict.describe()
        )
    }
}
