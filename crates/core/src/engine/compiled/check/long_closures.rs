//! Comparison of closures of many operations: of values with those of the eager engine, and of gradients with finite
//! differences.

use rand::{RngExt, SeedableRng};
use sgmcmc_compiler::program::Real;

use super::super::super::eager::Eager;
use sgmcmc_gradient::Evaluator;

use super::super::super::Posterior;
use super::super::compile_error::CompileError;
use super::{Programs, evaluation_error};
use crate::tree::TensorTree;
use sgmcmc_gradient::data::{Precision, Rows};
use sgmcmc_gradient::rng::StreamRng;

/// The distances of the points from the initial parameters.
const SPREADS: [f64; 2] = [0.02, 0.3];
/// The step of the finite difference.
const STEP: f64 = 1e-5;
/// The tolerated relative errors in double and in single precision.
const DOUBLE: f64 = 1e-3;
const SINGLE: f64 = 1e-2;

/// Compares the programs with values and finite differences of the eager engine.
///
/// # Errors
///
/// Returns an error if the two disagree.
pub(super) fn check<P: TensorTree, D: TensorTree, T: Real>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
    programs: &mut Programs<T>,
    rows: &[usize],
) -> Result<(), CompileError> {
    let mut rng = StreamRng::seed_from_u64(0x010a_6000);
    let data = posterior.data().take(Rows::list(rows)).map_err(evaluation_error)?;
    let mut exact = eager.with_data(posterior, data.with_precision(Precision::Double), Precision::Double);
    let all = exact.all_rows();
    let relative = if eager.precision() == Precision::Single { SINGLE } else { DOUBLE };
    for spread in SPREADS {
        let mut random = || rng.random::<f64>() - 0.5;
        let theta: Vec<f64> = eager.coordinates().iter().map(|x| x + spread * random()).collect();
        let direction: Vec<f64> = theta.iter().map(|_| random()).collect();
        let mut log_density = |step: f64| {
            let moved: Vec<f64> = theta.iter().zip(&direction).map(|(x, d)| x + step * d).collect();
            exact.log_density(&moved, all).map_err(evaluation_error)
        };
        let (value, slope) = (log_density(0.0)?, (log_density(STEP)? - log_density(-STEP)?) / (2.0 * STEP));
        if !value.is_finite() || !slope.is_finite() {
            continue;
        }
        for compiled in programs.evaluate(posterior, &theta, rows)? {
            let derivative: f64 = compiled.gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
            let size: f64 = compiled.gradient.iter().zip(&direction).map(|(g, d)| (g * d).abs()).sum();
            let near = |a: f64, b: f64, scale: f64| (a - b).abs() <= relative * (1.0 + scale);
            if !near(compiled.value, value, value.abs()) {
                let found = compiled.value;
                return Err(CompileError::new(format!(
                    "the compiled log density is {found} where the eager one is {value}"
                )));
            }
            if !near(derivative, slope, size + value.abs()) {
                return Err(CompileError::new(format!(
                    "the compiled gradient is {derivative} along a direction in which the eager log density has slope {slope}"
                )));
            }
        }
    }
    Ok(())
}
