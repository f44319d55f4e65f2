//! What draws say, on plain slices of `f64`.
//!
//! - Do the chains agree, and how many independent draws are they worth? [`describe`] gives a line of a summary with the columns and the numbers of ArviZ 1.x;
//!   [`r_hat`], [`ess_bulk`], [`mcse_mean`] and their kin one of them, [`Sample`] several of the same draws, [`describe_all`] all values of a fit on all
//!   threads. [`ess_to_lag`] is the size of the papers' tables.
//! - Are they draws of the right law? [`ksd`] needs the gradients of the log density, [`distance`] a reference.
//! - Better estimates from the same draws: [`control`].
//! - Predictive accuracy from pointwise log-likelihoods: [`loo`].
//!
//! **Weights.** Draws of chains with decreasing step sizes carry their step size as weight (Welling & Teh 2011, eq. (11)). [`describe_weighted`] and
//! [`Sample::weighted`] take them; equal weights give the unweighted numbers to the last bit. What cannot be said is NaN, as in ArviZ; tables that do not fit together
//! are an [`Error`].

mod autocorrelation;
pub mod control;
mod describe;
pub mod distance;
mod error;
mod ess;
mod geyer;
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
pub use lags::{autocorrelation_to_lag, ess_to_lag};
pub use mcse::{mcse_mean, mcse_quantile, mcse_sd};
pub use moments::{mean, standard_deviation};
pub use quantile::quantiles;
pub use r_hat::{r_hat, r_hat_split};
pub use ranks::rank_histogram;
pub use sample::Sample;
