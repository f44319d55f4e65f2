//! Comparison of the programs with the eager engine before a run.
//!
//! The value and gradient of the log posterior are compared at random points near the initial parameters with random
//! observations, and at points far away with representative observations. Operations that are missing in a recording,
//! such as `detach`, cause a difference of the gradients.

mod compare;
mod long_closures;

use rand::{RngExt, SeedableRng};
use sgmcmc_compiler::program::{Output, Program, Real};

pub(super) use self::compare::{Closeness, Difference, Engines, Evaluated};
use super::super::eager::Eager;
use sgmcmc_gradient::Evaluator;

use super::super::{Posterior, spread};
use super::compilation::Compilation;
use super::compile_error::CompileError;
use super::run::{Task, run};
use crate::tree::TensorTree;
use sgmcmc_gradient::data::{Precision, Rows};
use sgmcmc_gradient::error::Error;
use sgmcmc_gradient::rng::StreamRng;

/// The maximum number of recorded operations for comparisons with the gradient of the eager engine. The time of its
/// backward pass is quadratic in the number of operations. The gradients of longer closures are compared with finite
/// differences of the eager value.
pub(super) const EAGER_GRADIENT: usize = 10_000;
/// The number of recorded operations above which fewer comparisons are made.
const MANY: usize = 2_000;
/// The numbers of observations of the comparisons near the initial parameters.
const ROW_COUNTS: [usize; 3] = [1, 2, 13];
/// The distances of the points near the initial parameters. Initial parameters of zeros or ones are often at a kink of
/// a function, where the engines may use different one-sided derivatives. The initial parameters themselves are
/// compared only if the log density is not finite at the other points.
const SPREADS: [f64; 3] = [0.02, 0.3, 0.0];
/// The distances of the points far from the initial parameters, in every coordinate and in both directions.
const FAR: [f64; 3] = [1.0, 10.0, 100.0];
/// The relative distance of a second point, which must confirm a difference at a point far away. A difference at a kink
/// is not confirmed.
const CONFIRMED: f64 = 1.003;

/// The programs that are compared.
struct Programs<T> {
    likelihood: Option<Program<T>>,
    prior: Option<Program<T>>,
    joint: Option<Program<T>>,
}

/// Compares the programs of `compilation` with the eager engine.
///
/// # Errors
///
/// Returns an error if the two disagree.
pub(super) fn check<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
    compilation: &Compilation,
) -> Result<(), CompileError> {
    match eager.precision() {
        Precision::Single => check_in::<P, D, f32>(posterior, eager, compilation),
        Precision::Double => check_in::<P, D, f64>(posterior, eager, compilation),
    }
}

/// Compares the programs of a `compilation` with loops of many steps with the eager engine at one point.
///
/// Rounding errors may grow from step to step, so that only differences of the functions count.
///
/// # Errors
///
/// Returns an error if the two disagree.
pub(super) fn check_once<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
    compilation: &Compilation,
) -> Result<(), CompileError> {
    let observations = posterior.data().observations();
    let rows: Vec<usize> = (0..observations.min(2)).map(|row| observations - 1 - row).collect();
    match eager.precision() {
        Precision::Single => check_far(posterior, eager, &mut Programs::<f32>::new(compilation)?, &rows, &[SPREADS[1]]),
        Precision::Double => check_far(posterior, eager, &mut Programs::<f64>::new(compilation)?, &rows, &[SPREADS[1]]),
    }
}

/// Compares programs in the float type `T`.
fn check_in<P: TensorTree, D: TensorTree, T: Real>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
    compilation: &Compilation,
) -> Result<(), CompileError> {
    let mut programs = Programs::<T>::new(compilation)?;
    let spread = spread::rows(posterior.data().columns(), posterior.data().observations());
    if compilation.operations > EAGER_GRADIENT {
        return long_closures::check(posterior, eager, &mut programs, &spread);
    }
    let many = compilation.operations > MANY;
    check_near(posterior, eager, &mut programs, if many { &ROW_COUNTS[1..2] } else { &ROW_COUNTS })?;
    check_far(posterior, eager, &mut programs, &spread, if many { &FAR[1..2] } else { &FAR })
}

/// Compares the engines at random points near the initial parameters.
fn check_near<P: TensorTree, D: TensorTree, T: Real>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
    programs: &mut Programs<T>,
    row_counts: &[usize],
) -> Result<(), CompileError> {
    let mut rng = StreamRng::seed_from_u64(0x0005_9c3c);
    let observations = posterior.data().observations();
    for n in row_counts {
        let rows: Vec<usize> = match observations {
            0 => vec![],
            all => (0..*n).map(|_| rng.random_range(0..all)).collect(),
        };
        let mut compared = false;
        for spread in SPREADS {
            if spread.abs() == 0.0 && compared {
                break;
            }
            let theta: Vec<f64> =
                eager.coordinates().iter().map(|x| x + spread * (rng.random::<f64>() - 0.5)).collect();
            for compiled in programs.evaluate(posterior, &theta, &rows)? {
                let engines = Engines { posterior, eager };
                let found = engines.difference(&theta, Rows::list(&rows), &compiled, Closeness::Rounding);
                if let Some(difference) = found.map_err(evaluation_error)? {
                    return Err(difference.into());
                }
                compared |= compiled.value.is_finite();
            }
        }
    }
    Ok(())
}

/// Compares the engines at points far from the initial parameters.
fn check_far<P: TensorTree, D: TensorTree, T: Real>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
    programs: &mut Programs<T>,
    rows: &[usize],
    distances: &[f64],
) -> Result<(), CompileError> {
    let mut rng = StreamRng::seed_from_u64(0x000f_a12e);
    for distance in distances {
        let direction: Vec<f64> = eager.coordinates().iter().map(|_| random_component(&mut rng)).collect();
        for distance in [*distance, -distance] {
            let point = |distance: f64| -> Vec<f64> {
                eager.coordinates().iter().zip(&direction).map(|(x, d)| x + distance * d).collect()
            };
            let mut differs = |theta: &[f64]| -> Result<Option<Difference>, CompileError> {
                let Some(compiled) = programs.evaluate(posterior, theta, rows)?.pop() else { return Ok(None) };
                let engines = Engines { posterior, eager };
                // A closure may fail at points far away. It has not failed near the initial parameters.
                Ok(engines.difference(theta, Rows::list(rows), &compiled, Closeness::Function).unwrap_or_default())
            };
            if differs(&point(distance))?.is_some()
                && let Some(difference) = differs(&point(CONFIRMED * distance))?
            {
                return Err(difference.into());
            }
        }
    }
    Ok(())
}

/// Draws a number with an absolute value between ½ and 1 and a random sign.
fn random_component(rng: &mut StreamRng) -> f64 {
    let size = 0.5 + 0.5 * rng.random::<f64>();
    if rng.random::<bool>() { size } else { -size }
}

impl<T: Real> Programs<T> {
    /// Compiles the programs of `compilation`.
    fn new(compilation: &Compilation) -> Result<Self, CompileError> {
        Ok(Self {
            likelihood: compilation.program(&compilation.likelihood)?,
            prior: compilation.program(&compilation.prior)?,
            joint: compilation.program(&compilation.posterior)?,
        })
    }

    /// Returns the log posterior and its gradient from the programs of the likelihood and the prior, and from the joint
    /// program. Skips programs that do not exist.
    fn evaluate<P: TensorTree, D: TensorTree>(
        &mut self,
        posterior: &Posterior<P, D>,
        theta: &[f64],
        rows: &[usize],
    ) -> Result<Vec<Evaluated>, CompileError> {
        let columns = posterior.data().columns();
        let power = posterior.model().powers().likelihood;
        let separate = vec![(&mut self.likelihood, rows), (&mut self.prior, &[])];
        let mut results = Vec::new();
        for programs in [separate, vec![(&mut self.joint, rows)]] {
            let mut compiled = Evaluated::zero(theta.len());
            let mut any = false;
            for (program, rows) in programs {
                let Some(program) = program else { continue };
                let task = Task { columns, theta, rows: Rows::list(rows), power };
                let value = run(program, task, Output::Gradient(&mut compiled.gradient));
                compiled.value += value.map_err(evaluation_error)?;
                any = true;
            }
            if any {
                results.push(compiled);
            }
        }
        Ok(results)
    }
}

/// Converts an error of an evaluation to a compile error.
fn evaluation_error(error: Error) -> CompileError {
    CompileError::new(error.to_string())
}
