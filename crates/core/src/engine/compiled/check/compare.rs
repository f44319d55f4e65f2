//! Comparison of a value and its gradient with those of the eager engine.

use super::super::super::eager::Eager;
use sgmcmc_gradient::Evaluator;

use super::super::super::Posterior;
use super::super::compile_error::CompileError;
use crate::data::Dataset;
use crate::tree::TensorTree;
use sgmcmc_gradient::data::{Precision, Rows};
use sgmcmc_gradient::error::Result;
use sgmcmc_gradient::layout::Layout;

/// The tolerated multiple of the rounding error of the eager engine.
const SLACK: f64 = 16.0;
/// The minimum scale of a gradient for relative errors. A gradient at a mode consists of rounding errors.
const SMALLEST: f64 = 0.1;

/// A value and its gradient.
#[derive(Clone, Debug)]
pub(in crate::engine::compiled) struct Evaluated {
    pub(in crate::engine::compiled) value: f64,
    pub(in crate::engine::compiled) gradient: Vec<f64>,
}

impl Evaluated {
    /// Creates a zero value with a zero gradient.
    pub(in crate::engine::compiled) fn zero(dim: usize) -> Self {
        Self { value: 0.0, gradient: vec![0.0; dim] }
    }

    fn is_finite(&self) -> bool {
        self.value.is_finite() && self.gradient.iter().all(|g| g.is_finite())
    }
}

/// The required agreement of the engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::compiled) enum Closeness {
    /// Agreement up to rounding errors, also for NaN and infinite numbers.
    Rounding,
    /// Agreement of the gradients up to errors that are expected for large numbers. Larger differences mean that the
    /// functions differ. Points at which the eager engine returns numbers that are not finite are not compared.
    Function,
}

impl Closeness {
    /// Returns the tolerated relative error. The tolerance for rounding in double precision is that of Burn, whose
    /// derivative of x/c rounds c to single precision.
    fn relative(self, precision: Precision) -> f64 {
        match (self, precision) {
            (Self::Rounding, Precision::Single) => 1e-4,
            (Self::Rounding, Precision::Double) => 1e-6,
            (Self::Function, Precision::Single) => 3e-2,
            (Self::Function, Precision::Double) => 1e-4,
        }
    }
}

/// The first number in which two engines differ.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::engine::compiled) struct Difference {
    /// The name of the number: the log density, or the gradient of a coordinate.
    pub(in crate::engine::compiled) what: String,
    pub(in crate::engine::compiled) compiled: f64,
    pub(in crate::engine::compiled) eager: f64,
}

impl From<Difference> for CompileError {
    fn from(Difference { what, compiled, eager }: Difference) -> Self {
        Self::new(format!("the compiled {what} is {compiled} where the eager one is {eager}"))
    }
}

/// The posterior and its eager engine.
pub(in crate::engine::compiled) struct Engines<'a, P, D> {
    pub(in crate::engine::compiled) posterior: &'a Posterior<P, D>,
    pub(in crate::engine::compiled) eager: &'a Eager<P, D>,
}

impl<P: TensorTree, D: TensorTree> Engines<'_, P, D> {
    /// Returns the first difference between `compiled` and the log posterior of `rows` of the eager engine, or `None`
    /// if they agree. If `rows` is empty, the log posterior is that of all observations.
    ///
    /// The reference is the eager engine in double precision. The tolerated error of a program in single precision is
    /// [`SLACK`] times the error of the eager engine in single precision, plus rounding errors.
    ///
    /// # Errors
    ///
    /// Returns the error of the eager engine.
    pub(in crate::engine::compiled) fn difference(
        &self,
        theta: &[f64],
        rows: Rows<'_>,
        compiled: &Evaluated,
        closeness: Closeness,
    ) -> Result<Option<Difference>> {
        let data = if rows.is_empty() { self.posterior.data().clone() } else { self.posterior.data().take(rows)? };
        let precision = self.eager.precision();
        let eager = self.evaluate(data.clone(), precision, theta)?;
        let exact = match precision {
            Precision::Single => self.evaluate(data.clone(), Precision::Double, theta)?,
            Precision::Double => eager.clone(),
        };
        if closeness == Closeness::Function && !(eager.is_finite() && exact.is_finite()) {
            return Ok(None);
        }
        let relative = closeness.relative(precision);
        let comparison = Comparison { compiled, eager: &eager, exact: &exact, relative, closeness };
        let layout = self.eager.layout();
        if closeness == Closeness::Rounding {
            return Ok(comparison.difference(layout, |_| 0.0));
        }
        let Some(difference) = comparison.difference(layout, |_| 0.0) else { return Ok(None) };
        // A gradient that changes by as much if the point is rounded cannot be compared, for example that of the sine
        // of a large number.
        let rounding = if precision == Precision::Single { 1e-6 } else { 1e-14 };
        let rounded: Vec<f64> = theta.iter().map(|x| x * (1.0 + rounding)).collect();
        let moved = self.evaluate(data, Precision::Double, &rounded)?;
        let sensitivity = |index: usize| (moved.gradient[index] - exact.gradient[index]).abs();
        Ok(comparison.difference(layout, sensitivity).and(Some(difference)))
    }

    /// Evaluates the log posterior of `data` with the eager engine.
    fn evaluate(&self, data: Dataset<D>, precision: Precision, theta: &[f64]) -> Result<Evaluated> {
        let mut engine = self.eager.with_data(self.posterior, data.with_precision(precision), precision);
        let mut evaluated = Evaluated::zero(theta.len());
        let rows = engine.all_rows();
        evaluated.value = engine.posterior(theta, rows, &mut evaluated.gradient)?;
        Ok(evaluated)
    }
}

/// The results of the engines at one point.
struct Comparison<'a> {
    compiled: &'a Evaluated,
    /// The result of the eager engine in the precision of the program.
    eager: &'a Evaluated,
    /// The result of the eager engine in double precision.
    exact: &'a Evaluated,
    /// The tolerated relative error.
    relative: f64,
    closeness: Closeness,
}

impl Comparison<'_> {
    /// Returns the first number that differs by more than rounding errors and the `slack` of its coordinate.
    ///
    /// [`Closeness::Function`] does not compare values, because rounding may move a number across a discontinuity, such
    /// as those of `floor`.
    fn difference(&self, layout: &Layout, slack: impl Fn(usize) -> f64) -> Option<Difference> {
        let Self { compiled, eager, exact, relative, closeness } = *self;
        let scale = exact.gradient.iter().fold(SMALLEST, |largest, g| largest.max(g.abs()));
        let near = |compiled: f64, eager: f64, exact: f64, scale: f64| {
            let same = (compiled.is_nan() && eager.is_nan()) || compiled.to_bits() == eager.to_bits();
            same || (compiled - exact).abs() <= SLACK * (eager - exact).abs() + relative * (exact.abs() + scale)
        };
        if closeness == Closeness::Rounding && !near(compiled.value, eager.value, exact.value, 1.0) {
            return Some(Difference { what: "log density".into(), compiled: compiled.value, eager: eager.value });
        }
        let differs = |index: &usize| {
            let (g, eager, exact) = (compiled.gradient[*index], eager.gradient[*index], exact.gradient[*index]);
            let explained = (g - exact).abs() <= SLACK * slack(*index);
            !near(g, eager, exact, scale) && !explained
        };
        (0..compiled.gradient.len()).find(differs).map(|index| Difference {
            what: format!("gradient of {}", layout.coordinate_name(index)),
            compiled: compiled.gradient[index],
            eager: eager.gradient[index],
        })
    }
}
