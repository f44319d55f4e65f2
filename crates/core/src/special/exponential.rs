//! Exponentials and logarithms where the plain formula cancels or overflows.

use burn_tensor::Tensor;
use burn_tensor::activation::log_sigmoid;

use super::products::broadcast;

/// exp(x) − 1, accurate near zero.
pub fn expm1<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    // With t = tanh(x/2) it is 2t/(1 − t). Farther out exp(x) − 1 is accurate, and 1 − t is not.
    let far = x.clone().abs().greater_elem(0.35);
    let t = (x.clone().mask_fill(far.clone(), 0.0) * 0.5).tanh();
    (t.clone() * 2.0 / (t.neg() + 1.0)).mask_where(far, x.exp() - 1.0)
}

/// log(1 − exp(x)), for x < 0; −∞ at 0.
pub fn log1mexp<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    let far = x.clone().lower_elem(-std::f64::consts::LN_2);
    let t = (x.clone().mask_fill(far.clone(), -0.5) * 0.5).tanh();
    let near = (t.clone() * -2.0 / (t.neg() + 1.0)).log();
    near.mask_where(far, x.clamp_max(-0.5).exp().neg().log1p())
}

/// log(1 + exp(x)), the softplus function: about exp(x) far below zero, about x far above.
///
/// It is Burn's log-sigmoid, which on the NdArray device is zero below about x = −37.
pub fn log1pexp<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    log_sigmoid(x.neg()).neg()
}

/// log(exp(a) + exp(b)); −∞ where both are.
pub fn logaddexp<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
    let (a, b) = broadcast(a, b);
    // Where they are equal, one is the larger and the other the smaller, so that each gets half the gradient.
    let larger = a.clone().max_pair(b.clone());
    let smaller = b.min_pair(a);
    let infinite = larger.clone().is_inf();
    let gap = (smaller - larger.clone()).mask_fill(infinite, 0.0);
    larger + log1pexp(gap)
}

/// log Σ exp(x) over dimension `dim`, which is kept with length one; −∞ where all are.
pub fn logsumexp<const D: usize>(x: Tensor<D>, dim: usize) -> Tensor<D> {
    let largest = x.clone().detach().max_dim(dim);
    // Taking out an infinite maximum would give ∞ − ∞.
    let largest = largest.clone().mask_fill(largest.is_inf(), 0.0);
    log_or_minus_infinity((x - largest.clone()).exp().sum_dim(dim)) + largest
}

/// log Σₖ exp(xₖ), elementwise; −∞ where all are, and nothing if there are none.
pub(crate) fn log_sum_exp_of<const D: usize>(terms: Vec<Tensor<D>>) -> Option<Tensor<D>> {
    let largest = terms.iter().map(|term| term.clone().detach()).reduce(|a, b| {
        let (a, b) = broadcast(a, b);
        a.max_pair(b)
    })?;
    let largest = largest.clone().mask_fill(largest.is_inf(), 0.0);
    let sum = terms.into_iter().map(|term| (term - largest.clone()).exp()).reduce(|sum, term| sum + term)?;
    Some(log_or_minus_infinity(sum) + largest)
}

/// log x, and −∞ with gradient zero where x = 0.
fn log_or_minus_infinity<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    let zero = x.clone().equal_elem(0.0);
    x.mask_fill(zero.clone(), 1.0).log().mask_fill(zero, f64::NEG_INFINITY)
}
