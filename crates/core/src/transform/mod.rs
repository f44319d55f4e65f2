//! The transforms x = f(y) of the constraints and their log-Jacobians log |∂f/∂y|, on tensors.
//!
//! The transforms are those of [`sgmcmc_gradient::constraint`], which documents the formulas.

mod bounds;
mod cholesky_correlation;
mod ordered;
mod simplex;
mod softmax;
mod unit_vector;

use burn_tensor::Tensor;
use sgmcmc_gradient::Constraint;

/// Constrained values, and the log Jacobian determinant of their transform.
pub(crate) struct Constrained {
    /// The values, one group per row.
    pub(crate) values: Tensor<2>,
    /// The sum of log |∂f/∂y| over all groups.
    pub(crate) log_jacobian: Tensor<1>,
}

/// Transforms the coordinates `y`, one group per row, to the values that `constraint` allows.
pub(crate) fn constrain(constraint: Constraint, y: Tensor<2>) -> Constrained {
    match constraint {
        Constraint::Positive => bounds::lower(0.0, y),
        Constraint::Lower(a) => bounds::lower(a, y),
        Constraint::Upper(b) => bounds::upper(b, y),
        Constraint::Interval(a, b) => bounds::interval(a, b, y),
        Constraint::UnitInterval => bounds::interval(0.0, 1.0, y),
        Constraint::Mirrored => bounds::mirrored(y),
        Constraint::Simplex => simplex::constrain(y),
        Constraint::Ordered => ordered::constrain(y),
        Constraint::PositiveOrdered => ordered::constrain_positive(y),
        Constraint::UnitVector => unit_vector::constrain(y),
        Constraint::CholeskyCorrelation => cholesky_correlation::constrain(y),
        Constraint::Softmax => softmax::constrain(y),
    }
}
