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
    let mut problems: Vec<Problem> = regression::problems(db)?.into();
    problems.extend([
        autoregression::problem(db)?,
        mixture::problem(db)?,
        diamonds::problem(db)?,
        eight_schools::problem(db)?,
    ]);
    Ok(problems)
}

/// Returns the names `beta[1]`, `beta[2]`, …, counted from one as in the reference.
fn numbered(name: &str, count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(move |index| format!("{name}[{index}]"))
}
