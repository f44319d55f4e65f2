//! Unit vectors: x = y/‖y‖. The free vector has one number too many; as in Stan its length is given the density
//! exp(−½‖y‖²), which makes y standard normal under a uniform x, so the "Jacobian" is −½ Σ y².

use burn_tensor::Tensor;

use super::{Outside, TOLERANCE};

pub(super) fn constrain(y: &[f64], x: &mut [f64]) {
    let norm = y.iter().map(|y| y * y).sum::<f64>().sqrt();
    x.iter_mut().zip(y).for_each(|(x, y)| *x = y / norm);
}

pub(super) fn unconstrain(x: &[f64], y: &mut [f64]) -> Result<(), Outside> {
    let square: f64 = x.iter().map(|x| x * x).sum();
    if square.is_nan() || (square - 1.0).abs() > TOLERANCE {
        return Err((0, x[0]));
    }
    y.copy_from_slice(x);
    Ok(())
}

pub(super) fn log_jacobian(y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
    gradient.iter_mut().zip(y).for_each(|(g, y)| *g -= factor * y);
    -0.5 * y.iter().map(|y| y * y).sum::<f64>()
}

pub(super) fn on_tensor(y: Tensor<2>) -> (Tensor<2>, Tensor<1>) {
    let squares = y.clone().square().sum_dim(1);
    (y / squares.clone().sqrt(), squares.sum() * -0.5)
}
