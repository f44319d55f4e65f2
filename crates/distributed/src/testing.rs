//! A conjugate model for tests, and comparisons with its posterior.

mod algorithms;
mod conformance;
mod normal_mean;
pub(crate) mod slow;

use sgmcmc_fit::Fit;

pub(crate) use normal_mean::{PRIOR_PRECISION, all_shards, shard, target};

/// Returns the posterior mean and precision of observations.
pub(crate) fn posterior(observations: &[[f64; 2]]) -> ([f64; 2], f64) {
    let precision = PRIOR_PRECISION + observations.len() as f64;
    let sum = observations.iter().fold([0.0; 2], |sum, x| [sum[0] + x[0], sum[1] + x[1]]);
    (sum.map(|sum| sum / precision), precision)
}

/// Checks means and standard deviations within 4 Monte Carlo standard errors.
pub(crate) fn check_moments(fit: &Fit, mean: &[f64], sd: &[f64]) {
    let summary = fit.summary();
    for (index, row) in summary.rows().iter().enumerate().take(mean.len()) {
        let name = &summary.names()[index];
        let (error, allowed) = ((row.mean - mean[index]).abs(), 4.0 * row.mcse_mean);
        assert!(error < allowed, "mean of {name}: {} is not {} ± {allowed}", row.mean, mean[index]);
        let (error, allowed) = ((row.sd - sd[index]).abs(), 4.0 * row.mcse_sd);
        assert!(error < allowed, "sd of {name}: {} is not {} ± {allowed}", row.sd, sd[index]);
        assert!(row.ess_bulk > 200.0, "{name} has {} effective draws", row.ess_bulk);
    }
}
