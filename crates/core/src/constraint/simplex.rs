//! A simplex by stick breaking: zₖ = σ(yₖ − log(K − k)), xₖ = zₖ Π_{j<k} (1 − zⱼ), x_K = Π (1 − zⱼ).
//!
//! y = 0 is the uniform simplex. log |∂x/∂y| = Σₖ [log zₖ + log(1 − zₖ) + Σ_{j<k} log(1 − zⱼ)]. All in logs, so that tiny
//! entries keep their digits.

use burn_tensor::Tensor;
use burn_tensor::activation::log_sigmoid;

use super::{Outside, TOLERANCE};

pub(super) fn constrain(y: &[f64], x: &mut [f64]) {
    let mut log_rest = 0.0;
    for (k, y) in y.iter().enumerate() {
        let t = y - ((x.len() - 1 - k) as f64).ln();
        x[k] = (log_rest + super::log_sigmoid(t)).exp();
        log_rest += super::log_sigmoid(-t);
    }
    x[y.len()] = log_rest.exp();
}

pub(super) fn unconstrain(x: &[f64], y: &mut [f64]) -> Result<(), Outside> {
    if let Some(index) = x.iter().position(|x| x.is_nan() || *x <= 0.0) {
        return Err((index, x[index]));
    }
    let total: f64 = x.iter().sum();
    if (total - 1.0).abs() > TOLERANCE {
        return Err((x.len() - 1, x[x.len() - 1]));
    }
    // From the end, so that what is left of the stick is a sum of positive numbers and not a difference.
    let mut rest = x[y.len()];
    for k in (0..y.len()).rev() {
        y[k] = (x[k] / rest).ln() + ((x.len() - 1 - k) as f64).ln();
        rest += x[k];
    }
    Ok(())
}

/// Collected by k, log |∂x/∂y| = Σₖ [log zₖ + (K − k) log(1 − zₖ)], with derivative (1 − zₖ) − (K − k) zₖ.
pub(super) fn log_jacobian(y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
    let free = y.len();
    let mut log_jacobian = 0.0;
    for (k, (y, g)) in y.iter().zip(gradient).enumerate() {
        // K − k of the formula, which counts from one.
        let after = (free - k) as f64;
        let t = y - after.ln();
        let (log_z, log_rest) = (super::log_sigmoid(t), super::log_sigmoid(-t));
        log_jacobian += log_z + after * log_rest;
        *g += factor * (log_rest.exp() - after * log_z.exp());
    }
    log_jacobian
}

pub(super) fn on_tensor(y: Tensor<2>) -> (Tensor<2>, Tensor<1>) {
    let [_, free] = y.dims();
    // The shifts log(K − k) = log(free), …, log 1 are made from the argument: no constant of another device or type.
    let position = y.ones_like().detach().cumsum(1);
    let t = y - (position.neg() + (free as f64 + 1.0)).log();
    let (log_z, log_rest) = (log_sigmoid(t.clone()), log_sigmoid(t.neg()));
    // Σ_{j≤k} log(1 − zⱼ), and the same without the last term.
    let after = log_rest.clone().cumsum(1);
    let before = after.clone() - log_rest.clone();
    let log_jacobian = (log_z.clone() + log_rest + before.clone()).sum();
    let x = Tensor::cat(vec![(log_z + before).exp(), after.narrow(1, free - 1, 1).exp()], 1);
    (x, log_jacobian)
}
