//! Accuracy on the reference posteriors: every stochastic-gradient algorithm on every posterior, held against the reference draws.
//!
//! | criterion | bound |
//! |---|---|
//! | mean | at most 0.1 reference standard deviations off |
//! | standard deviation | at most 10 % off, or as far off as the documented limitation of the method predicts |
//! | effective draws | at least 1000 of every parameter, else the run is too short to judge |
//! | law of methods that accept or reject | p-value of a Kolmogorov-Smirnov test against the reference draws at least 1e-4 |
//!
//! Step sizes follow one rule per method, from curvature and noise at the mode: see [`plan`]. The table becomes `docs/accuracy.md`.

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

use crate::posteriordb::PosteriorDb;
use crate::posteriors::exact::{self, ExactCell};
use crate::{Outcome, Result, posteriors};

/// Posteriors that methods which accept or reject are run on: one close to normal, one far from it.
const EXACT: [&str; 2] = ["arK-arK", "eight_schools-eight_schools_noncentered"];

/// What was found on one posterior.
#[derive(Debug)]
struct Section {
    tuning: Tuning,
    cells: Vec<Cell>,
    /// NUTS at the compute of each cell; nothing where it is not part of this program.
    nuts: Option<Vec<AtEqualCompute>>,
}

/// Checks all posteriors and writes the page to `page`, or only checks the one called `only`.
pub(crate) fn run(only: Option<&str>, page: &Path) -> Result<Outcome> {
    let Some(db) = PosteriorDb::find() else { return Ok(Outcome::NotRun) };
    let (mut sections, mut exact) = (Vec::new(), Vec::new());
    for problem in posteriors::all(&db)? {
        if only.is_some_and(|only| only != problem.name) {
            continue;
        }
        let reference = db.reference(problem.name)?;
        let tuning = Tuning::of(&Arc::new(problem))?;
        println!(
            "{}: N = {}, minibatch {}, mode search {}; largest curvature {:.2}",
            tuning.problem.name, tuning.problem.observations, tuning.batch, tuning.mode, tuning.curvature
        );
        println!("  errors are: worst mean in sd; ratios of sds; least ESS");
        let cells = cell::cells(&tuning, &reference)?;
        let budget = cells.iter().map(|cell| cell.rows).fold(0.0, f64::max);
        let nuts = match NutsRun::of(&tuning, budget)? {
            Some(run) => {
                let at = cells.iter().map(|cell| run.at(cell.rows, &reference)).collect::<Result<Vec<_>>>()?;
                if let Some(AtEqualCompute::Reached(best)) = at.last() {
                    println!("  {:<27} at the compute of the last row: {}", "NUTS", best.in_short());
                }
                Some(at)
            }
            None => None,
        };
        if EXACT.contains(&tuning.problem.name) {
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
    Ok(Outcome::of(failures + exact.iter().filter(|cell| !cell.passed()).count()))
}

/// Writes the page, if it is complete.
fn write(sections: &[Section], exact: &[ExactCell], page: &Path) -> Result<()> {
    match page::page(sections, exact) {
        Some(text) => {
            std::fs::write(page, text)
                .map_err(|error| format!("{}: {error}; name another file by --page", page.display()))?;
            println!("written: {}", page.display());
        }
        None => {
            println!("not written: {}; the page has a column for NUTS, which needs --features nuts", page.display())
        }
    }
    Ok(())
}
