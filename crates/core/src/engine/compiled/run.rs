//! Runs of a program on selected observations.

use sgmcmc_compiler::program::{Call, Output, Program, Real, RowSelection, RunError};

use super::columns::InPlace;
use sgmcmc_gradient::data::{Column, Rows, Selection, Weights};
use sgmcmc_gradient::error::{Closure, Error, Result};

/// The arguments of a run.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    /// The leaves of the data.
    pub(super) columns: &'a [Column],
    /// The coordinates of the parameters.
    pub(super) theta: &'a [f64],
    /// The observations and their weights.
    pub(super) rows: Rows<'a>,
    /// The factor of the sum over the observations.
    pub(super) power: f64,
}

impl<'a> Task<'a> {
    /// Creates a task without observations, for the prior.
    pub(super) fn prior(theta: &'a [f64]) -> Self {
        Self { columns: &[], theta, rows: Rows::range(0..0), power: 1.0 }
    }
}

/// Runs `program` and returns `power` · Σ wᵢ (value of observation i) + the shared value. Writes to `output`.
///
/// # Errors
///
/// Returns an error if an index is out of range, or if the file that holds a column can no longer be read.
pub(super) fn run<T: Real>(program: &mut Program<T>, task: Task<'_>, output: Output<'_>) -> Result<f64> {
    let Task { columns, theta, rows, power } = task;
    let (weights, scale) = match rows.weights() {
        Weights::Same(weight) => (None, weight * power),
        Weights::Each(weights) => (Some(weights), power),
    };
    columns.iter().try_for_each(Column::check_readable)?;
    let staged: Vec<Column>;
    let (columns, selection) = if columns.iter().all(Column::in_place) {
        (
            columns,
            match rows.selection() {
                Selection::Range { start, .. } => RowSelection::Range(start),
                Selection::List(rows) => RowSelection::List(rows),
            },
        )
    } else {
        // Reading the selected observations of a file is faster than mapping the pages that contain them.
        staged = columns.iter().map(|column| column.take(rows)).collect();
        // Checked again, because another process may have truncated the file while it was read.
        columns.iter().try_for_each(Column::check_readable)?;
        (staged.as_slice(), RowSelection::Range(0))
    };
    let columns = InPlace(columns);
    let call = Call { theta, columns: &columns, selection, rows: rows.len(), weights, scale };
    program.run(call, output).map_err(index_error)
}

/// Converts an index out of range to the error that the eager engine returns for it.
fn index_error(error: RunError) -> Error {
    Error::ClosurePanicked { closure: Closure::LogLikelihood, message: error.to_string() }
}
