//! Closures of many operations: values against those of the eager engine, gradients against differences of them.

use rand::{RngExt, SeedableRng};
use sgmcmc_compiler::program::Real;

use super::super::super::eager::Eager;
use super::super::super::{Evaluator, Posterior};
use super::super::reason::Reason;
use super::{Programs, failed};
use crate::data::{Precision, Rows};
use crate::rng::StreamRng;
use crate::tree::TensorTree;

/// How far from the start the points lie.
const SPREADS: [f64; 2] = [0.02, 0.3];
/// The step of a difference.
const STEP: f64 = 1e-5;
/// Relative errors that are allowed, in double and in single precision.
const DOUBLE: f64 = 1e-3;
const SINGLE: f64 = 1e-2;

/// # Errors
///
/// Where the two disagree.
pub(super) fn check<P: TensorTree, D: TensorTree, T: Real>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
    programs: &mut Programs<T>,
    rows: &[usize],
) -> Result<(), Reason> {
    let mut rng = StreamRng::seed_from_u64(0x010a_6000);
    let data = posterior.data().take(Rows::list(rows)).map_err(failed)?;
    let mut exact = eager.on(posterior, data.with_precision(Precision::Double), Precision::Double);
    let all = exact.all_rows();
    let relative = if eager.precision() == Precision::Single { SINGLE } else { DOUBLE };
    for spread in SPREADS {
        let mut random = || rng.random::<f64>() - 0.5;
        let theta: Vec<f64> = eager.coordinates().iter().map(|x| x + spread * random()).collect();
        let direction: Vec<f64> = theta.iter().map(|_| random()).collect();
        let mut at = |step: f64| {
            let moved: Vec<f64> = theta.iter().zip(&direction).map(|(x, d)| x + step * d).collect();
            exact.log_density(&moved, all).map_err(failed)
        };
        let (value, slope) = (at(0.0)?, (at(STEP)? - at(-STEP)?) / (2.0 * STEP));
        if !value.is_finite() || !slope.is_finite() {
            continue;
        }
        for ours in programs.evaluate(posterior, &theta, rows)? {
            let found: f64 = ours.gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
            let size: f64 = ours.gradient.iter().zip(&direction).map(|(g, d)| (g * d).abs()).sum();
            let near = |a: f64, b: f64, scale: f64| (a - b).abs() <= relative * (1.0 + scale);
            if !near(ours.value, value, value.abs()) {
                let found = ours.value;
                return Err(Reason::new(format!("the compiled log density is {found} where the eager one is {value}")));
            }
            if !near(found, slope, size + value.abs()) {
                return Err(Reason::new(format!(
                    "the compiled gradient is {found} along a direction in which the eager log density has slope {slope}"
                )));
            }
        }
    }
    Ok(())
}
