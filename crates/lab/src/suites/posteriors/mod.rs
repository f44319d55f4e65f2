//! The reference posteriors of posteriordb: models, data and reference parameters.

mod autoregression;
pub(crate) mod coordinates;
mod diamonds;
mod eight_schools;
pub(crate) mod exact;
mod metric;
mod mixture;
pub(crate) mod problem;
mod regression;

use problem::Problem;

use crate::Result;
use crate::suites::posteriordb::PosteriorDb;

/// Returns all reference posteriors.
///
/// # Errors
///
/// Returns an error if a file is missing or malformed.
pub(crate) fn all(db: &PosteriorDb) -> Result<Vec<Problem>> {
    let mut problems = regression::problems(db)?;
    problems.extend([
        autoregression::problem(db)?,
        mixture::problem(db)?,
        diamonds::problem(db)?,
        eight_schools::problem(db)?,
    ]);
    Ok(problems)
}

/// Returns the regressions among the reference posteriors with the covariates of the data, as a user would write them.
/// In [`all`] the covariates are orthogonal.
///
/// # Errors
///
/// Returns an error if a file is missing or malformed.
pub(crate) fn raw_regressions(db: &PosteriorDb) -> Result<Vec<Problem>> {
    regression::raw_problems(db)
}

/// Returns the names `beta[1]`, `beta[2]`, …, counted from one as in the reference.
fn numbered(name: &str, count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(move |index| format!("{name}[{index}]"))
}
