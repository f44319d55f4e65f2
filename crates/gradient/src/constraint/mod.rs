//! Constraints on the values of parameters, and their transforms from unconstrained coordinates.
//!
//! A sampler moves the unconstrained coordinates y. Closures, draws and summaries have the values x = f(y). The log
//! density of y is log p(f(y)) + log |∂f/∂y|. The Jacobian is added once, with the prior, and is not tempered: at
//! temperature T, of the model or of the run, the log density of y is log p(f(y))/T + log |∂f/∂y|, so that the values x
//! have density proportional to p(x)^{1/T}. The transforms are those of Stan, except `Softmax` and `Mirrored`. With the
//! latter both signs of y have the same value x = |y|, and the density of y is symmetric, so that a chain on y is the
//! chain x ← |x + …| of papers on non-negative parameters. It can reach the boundary, where `Positive` cannot. The
//! gradient jumps at zero unless that of log p vanishes there.
//!
//! | constraint | values x | coordinates | x = f(y) |
//! |---|---|---|---|
//! | `Positive` | x > 0 | one each | eʸ |
//! | `Lower(a)` | x > a | one each | a + eʸ |
//! | `Upper(b)` | x < b | one each | b − eʸ |
//! | `Interval(a, b)` | a < x < b | one each | a + (b − a) σ(y) |
//! | `UnitInterval` | 0 < x < 1 | one each | σ(y) |
//! | `Mirrored` | x ≥ 0 | one each | \|y\| |
//! | `Simplex` | x > 0, Σx = 1 over the last axis | K − 1 | stick breaking |
//! | `Softmax` | as `Simplex` | K | eʸᵏ/Σ eʸ |
//! | `Ordered` | x₁ < x₂ < … over the last axis | K | x₁ = y₁, steps eʸ |
//! | `PositiveOrdered` | 0 < x₁ < x₂ < … over the last axis | K | steps eʸ |
//! | `UnitVector` | Σx² = 1 over the last axis | K | y/‖y‖ |
//! | `CholeskyCorrelation` | Cholesky factor of a correlation matrix, over the last two axes | K(K − 1)/2 | partial correlations tanh y |
//!
//! To add a constraint, add a file with a type that implements [`Transform`], and an entry to the list in this module.
//! The list generates the enum [`Constraint`], its dispatch, and the function that `#[derive(TensorTree)]` calls. The
//! transform of tensors, which closures use, is in the module `constraint` of the crate `sgmcmc-core`.

mod cholesky_correlation;
mod interval;
mod lower;
mod mirrored;
mod ordered;
mod positive_ordered;
mod simplex;
mod softmax;
mod unit_vector;
mod upper;

use std::fmt;

use serde::{Deserialize, Serialize};

/// The maximum difference from one of the sum or the norm of start values.
const TOLERANCE: f64 = 1e-6;

/// The error that a value violates its constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OutsideError {
    /// The index of the value in its group.
    pub(crate) index: usize,
    /// The value.
    pub(crate) value: f64,
}

/// The division of a constrained parameter into groups that are transformed separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Groups {
    /// The number of groups.
    pub(crate) count: usize,
    /// The number of values per group.
    pub(crate) values: usize,
    /// The number of coordinates per group.
    pub(crate) free: usize,
}

impl Groups {
    /// Creates groups with one value and one coordinate each.
    fn elementwise(shape: &[usize]) -> Self {
        Self { count: shape.iter().product(), values: 1, free: 1 }
    }

    /// Creates groups along the last axis, with `missing` fewer coordinates than values.
    ///
    /// Returns `None` if the last axis has fewer than `minimum` entries.
    fn along_last_axis(shape: &[usize], minimum: usize, missing: usize) -> Option<Self> {
        let last = shape.last().copied().filter(|last| *last >= minimum)?;
        Some(Self { count: shape.iter().product::<usize>() / last, values: last, free: last - missing })
    }
}

/// A smooth map x = f(y) from unconstrained coordinates to constrained values, for one group.
pub(crate) trait Transform {
    /// Writes a description of the values that completes "must be …".
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Returns the groups of a parameter of this shape.
    ///
    /// # Errors
    ///
    /// Returns the reason if the shape or the bounds do not allow the constraint.
    fn groups(&self, shape: &[usize]) -> Result<Groups, &'static str>;

    /// Writes x = f(y).
    fn constrain(&self, y: &[f64], x: &mut [f64]);

    /// Writes y = f⁻¹(x).
    ///
    /// # Errors
    ///
    /// Returns the first value that violates the constraint.
    fn unconstrain(&self, x: &[f64], y: &mut [f64]) -> Result<(), OutsideError>;

    /// Returns log |∂f/∂y| and adds `factor` times its gradient to `gradient`.
    fn log_jacobian(&self, y: &[f64], factor: f64, gradient: &mut [f64]) -> f64;

    /// Returns `true` if the value at `index` of a group is the same for all coordinates.
    fn is_fixed(&self, group: Groups, index: usize) -> bool {
        let (_, _) = (group, index);
        false
    }
}

/// Generates [`Constraint`], its dispatch and its constructor functions from one list.
macro_rules! constraints {
    ($($(#[$doc:meta])* $function:ident, $variant:ident $(($($bound:ident),+))? => $transform:expr;)+) => {
        /// The set of values that a parameter can have. The [module](self) documents the transforms.
        ///
        /// # Examples
        ///
        /// ```
        /// use sgmcmc::{Constraint, Layout};
        ///
        /// let layout = Layout::new([("sigma".into(), vec![1], Some(Constraint::Positive))])?;
        /// assert_eq!(layout.values(&[0.0])?, [1.0]);
        /// assert!(layout.coordinates(&[-1.0]).is_err());
        /// # Ok::<(), sgmcmc::Error>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        pub enum Constraint {
            $($(#[$doc])* $variant $(($(constraints!(@f64 $bound)),+))?,)+
        }

        impl fmt::Display for Constraint {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self { $(Self::$variant $(($($bound),+))? => $transform.describe(f),)+ }
            }
        }

        impl Constraint {
            /// See [`Transform::groups`].
            pub(crate) fn groups(&self, shape: &[usize]) -> Result<Groups, &'static str> {
                match *self { $(Self::$variant $(($($bound),+))? => $transform.groups(shape),)+ }
            }

            /// See [`Transform::constrain`].
            pub(crate) fn constrain(&self, y: &[f64], x: &mut [f64]) {
                match *self { $(Self::$variant $(($($bound),+))? => $transform.constrain(y, x),)+ }
            }

            /// See [`Transform::unconstrain`].
            pub(crate) fn unconstrain(&self, x: &[f64], y: &mut [f64]) -> Result<(), OutsideError> {
                match *self { $(Self::$variant $(($($bound),+))? => $transform.unconstrain(x, y),)+ }
            }

            /// See [`Transform::log_jacobian`].
            pub(crate) fn log_jacobian(&self, y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
                match *self { $(Self::$variant $(($($bound),+))? => $transform.log_jacobian(y, factor, gradient),)+ }
            }

            /// See [`Transform::is_fixed`].
            pub(crate) fn is_fixed(&self, groups: Groups, index: usize) -> bool {
                match *self { $(Self::$variant $(($($bound),+))? => $transform.is_fixed(groups, index),)+ }
            }
        }

        $(
            $(#[$doc])*
            ///
            /// `#[derive(TensorTree)]` calls this for the attribute of the same name.
            pub fn $function($($($bound: impl Into<f64>),+)?) -> Constraint {
                Constraint::$variant $(($($bound.into()),+))?
            }
        )+
    };
    (@f64 $bound:ident) => { f64 };
}

constraints! {
    /// Values greater than zero.
    positive, Positive => lower::Lower { bound: 0.0 };
    /// Values greater than a bound.
    lower, Lower(bound) => lower::Lower { bound };
    /// Values less than a bound.
    upper, Upper(bound) => upper::Upper { bound };
    /// Values between two bounds.
    interval, Interval(lower, upper) => interval::Interval { lower, upper };
    /// Values between zero and one.
    unit_interval, UnitInterval => interval::Interval { lower: 0.0, upper: 1.0 };
    /// Values that are at least zero, the absolute values of their coordinates.
    mirrored, Mirrored => mirrored::Mirrored;
    /// Vectors along the last axis with positive entries that sum to one.
    simplex, Simplex => simplex::Simplex;
    /// Vectors along the last axis with increasing entries.
    ordered, Ordered => ordered::Ordered;
    /// Vectors along the last axis with positive, increasing entries.
    positive_ordered, PositiveOrdered => positive_ordered::PositiveOrdered;
    /// Vectors along the last axis with Euclidean norm one.
    unit_vector, UnitVector => unit_vector::UnitVector;
    /// Lower Cholesky factors of correlation matrices in the last two axes.
    cholesky_correlation, CholeskyCorrelation => cholesky_correlation::CholeskyCorrelation;
    /// Vectors along the last axis with positive entries that sum to one, with one coordinate per entry.
    softmax, Softmax => softmax::Softmax;
}

/// Writes `free(x)` of each value into `y`. Returns the first value for which `free` returns `None` as an error.
fn elementwise(x: &[f64], y: &mut [f64], free: impl Fn(f64) -> Option<f64>) -> Result<(), OutsideError> {
    for (index, (x, y)) in x.iter().zip(y).enumerate() {
        *y = free(*x).ok_or(OutsideError { index, value: *x })?;
    }
    Ok(())
}

/// Returns an error if a value is not positive or if the values do not sum to one.
fn check_simplex(x: &[f64]) -> Result<(), OutsideError> {
    if let Some(index) = x.iter().position(|x| x.is_nan() || *x <= 0.0) {
        return Err(OutsideError { index, value: x[index] });
    }
    let total: f64 = x.iter().sum();
    if (total - 1.0).abs() > TOLERANCE {
        return Err(OutsideError { index: x.len() - 1, value: x[x.len() - 1] });
    }
    Ok(())
}

/// Returns Σ y, the log-Jacobian of transforms that consist of exponentials. Adds `factor` to each entry of `gradient`.
fn log_jacobian_of_exponentials(y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
    gradient.iter_mut().for_each(|g| *g += factor);
    y.iter().sum()
}

/// Returns log σ(y) without overflow.
fn log_sigmoid(y: f64) -> f64 {
    y.min(0.0) - (-y.abs()).exp().ln_1p()
}
