//! Bounds, element by element.
//!
//! Above a: x = a + eʸ, log |∂x/∂y| = y. Below b: x = b − eʸ, the same. Between a and b: x = a + (b − a) σ(y),
//! log |∂x/∂y| = log(b − a) + log σ(y) + log σ(−y).

use burn_tensor::Tensor;
use burn_tensor::activation::{log_sigmoid, sigmoid};

use super::Outside;

pub(super) fn above(a: f64, y: &[f64], x: &mut [f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x = a + y.exp());
}

pub(super) fn below(b: f64, y: &[f64], x: &mut [f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x = b - y.exp());
}

pub(super) fn between(a: f64, b: f64, y: &[f64], x: &mut [f64]) {
    // Measured from the nearer bound, so that values close to either keep their digits.
    let part = |y: f64| (b - a) * super::log_sigmoid(y).exp();
    x.iter_mut().zip(y).for_each(|(x, y)| *x = if *y < 0.0 { a + part(*y) } else { b - part(-*y) });
}

pub(super) fn free_above(a: f64, x: &[f64], y: &mut [f64]) -> Result<(), Outside> {
    each(x, y, |x| (x > a).then(|| (x - a).ln()))
}

pub(super) fn free_below(b: f64, x: &[f64], y: &mut [f64]) -> Result<(), Outside> {
    each(x, y, |x| (x < b).then(|| (b - x).ln()))
}

pub(super) fn free_between(a: f64, b: f64, x: &[f64], y: &mut [f64]) -> Result<(), Outside> {
    each(x, y, |x| (a < x && x < b).then(|| (x - a).ln() - (b - x).ln()))
}

fn each(x: &[f64], y: &mut [f64], free: impl Fn(f64) -> Option<f64>) -> Result<(), Outside> {
    for (index, (x, y)) in x.iter().zip(y).enumerate() {
        *y = free(*x).ok_or((index, *x))?;
    }
    Ok(())
}

/// log |∂x/∂y| above or below a bound.
pub(super) fn log_jacobian_one_sided(y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
    gradient.iter_mut().for_each(|g| *g += factor);
    y.iter().sum()
}

/// log |∂x/∂y| between two bounds. The derivative of log σ(y) + log σ(−y) is 1 − 2 σ(y) = −tanh(y/2).
pub(super) fn log_jacobian_between(a: f64, b: f64, y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
    let mut log_jacobian = y.len() as f64 * (b - a).ln();
    for (y, g) in y.iter().zip(gradient) {
        log_jacobian += super::log_sigmoid(*y) + super::log_sigmoid(-*y);
        *g -= factor * (0.5 * y).tanh();
    }
    log_jacobian
}

pub(super) fn tensor_above(a: f64, y: Tensor<2>) -> (Tensor<2>, Tensor<1>) {
    (y.clone().exp() + a, y.sum())
}

pub(super) fn tensor_below(b: f64, y: Tensor<2>) -> (Tensor<2>, Tensor<1>) {
    (y.clone().exp().neg() + b, y.sum())
}

pub(super) fn tensor_between(a: f64, b: f64, y: Tensor<2>) -> (Tensor<2>, Tensor<1>) {
    let elements = y.shape().num_elements() as f64;
    let log_jacobian = (log_sigmoid(y.clone()) + log_sigmoid(y.clone().neg())).sum() + elements * (b - a).ln();
    (sigmoid(y) * (b - a) + a, log_jacobian)
}
