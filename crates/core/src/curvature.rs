//! Curvature of the log posterior at a point, by central differences of gradients over all observations.
//!
//! H = −∇² log p(θ|x), in coordinates. A product H v costs two full gradients; H itself 2d, and so does its diagonal. With gradients accurate to ε the
//! differences are taken over ε^{1/3} and are accurate to about ε^{2/3} of the largest entry: ten digits in double precision, four in
//! single. Of a quadratic log posterior they are as accurate as the gradients allow.

use crate::data::Precision;
use crate::engine::Evaluator;
use crate::error::{Error, Result};

/// H v into `out`.
///
/// # Errors
///
/// If a length is not that of θ, or as the model does.
pub fn hessian_vector(evaluator: &mut dyn Evaluator, theta: &[f64], v: &[f64], out: &mut [f64]) -> Result<()> {
    for found in [v.len(), out.len()] {
        if found != theta.len() {
            return Err(Error::Length { what: "a vector to multiply by a Hessian", expected: theta.len(), found });
        }
    }
    let size = v.iter().map(|v| v * v).sum::<f64>().sqrt();
    out.fill(0.0);
    if size > 0.0 {
        let reach = reach(evaluator, theta.iter().fold(1.0_f64, |largest, theta| largest.max(theta.abs()))) / size;
        along(evaluator, theta, reach, v, out)?;
    }
    Ok(())
}

/// H, row by row, made symmetric.
///
/// # Errors
///
/// As the model does.
pub fn hessian(evaluator: &mut dyn Evaluator, theta: &[f64]) -> Result<Vec<f64>> {
    let d = theta.len();
    let mut rows = vec![0.0; d * d];
    for (j, row) in rows.chunks_exact_mut(d.max(1)).enumerate() {
        column(evaluator, theta, j, row)?;
    }
    for i in 0..d {
        for j in 0..i {
            let mean = 0.5 * (rows[i * d + j] + rows[j * d + i]);
            rows[i * d + j] = mean;
            rows[j * d + i] = mean;
        }
    }
    Ok(rows)
}

/// The diagonal of H.
///
/// # Errors
///
/// As the model does.
pub fn hessian_diagonal(evaluator: &mut dyn Evaluator, theta: &[f64]) -> Result<Vec<f64>> {
    let mut buffer = vec![0.0; theta.len()];
    (0..theta.len()).map(|j| column(evaluator, theta, j, &mut buffer).map(|()| buffer[j])).collect()
}

/// H eⱼ into `out`.
fn column(evaluator: &mut dyn Evaluator, theta: &[f64], j: usize, out: &mut [f64]) -> Result<()> {
    let mut unit = vec![0.0; theta.len()];
    unit[j] = 1.0;
    out.fill(0.0);
    let reach = reach(evaluator, theta[j].abs().max(1.0));
    along(evaluator, theta, reach, &unit, out)
}

/// How far to go where coordinates are of this size.
fn reach(evaluator: &dyn Evaluator, size: f64) -> f64 {
    let accuracy = match evaluator.precision() {
        Precision::Single => f64::from(f32::EPSILON),
        Precision::Double => f64::EPSILON,
    };
    accuracy.cbrt() * size
}

/// Adds (g(θ − reach v) − g(θ + reach v)) / (2 reach) to `out`.
fn along(evaluator: &mut dyn Evaluator, theta: &[f64], reach: f64, v: &[f64], out: &mut [f64]) -> Result<()> {
    let mut gradient = vec![0.0; theta.len()];
    for side in [-reach, reach] {
        let point: Vec<f64> = theta.iter().zip(v).map(|(theta, v)| theta + side * v).collect();
        gradient.fill(0.0);
        evaluator.posterior(&point, evaluator.all_rows(), &mut gradient)?;
        out.iter_mut().zip(&gradient).for_each(|(out, g)| *out -= g / (2.0 * side));
    }
    Ok(())
}
