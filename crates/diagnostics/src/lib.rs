//! What draws say.

mod autocorrelation;
pub mod control;
mod describe;
pub mod distance;
mod error;
mod ess;
mod geyer;
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
