//! Special functions of tensors, for densities.
//!
//! Each function consists of ordinary tensor operations. It runs on plain, autodiff and capture devices in the float
//! type of its argument, and is differentiated like any other expression. If a function has branches, the branch that
//! is not taken is evaluated at a point where it is finite. Neither the value nor the gradient is NaN where the
//! function is defined.
//!
//! Errors are below 1e-6 in `f32` and 1e-12 in `f64`, relative to values larger than one and absolute otherwise. The
//! functions `erfc`, `normal_cdf` and `normal_log_cdf` have this relative accuracy also in the tails, where their
//! values are small.
//!
//! # Examples
//!
//! ```
//! use sgmcmc::{full, special::lgamma};
//!
//! assert!((lgamma(full([1], 4.0)).into_scalar::<f64>() - 6.0_f64.ln()).abs() < 1e-12);
//! ```

mod bessel;
mod error_function;
mod exponential;
mod gamma;
mod products;
mod real;

pub use bessel::log_bessel_i0;
pub use error_function::{erf, erfc, normal_cdf, normal_log_cdf};
pub use exponential::{expm1, log1mexp, log1pexp, logaddexp, logsumexp};
pub use gamma::{digamma, lbeta, lgamma};
pub use products::{xlog1py, xlogy};

pub(crate) use bessel::{log_bessel_i0_scaled, log_bessel_i0_scaled_of};
pub(crate) use exponential::log_sum_exp_of;
pub(crate) use gamma::{lbeta_of, lgamma_half_step, lgamma_of, stirling};
pub(crate) use products::{broadcast, log1p_square};

use burn_tensor::{DType, Tensor};

/// The constant ½ log 2π.
pub(crate) const HALF_LOG_TWO_PI: f64 = 0.918_938_533_204_672_8;

/// Returns whether the coefficients for single precision suffice.
fn is_single<const D: usize>(x: &Tensor<D>) -> bool {
    x.dtype() != DType::F64
}
