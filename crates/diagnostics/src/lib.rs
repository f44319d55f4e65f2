//! Diagnostics of draws, on plain slices of `f64`.
//!
//! - **Convergence and effective sample sizes.** [`describe`] computes one row of a summary, with the columns and the
//!   numbers of ArviZ 1.x. [`r_hat`], [`ess_bulk`], [`mcse_mean`] and similar functions compute one of them.
//!   [`Sample`] computes several for the same draws. [`describe_all`] computes all rows in parallel. [`ess_to_lag`]
//!   is the effective sample size that some papers tabulate.
//! - **Discrepancy from the target.** [`ksd`] needs the gradients of the log density, and [`distance`] needs a
//!   reference.
//! - **Variance reduction.** [`control`] improves estimates from the same draws.
//! - **Predictive accuracy.** [`loo`] works on pointwise log-likelihoods.
//!
//! **Weights.** Draws of chains with decreasing step sizes are weighted by their step size (Welling & Teh 2011, eq.
//! (11)). [`describe_weighted`] and [`Sample::weighted`] take weights. Equal weights give exactly the unweighted
//! numbers.
//!
//! **Undefined values.** A diagnostic that is not defined for the draws is NaN, as in ArviZ. Inconsistent lengths are
//! an [`Error`].

mod autocorrelation;
pub mod control;
mod describe;
pub mod distance;
mod error;
mod ess;
mod geyer;
mod highest_density;
mod indicator;
pub mod ksd;
mod lags;
mod lanes;
mod linear;
pub mod loo;
mod mcse;
mod moments;
mod normal;
mod order;
mod quantile;
mod r_hat;
mod ranks;
mod sample;
mod scores;
#[cfg(test)]
mod testing;

pub use autocorrelation::autocorrelation;
pub use describe::{Description, describe, describe_all, describe_weighted};
pub use error::Error;
pub use ess::{effective_sample_size, ess_bulk, ess_mean, ess_quantile, ess_sd, ess_tail};
pub use highest_density::{CredibleInterval, highest_density};
pub use lags::{autocorrelation_to_lag, ess_to_lag};
pub use mcse::{mcse_mean, mcse_quantile, mcse_sd};
pub use moments::{mean, standard_deviation};
pub use normal::quantile as normal_quantile;
pub use quantile::quantiles;
pub use r_hat::{r_hat, r_hat_split};
pub use ranks::rank_histogram;
pub use sample::Sample;
