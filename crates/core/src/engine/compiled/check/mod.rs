//! The programs against the eager engine, before they are trusted.
//!
//! Value and gradient of prior and likelihood are compared at random points near the start on random rows, and at points far from it on
//! rows that stand for the data. What a recording cannot show, such as `detach`, shows there: the gradients differ.

mod compare;
mod long;

use rand::{RngExt, SeedableRng};
use sgmcmc_compiler::program::{Program, Real, Sink};

pub(super) use self::compare::{Closeness, Difference, Evaluated, difference};
use super::super::eager::Eager;
use super::super::{Evaluator, Posterior, spread};
use super::reason::Reason;
use super::sheet::Sheet;
use crate::data::{Precision, Rows};
use crate::error::Error;
use crate::rng::StreamRng;
use crate::tree::TensorTree;

/// Recorded operations up to which the eager engine's gradient is the measure. The time of its backward pass grows with the square of
/// their number; the gradient of longer closures is compared with differences of the eager value.
pub(super) const EAGER_GRADIENT: usize = 10_000;
/// Recorded operations from which on few comparisons are made.
const MANY: usize = 2_000;
/// Rows per comparison near the start.
const ROW_COUNTS: [usize; 3] = [1, 2, 13];
/// How far from the start the points lie. At a start of zeros or ones functions with kinks often have theirs, where one engine may take
/// the slope of one side and the other that of the other; the start itself is compared only if there is no number anywhere else.
const SPREADS: [f64; 3] = [0.02, 0.3, 0.0];
/// Distances of points that are far from the start, in every coordinate, to both sides.
const FAR: [f64; 3] = [1.0, 10.0, 100.0];
/// A difference far from the start must show at a second point so much farther, relatively: at a kink it does not.
const CONFIRMED: f64 = 1.003;

/// The programs that are compared.
struct Programs<T> {
    likelihood: Option<Program<T>>,
    prior: Option<Program<T>>,
    together: Option<Program<T>>,
}

/// # Errors
///
/// Where the two disagree.
pub(super) fn check<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
    sheet: &Sheet,
) -> Result<(), Reason> {
    match eager.precision() {
        Precision::Single => check_in::<P, D, f32>(posterior, eager, sheet),
        Precision::Double => check_in::<P, D, f64>(posterior, eager, sheet),
    }
}

fn check_in<P: TensorTree, D: TensorTree, T: Real>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
    sheet: &Sheet,
) -> Result<(), Reason> {
    let mut programs = Programs::<T> {
        likelihood: sheet.program(&sheet.likelihood)?,
        prior: sheet.program(&sheet.prior)?,
        together: sheet.program(&sheet.posterior)?,
    };
    let spread = spread::rows(posterior.data().columns(), posterior.data().observations());
    if sheet.operations > EAGER_GRADIENT {
        return long::check(posterior, eager, &mut programs, &spread);
    }
    let many = sheet.operations > MANY;
    near(posterior, eager, &mut programs, if many { &ROW_COUNTS[1..2] } else { &ROW_COUNTS })?;
    far(posterior, eager, &mut programs, &spread, if many { &FAR[1..2] } else { &FAR })
}

/// Compares at random points near the start.
fn near<P: TensorTree, D: TensorTree, T: Real>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
    programs: &mut Programs<T>,
    row_counts: &[usize],
) -> Result<(), Reason> {
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
            for ours in programs.evaluate(posterior, &theta, &rows)? {
                let engines = (posterior, eager);
                let found = difference(engines, &theta, Rows::list(&rows), &ours, Closeness::Rounding);
                if let Some(difference) = found.map_err(failed)? {
                    return Err(difference.into());
                }
                compared |= ours.value.is_finite();
            }
        }
    }
    Ok(())
}

/// Compares at points far from the start.
fn far<P: TensorTree, D: TensorTree, T: Real>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
    programs: &mut Programs<T>,
    rows: &[usize],
    distances: &[f64],
) -> Result<(), Reason> {
    let mut rng = StreamRng::seed_from_u64(0x000f_a12e);
    for distance in distances {
        let direction: Vec<f64> = eager.coordinates().iter().map(|_| towards(&mut rng)).collect();
        for distance in [*distance, -distance] {
            let point = |distance: f64| -> Vec<f64> {
                eager.coordinates().iter().zip(&direction).map(|(x, d)| x + distance * d).collect()
            };
            let mut differs = |theta: &[f64]| -> Result<Option<Difference>, Reason> {
                // A closure may refuse points so far away; near the start it did not.
                let Some(ours) = programs.evaluate(posterior, theta, rows)?.pop() else { return Ok(None) };
                let engines = (posterior, eager);
                Ok(difference(engines, theta, Rows::list(rows), &ours, Closeness::Function).unwrap_or_default())
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

/// A number of size ½ to 1 of either sign.
fn towards(rng: &mut StreamRng) -> f64 {
    let size = 0.5 + 0.5 * rng.random::<f64>();
    if rng.random::<bool>() { size } else { -size }
}

impl<T: Real> Programs<T> {
    /// The log posterior with its gradient, once from the likelihood and the prior and once from the program of both, where there is one.
    fn evaluate<P: TensorTree, D: TensorTree>(
        &mut self,
        posterior: &Posterior<P, D>,
        theta: &[f64],
        rows: &[usize],
    ) -> Result<Vec<Evaluated>, Reason> {
        let columns = posterior.data().columns();
        let (power, _) = posterior.model().powers();
        let apart = vec![(&mut self.likelihood, rows), (&mut self.prior, &[])];
        let mut results = Vec::new();
        for programs in [apart, vec![(&mut self.together, rows)]] {
            let mut ours = Evaluated::zero(theta.len());
            let mut any = false;
            for (program, rows) in programs {
                let Some(program) = program else { continue };
                let sink = Sink::Gradient(&mut ours.gradient);
                let value = super::run(program, columns, theta, Rows::list(rows), power, sink);
                ours.value += value.map_err(failed)?;
                any = true;
            }
            if any {
                results.push(ours);
            }
        }
        Ok(results)
    }
}

fn failed(error: Error) -> Reason {
    Reason::new(error.to_string())
}
