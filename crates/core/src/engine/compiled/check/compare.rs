//! A value and its gradient against those of the eager engine.

use super::super::super::eager::Eager;
use super::super::super::{Evaluator, Posterior};
use super::super::reason::Reason;
use crate::data::{Dataset, Precision, Rows};
use crate::error::Result;
use crate::tree::TensorTree;

/// How many times the eager engine's own rounding error is allowed.
const SLACK: f64 = 16.0;
/// Gradients that are smaller than this everywhere are compared as if one of them were this large: what is left of a gradient at a
/// mode is rounding.
const SMALLEST: f64 = 0.1;

/// A value and its gradient.
#[derive(Clone, Debug)]
pub(in crate::engine::compiled) struct Evaluated {
    pub(in crate::engine::compiled) value: f64,
    pub(in crate::engine::compiled) gradient: Vec<f64>,
}

impl Evaluated {
    pub(in crate::engine::compiled) fn zero(dim: usize) -> Self {
        Self { value: 0.0, gradient: vec![0.0; dim] }
    }

    fn is_finite(&self) -> bool {
        self.value.is_finite() && self.gradient.iter().all(|g| g.is_finite())
    }
}

/// How closely the engines must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::compiled) enum Closeness {
    /// As closely as rounding explains, also where a number is NaN or infinite.
    Rounding,
    /// As closely as can be expected where numbers are large, and gradients alone: those that differ more are of another function. Points
    /// where the eager engine does not have finite numbers are not compared.
    Function,
}

impl Closeness {
    /// Relative errors that are allowed. In double precision the smaller is Burn's: it differentiates x/c with c rounded to single
    /// precision.
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
    /// The log density, or the gradient of which coordinate.
    pub(in crate::engine::compiled) what: String,
    pub(in crate::engine::compiled) compiled: f64,
    pub(in crate::engine::compiled) eager: f64,
}

impl From<Difference> for Reason {
    fn from(Difference { what, compiled, eager }: Difference) -> Self {
        Self::new(format!("the compiled {what} is {compiled} where the eager one is {eager}"))
    }
}

/// Where `ours` is not the log posterior of `rows` that the eager engine gives; of all observations if there is no row.
///
/// The eager engine in double precision is the measure; a program in single precision may be as far from it as the eager engine in single
/// precision is, times [`SLACK`], or as rounding explains.
///
/// # Errors
///
/// Returns the eager engine's error.
pub(in crate::engine::compiled) fn difference<P: TensorTree, D: TensorTree>(
    (posterior, eager): (&Posterior<P, D>, &Eager<P, D>),
    theta: &[f64],
    rows: Rows<'_>,
    ours: &Evaluated,
    closeness: Closeness,
) -> Result<Option<Difference>> {
    let data = if rows.is_empty() { posterior.data().clone() } else { posterior.data().take(rows)? };
    let precision = eager.precision();
    let own = evaluate(posterior, eager, data.clone(), precision, theta)?;
    let exact = match precision {
        Precision::Single => evaluate(posterior, eager, data.clone(), Precision::Double, theta)?,
        Precision::Double => own.clone(),
    };
    if closeness == Closeness::Function && !(own.is_finite() && exact.is_finite()) {
        return Ok(None);
    }
    let compared = Compared { ours, own: &own, exact: &exact, relative: closeness.relative(precision) };
    if closeness == Closeness::Rounding {
        return Ok(compared.difference(eager, closeness, |_| 0.0));
    }
    let Some(difference) = compared.difference(eager, closeness, |_| 0.0) else { return Ok(None) };
    // Numbers that change as much when the point is rounded cannot be compared: the sine of a very large number is any.
    let rounding = if precision == Precision::Single { 1e-6 } else { 1e-14 };
    let rounded: Vec<f64> = theta.iter().map(|x| x * (1.0 + rounding)).collect();
    let moved = evaluate(posterior, eager, data, Precision::Double, &rounded)?;
    let sensitivity = |index: usize| (moved.gradient[index] - exact.gradient[index]).abs();
    Ok(compared.difference(eager, closeness, sensitivity).and(Some(difference)))
}

/// What the engines gave.
struct Compared<'a> {
    ours: &'a Evaluated,
    /// The eager engine in the precision of the program, and in double precision.
    own: &'a Evaluated,
    exact: &'a Evaluated,
    /// Relative errors that are allowed.
    relative: f64,
}

impl Compared<'_> {
    /// The first number that differs by more than rounding and `slack` of its coordinate. Values are not
    /// compared by [`Closeness::Function`]: rounding may put a number on the other side of a jump, as `floor` has them.
    fn difference(
        &self,
        eager: &impl Evaluator,
        closeness: Closeness,
        slack: impl Fn(usize) -> f64,
    ) -> Option<Difference> {
        let Self { ours, own, exact, relative } = *self;
        let scale = exact.gradient.iter().fold(SMALLEST, |largest, g| largest.max(g.abs()));
        let near = |ours: f64, own: f64, exact: f64, scale: f64| {
            let alike = (ours.is_nan() && own.is_nan()) || ours.to_bits() == own.to_bits();
            alike || (ours - exact).abs() <= SLACK * (own - exact).abs() + relative * (exact.abs() + scale)
        };
        if closeness == Closeness::Rounding && !near(ours.value, own.value, exact.value, 1.0) {
            return Some(Difference { what: "log density".into(), compiled: ours.value, eager: own.value });
        }
        let differs = |index: &usize| {
            let (g, own, exact) = (ours.gradient[*index], own.gradient[*index], exact.gradient[*index]);
            let explained = (g - exact).abs() <= SLACK * slack(*index);
            !near(g, own, exact, scale) && !explained
        };
        (0..ours.gradient.len()).find(differs).map(|index| Difference {
            what: format!("gradient of {}", eager.layout().coordinate(index)),
            compiled: ours.gradient[index],
            eager: own.gradient[index],
        })
    }
}

fn evaluate<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
    data: Dataset<D>,
    precision: Precision,
    theta: &[f64],
) -> Result<Evaluated> {
    let mut engine = eager.on(posterior, data.with_precision(precision), precision);
    let mut evaluated = Evaluated::zero(theta.len());
    let rows = engine.all_rows();
    evaluated.value = engine.posterior(theta, rows, &mut evaluated.gradient)?;
    Ok(evaluated)
}
