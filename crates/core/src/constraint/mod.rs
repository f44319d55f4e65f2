//! Constraints: parameters with bounded or structured values, moved by samplers without bounds.
//!
//! A sampler moves the free numbers y; closures, draws and summaries see x = f(y). The log density of y is
//! log p(f(y)) + log |∂f/∂y|. The Jacobian enters once, with the prior, and is not tempered: at temperature T, be it the model's
//! or the run's, the log density of y is log p(f(y))/T + log |∂f/∂y|, so that the values x have density p(x)^{1/T}.
//! The transforms are Stan's:
//!
//! | constraint | values x | free numbers | x = f(y) |
//! |---|---|---|---|
//! | `Positive` | x > 0 | one each | eʸ |
//! | `Lower(a)` | x > a | one each | a + eʸ |
//! | `Upper(b)` | x < b | one each | b − eʸ |
//! | `Interval(a, b)` | a < x < b | one each | a + (b − a) σ(y) |
//! | `UnitInterval` | 0 < x < 1 | one each | σ(y) |
//! | `Simplex` | x > 0, Σx = 1 over the last axis | K − 1 | stick breaking |
//! | `Ordered` | x₁ < x₂ < … over the last axis | K | x₁ = y₁, steps eʸ |
//! | `PositiveOrdered` | 0 < x₁ < x₂ < … over the last axis | K | steps eʸ |
//! | `UnitVector` | Σx² = 1 over the last axis | K | y/‖y‖ |
//! | `CholeskyCorrelation` | Cholesky factor of a correlation matrix, over the last two axes | K(K − 1)/2 | partial correlations tanh y |

mod bounded;
mod cholesky_correlation;
mod ordered;
mod simplex;
mod unit_vector;

use std::fmt;

use burn_tensor::Tensor;
use serde::{Deserialize, Serialize};

/// How far a sum or a norm of start values may be from one.
const TOLERANCE: f64 = 1e-6;

/// The values a parameter can take. See the [module](self) for the transforms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Constraint {
    /// Above zero.
    Positive,
    /// Above a bound.
    Lower(f64),
    /// Below a bound.
    Upper(f64),
    /// Between two bounds.
    Interval(f64, f64),
    /// Between zero and one.
    UnitInterval,
    /// Positive and adding up to one along the last axis.
    Simplex,
    /// Increasing along the last axis.
    Ordered,
    /// Positive and increasing along the last axis.
    PositiveOrdered,
    /// Of Euclidean norm one along the last axis.
    UnitVector,
    /// The lower Cholesky factor of a correlation matrix in the last two axes.
    CholeskyCorrelation,
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Positive => write!(f, "greater than 0"),
            Self::Lower(a) => write!(f, "greater than {a}"),
            Self::Upper(b) => write!(f, "less than {b}"),
            Self::Interval(a, b) => write!(f, "between {a} and {b}"),
            Self::UnitInterval => write!(f, "between 0 and 1"),
            Self::Simplex => write!(f, "positive and adding up to 1 along the last axis"),
            Self::Ordered => write!(f, "increasing along the last axis"),
            Self::PositiveOrdered => write!(f, "positive and increasing along the last axis"),
            Self::UnitVector => write!(f, "of norm 1 along the last axis"),
            Self::CholeskyCorrelation => write!(f, "the lower Cholesky factor of a correlation matrix"),
        }
    }
}

/// How a constrained leaf divides into groups that are transformed one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Groups {
    /// How many groups.
    pub(crate) count: usize,
    /// Values per group.
    pub(crate) values: usize,
    /// Free numbers per group.
    pub(crate) free: usize,
}

/// A value outside its constraint: the place in its group, and the value.
pub(crate) type Outside = (usize, f64);

impl Constraint {
    /// The groups of a leaf of this shape, or why there can be none.
    pub(crate) fn groups(&self, shape: &[usize]) -> Result<Groups, &'static str> {
        let count: usize = shape.iter().product();
        let last = shape.last().copied().unwrap_or(0);
        let along_last = |least: usize, free: usize, why| {
            if last >= least { Ok(Groups { count: count / last, values: last, free }) } else { Err(why) }
        };
        match self {
            Self::Positive | Self::UnitInterval => Ok(Groups { count, values: 1, free: 1 }),
            Self::Lower(bound) | Self::Upper(bound) if bound.is_finite() => Ok(Groups { count, values: 1, free: 1 }),
            Self::Lower(_) | Self::Upper(_) => Err("a bound must be finite"),
            Self::Interval(a, b) if a < b && a.is_finite() && b.is_finite() => Ok(Groups { count, values: 1, free: 1 }),
            Self::Interval(..) => Err("the lower bound must be below the upper bound, and both finite"),
            Self::Simplex => {
                along_last(2, last.saturating_sub(1), "a simplex needs at least 2 entries in its last axis")
            }
            Self::Ordered | Self::PositiveOrdered => along_last(1, last, "an ordered vector needs at least 1 entry"),
            Self::UnitVector => along_last(2, last, "a unit vector needs at least 2 entries in its last axis"),
            Self::CholeskyCorrelation => match shape {
                [.., rows, columns] if rows == columns && *rows >= 2 => {
                    Ok(Groups { count: count / (rows * rows), values: rows * rows, free: rows * (rows - 1) / 2 })
                }
                _ => Err("a Cholesky factor is square in its last two axes, and at least 2 × 2"),
            },
        }
    }

    /// x = f(y), for one group.
    pub(crate) fn constrain(&self, y: &[f64], x: &mut [f64]) {
        match *self {
            Self::Positive => bounded::above(0.0, y, x),
            Self::Lower(a) => bounded::above(a, y, x),
            Self::Upper(b) => bounded::below(b, y, x),
            Self::Interval(a, b) => bounded::between(a, b, y, x),
            Self::UnitInterval => bounded::between(0.0, 1.0, y, x),
            Self::Simplex => simplex::constrain(y, x),
            Self::Ordered => ordered::constrain(y, x),
            Self::PositiveOrdered => ordered::constrain_positive(y, x),
            Self::UnitVector => unit_vector::constrain(y, x),
            Self::CholeskyCorrelation => cholesky_correlation::constrain(y, x),
        }
    }

    /// y = f⁻¹(x), for one group.
    pub(crate) fn unconstrain(&self, x: &[f64], y: &mut [f64]) -> Result<(), Outside> {
        match *self {
            Self::Positive => bounded::free_above(0.0, x, y),
            Self::Lower(a) => bounded::free_above(a, x, y),
            Self::Upper(b) => bounded::free_below(b, x, y),
            Self::Interval(a, b) => bounded::free_between(a, b, x, y),
            Self::UnitInterval => bounded::free_between(0.0, 1.0, x, y),
            Self::Simplex => simplex::unconstrain(x, y),
            Self::Ordered => ordered::unconstrain(x, y),
            Self::PositiveOrdered => ordered::unconstrain_positive(x, y),
            Self::UnitVector => unit_vector::unconstrain(x, y),
            Self::CholeskyCorrelation => cholesky_correlation::unconstrain(x, y),
        }
    }

    /// Adds `factor` times the gradient of log |∂f/∂y|, for one group, to `gradient`; returns log |∂f/∂y|.
    pub(crate) fn log_jacobian(&self, y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
        match *self {
            Self::Positive | Self::Lower(_) | Self::Upper(_) => bounded::log_jacobian_one_sided(y, factor, gradient),
            Self::Interval(a, b) => bounded::log_jacobian_between(a, b, y, factor, gradient),
            Self::UnitInterval => bounded::log_jacobian_between(0.0, 1.0, y, factor, gradient),
            Self::Simplex => simplex::log_jacobian(y, factor, gradient),
            Self::Ordered => ordered::log_jacobian(y, factor, gradient),
            Self::PositiveOrdered => ordered::log_jacobian_positive(y, factor, gradient),
            Self::UnitVector => unit_vector::log_jacobian(y, factor, gradient),
            Self::CholeskyCorrelation => cholesky_correlation::log_jacobian(y, factor, gradient),
        }
    }

    /// x = f(y) row by row on tensors (groups × free → groups × values), and the total of log |∂f/∂y|.
    pub(crate) fn on_tensor(&self, y: Tensor<2>) -> (Tensor<2>, Tensor<1>) {
        match *self {
            Self::Positive => bounded::tensor_above(0.0, y),
            Self::Lower(a) => bounded::tensor_above(a, y),
            Self::Upper(b) => bounded::tensor_below(b, y),
            Self::Interval(a, b) => bounded::tensor_between(a, b, y),
            Self::UnitInterval => bounded::tensor_between(0.0, 1.0, y),
            Self::Simplex => simplex::on_tensor(y),
            Self::Ordered => ordered::on_tensor(y),
            Self::PositiveOrdered => ordered::on_tensor_positive(y),
            Self::UnitVector => unit_vector::on_tensor(y),
            Self::CholeskyCorrelation => cholesky_correlation::on_tensor(y),
        }
    }
}

/// log σ(y) without overflow.
fn log_sigmoid(y: f64) -> f64 {
    y.min(0.0) - (-y.abs()).exp().ln_1p()
}
