//! Increasing vectors: x₁ = y₁, xₖ = xₖ₋₁ + e^{yₖ}, log |∂x/∂y| = Σ_{k≥2} yₖ. Positive ones: x₁ = e^{y₁} as well, and the sum
//! is over all k.

use burn_tensor::Tensor;

use super::Outside;

pub(super) fn constrain(y: &[f64], x: &mut [f64]) {
    x[0] = y[0];
    steps(y, x);
}

pub(super) fn constrain_positive(y: &[f64], x: &mut [f64]) {
    x[0] = y[0].exp();
    steps(y, x);
}

fn steps(y: &[f64], x: &mut [f64]) {
    for k in 1..y.len() {
        x[k] = x[k - 1] + y[k].exp();
    }
}

pub(super) fn unconstrain(x: &[f64], y: &mut [f64]) -> Result<(), Outside> {
    y[0] = x[0];
    log_steps(x, y)
}

pub(super) fn unconstrain_positive(x: &[f64], y: &mut [f64]) -> Result<(), Outside> {
    if x[0].is_nan() || x[0] <= 0.0 {
        return Err((0, x[0]));
    }
    y[0] = x[0].ln();
    log_steps(x, y)
}

fn log_steps(x: &[f64], y: &mut [f64]) -> Result<(), Outside> {
    for k in 1..x.len() {
        let step = x[k] - x[k - 1];
        if step.is_nan() || step <= 0.0 {
            return Err((k, x[k]));
        }
        y[k] = step.ln();
    }
    Ok(())
}

pub(super) fn log_jacobian(y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
    log_jacobian_positive(&y[1..], factor, &mut gradient[1..])
}

pub(super) fn log_jacobian_positive(y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
    gradient.iter_mut().for_each(|g| *g += factor);
    y.iter().sum()
}

pub(super) fn on_tensor(y: Tensor<2>) -> (Tensor<2>, Tensor<1>) {
    let [_, k] = y.dims();
    let first = y.clone().narrow(1, 0, 1);
    if k == 1 {
        return (first, y.sum() * 0.0);
    }
    let rest = y.narrow(1, 1, k - 1);
    let x = Tensor::cat(vec![first, rest.clone().exp()], 1).cumsum(1);
    (x, rest.sum())
}

pub(super) fn on_tensor_positive(y: Tensor<2>) -> (Tensor<2>, Tensor<1>) {
    (y.clone().exp().cumsum(1), y.sum())
}
