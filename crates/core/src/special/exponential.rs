//! Exponentials and logarithms for arguments at which the plain formulas cancel or overflow.

use burn_tensor::Tensor;
use burn_tensor::activation::log_sigmoid;

use super::products::broadcast;

/// Returns exp(x) − 1, accurate near zero.
///
/// # Examples
///
/// ```
/// use sgmcmc::{full, special::expm1};
///
/// let value = expm1(full([1], 1e-10)).into_scalar::<f64>();
/// assert!((value - 1.000_000_000_05e-10).abs() < 1e-21);
/// ```
pub fn expm1<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    // With t = tanh(x/2), exp(x) − 1 = 2t/(1 − t). For larger |x| the plain formula is accurate, and 1 − t is not.
    let far = x.clone().abs().greater_elem(0.35);
    let t = (x.clone().mask_fill(far.clone(), 0.0) * 0.5).tanh();
    (t.clone() * 2.0 / (t.neg() + 1.0)).mask_where(far, x.exp() - 1.0)
}

/// Returns log(1 − exp(x)) for x < 0, and −∞ at 0.
///
/// # Examples
///
/// ```
/// use sgmcmc::{full, special::log1mexp};
///
/// let value = log1mexp(full([1], -1.0)).into_scalar::<f64>();
/// assert!((value + 0.458_675_145_387_081_9).abs() < 1e-12);
/// ```
pub fn log1mexp<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    let far = x.clone().lower_elem(-std::f64::consts::LN_2);
    let t = (x.clone().mask_fill(far.clone(), -0.5) * 0.5).tanh();
    let near = (t.clone() * -2.0 / (t.neg() + 1.0)).log();
    near.mask_where(far, x.clamp_max(-0.5).exp().neg().log1p())
}

/// Returns log(1 + exp(x)), the softplus function. It is about exp(x) far below zero, and about x far above.
///
/// The implementation is Burn's log-sigmoid. On the NdArray device the result is zero below about x = −37.
///
/// # Examples
///
/// ```
/// use sgmcmc::{full, special::log1pexp};
///
/// assert!((log1pexp(full([1], 1000.0)).into_scalar::<f64>() - 1000.0).abs() < 1e-9);
/// ```
pub fn log1pexp<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    log_sigmoid(x.neg()).neg()
}

/// Returns log(exp(a) + exp(b)), and −∞ where both arguments are −∞.
///
/// # Examples
///
/// ```
/// use sgmcmc::{full, special::logaddexp};
///
/// let value = logaddexp(full([1], 1000.0), full([1], 1000.0)).into_scalar::<f64>();
/// assert!((value - 1000.0 - 2.0_f64.ln()).abs() < 1e-9);
/// ```
pub fn logaddexp<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
    let (a, b) = broadcast(a, b);
    // The order of the arguments of `max_pair` and `min_pair` differs, so that equal arguments share the gradient.
    let larger = a.clone().max_pair(b.clone());
    let smaller = b.min_pair(a);
    let infinite = larger.clone().is_inf();
    let gap = (smaller - larger.clone()).mask_fill(infinite, 0.0);
    larger + log1pexp(gap)
}

/// Returns log Σ exp(x) over the axis `dim`, which is kept with length one. The result is −∞ where all summands are
/// zero.
///
/// # Examples
///
/// ```
/// use sgmcmc::{full, special::logsumexp};
///
/// let sums = logsumexp(full([2, 4], 1000.0), 1);
/// assert_eq!(sums.dims(), [2, 1]);
/// let expected = 1000.0 + 4.0_f64.ln();
/// assert!(sums.into_data().iter::<f64>().all(|sum| (sum - expected).abs() < 1e-9));
/// ```
pub fn logsumexp<const D: usize>(x: Tensor<D>, dim: usize) -> Tensor<D> {
    let largest = x.clone().detach().max_dim(dim);
    // Subtracting an infinite maximum would give ∞ − ∞.
    let largest = largest.clone().mask_fill(largest.is_inf(), 0.0);
    log_or_minus_infinity((x - largest.clone()).exp().sum_dim(dim)) + largest
}

/// Returns log Σₖ exp(xₖ) element by element, or `None` if there are no terms. An element is −∞ where all terms are −∞.
pub(crate) fn log_sum_exp_of<const D: usize>(terms: Vec<Tensor<D>>) -> Option<Tensor<D>> {
    let largest = terms.iter().map(|term| term.clone().detach()).reduce(|a, b| {
        let (a, b) = broadcast(a, b);
        a.max_pair(b)
    })?;
    let largest = largest.clone().mask_fill(largest.is_inf(), 0.0);
    let sum = terms.into_iter().map(|term| (term - largest.clone()).exp()).reduce(|sum, term| sum + term)?;
    Some(log_or_minus_infinity(sum) + largest)
}

/// Returns log x, and −∞ with gradient zero where x = 0.
fn log_or_minus_infinity<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    let zero = x.clone().equal_elem(0.0);
    x.mask_fill(zero.clone(), 1.0).log().mask_fill(zero, f64::NEG_INFINITY)
}
