//! Special functions of tensors, for densities.
//!
//! Each is made of ordinary tensor operations, so that it runs on plain, autodiff and capture devices alike, in the
//! float type of its argument, and is differentiated like any other expression. Where a function has branches, the
//! branch that is not taken is evaluated at a harmless point: neither value nor gradient is NaN where the function is
//! defined.
//!
//! Errors are below 1e-6 in `f32` and 1e-12 in `f64`, relative to the value, or absolute where it is smaller than one.
//! `erfc`, `normal_cdf` and `normal_log_cdf` keep this relative accuracy in the tails, however small the value.

mod error_function;
mod exponential;
mod gamma;
mod products;
mod real;

pub use error_function::{erf, erfc, normal_cdf, normal_log_cdf};
pub use exponential::{expm1, log1mexp, log1pexp, logaddexp, logsumexp};
pub use gamma::{digamma, lbeta, lgamma};
pub use products::{xlog1py, xlogy};

pub(crate) use exponential::log_sum_exp_of;
pub(crate) use gamma::{lbeta_of, lgamma_half_step, lgamma_of, stirling};
pub(crate) use products::{broadcast, log1p_square};

use burn_tensor::{DType, Tensor};

/// ½ log 2π.
pub(crate) const HALF_LOG_TWO_PI: f64 = 0.918_938_533_204_672_8;

/// Whether coefficients for single precision are enough.
fn is_single<const D: usize>(x: &Tensor<D>) -> bool {
    x.dtype() != DType::F64
}
