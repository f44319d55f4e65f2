//! Every stochastic-gradient algorithm compared with the reference draws of every posterior: the command `posteriors`.
//!
//! | criterion | bound |
//! |---|---|
//! | mean | error of at most 0.1 reference standard deviations |
//! | standard deviation | error of at most 10 %, or the error predicted by the documented limitation of the method |
//! | effective draws | at least 1000 for every parameter; otherwise the run is too short to judge |
//! | distribution, for methods with a Metropolis step | p-value of a Kolmogorov-Smirnov test against the reference draws at least 1e-4 |
//!
//! The step size of each method follows from the curvature and the noise around the mode; see [`plan`]. The results are
//! written to `docs/accuracy.md`, where the section of runs without settings is kept: see
//! [`accuracy`].

pub(crate) mod agreement;
mod cell;
mod methods;
mod nuts;
mod page;
pub(crate) mod plan;
mod run;
pub(crate) mod tuning;

use std::path::Path;
use std::sync::Arc;

use cell::Cell;
use nuts::{AtEqualCompute, NutsRun};
use tuning::Tuning;

use crate::suites::posteriordb::PosteriorDb;
use crate::suites::posteriors::exact::{self, ExactCell};
use crate::suites::{Outcome, Result, accuracy, posteriors, sections};

/// The posteriors for the methods with a Metropolis step: one close to normal, one far from it.
const METROPOLIS_POSTERIORS: [&str; 2] = ["arK-arK", "eight_schools-eight_schools_noncentered"];

/// The results on one posterior.
#[derive(Debug)]
struct Section {
    tuning: Tuning,
    cells: Vec<Cell>,
    /// The results of NUTS at the compute of each cell; `None` without the feature `nuts`.
    nuts: Option<Vec<AtEqualCompute>>,
}

/// Checks all posteriors and writes the page to `page`. With `only`, checks the posterior of this name and writes no
/// page.
pub(crate) fn run(only: Option<&str>, page: &Path) -> Result<Outcome> {
    let Some(db) = PosteriorDb::find() else { return Ok(Outcome::NotRun) };
    let (mut sections, mut exact) = (Vec::new(), Vec::new());
    for problem in posteriors::all(&db)? {
        if only.is_some_and(|only| only != problem.name) {
            continue;
        }
        let reference = db.reference(problem.name)?;
        let tuning = Tuning::new(&Arc::new(problem))?;
        println!(
            "{}: N = {}, minibatch {}, mode search {}; largest curvature {:.2}",
            tuning.problem.name, tuning.problem.observations, tuning.batch, tuning.mode, tuning.curvature
        );
        println!("  errors: largest error of a mean in sd; ratios of sds; smallest ESS");
        let cells = cell::cells(&tuning, &reference)?;
        let budget = cells.iter().map(|cell| cell.row_gradients).fold(0.0, f64::max);
        let nuts = match NutsRun::new(&tuning, budget)? {
            Some(run) => {
                let at = cells
                    .iter()
                    .map(|cell| run.within_budget(cell.row_gradients, &reference))
                    .collect::<Result<Vec<_>>>()?;
                if let Some(AtEqualCompute::Reached(best)) = at.last() {
                    println!("  {:<27} at the compute of the last row: {}", "NUTS", best.short_text());
                }
                Some(at)
            }
            None => None,
        };
        if METROPOLIS_POSTERIORS.contains(&tuning.problem.name) {
            exact.extend(exact::cells(&tuning, &reference)?);
        }
        sections.push(Section { tuning, cells, nuts });
    }
    if sections.is_empty() {
        return Err("there is no such posterior".into());
    }
    if only.is_none() {
        write(&sections, &exact, page)?;
    }
    let failures = sections.iter().flat_map(|section| &section.cells).filter(|cell| cell.verdict.failed()).count();
    Ok(Outcome::from_failures(failures + exact.iter().filter(|cell| !cell.passed()).count()))
}

/// Writes the page, with the section of runs without settings that it has, or prints a message if the results of NUTS
/// are missing.
fn write(sections: &[Section], exact: &[ExactCell], page: &Path) -> Result<()> {
    match page::page(sections, exact) {
        Some(text) => {
            let old = sections::read(page)?;
            sections::write(page, &sections::keep(&old, text, accuracy::SECTION))?;
        }
        None => {
            println!("not written: {}; the page has a column for NUTS, which needs --features nuts", page.display())
        }
    }
    Ok(())
}
