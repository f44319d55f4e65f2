//! Gradients by central differences.

use sgmcmc::data::Rows;
use sgmcmc::gradient::{Evaluator, Result};

/// Returns the gradient of `evaluator.log_density` at `theta` by central differences, with an error of about 1e-9.
///
/// # Errors
///
/// Returns the error of the evaluator.
pub fn central_differences(evaluator: &mut dyn Evaluator, theta: &[f64], rows: Rows<'_>) -> Result<Vec<f64>> {
    let mut point = theta.to_vec();
    let mut gradient = Vec::with_capacity(theta.len());
    for (index, value) in theta.iter().enumerate() {
        let h = 1e-5 * value.abs().max(1.0);
        point[index] = value + h;
        let above = evaluator.log_density(&point, rows)?;
        point[index] = value - h;
        let below = evaluator.log_density(&point, rows)?;
        point[index] = *value;
        gradient.push((above - below) / (2.0 * h));
    }
    Ok(gradient)
}
