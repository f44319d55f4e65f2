//! Predictive accuracy from pointwise log-likelihoods: PSIS-LOO, WAIC and the comparison of models.
//!
//! Log-likelihoods are a row-major table `[draw][observation]` with the draws of all chains.

mod compare;
mod criteria;
mod psis;

pub use compare::{ComparedModel, ModelEstimates, ModelWeights, compare};
pub use criteria::{Loo, Waic, loo, waic};
pub use psis::{SmoothedWeights, psis};

/// Returns log Σ exp x.
fn log_sum_exp(x: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = x.clone().fold(f64::NEG_INFINITY, f64::max);
    largest + x.map(|x| (x - largest).exp()).sum::<f64>().ln()
}
