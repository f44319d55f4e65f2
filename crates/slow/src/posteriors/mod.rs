//! The reference posteriors of posteriordb: models, data, and the parameters that the reference draws are of.

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
use crate::posteriordb::PosteriorDb;

/// All reference posteriors.
///
/// # Errors
///
/// If a file is missing or is not what it should be.
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

/// `beta[1]`, `beta[2]`, …: elements as the reference counts them.
fn numbered(name: &str, count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(move |index| format!("{name}[{index}]"))
}
