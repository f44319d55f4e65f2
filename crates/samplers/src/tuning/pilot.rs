//! Pilot chains and their comparison with the normal approximation.

use std::ops::RangeInclusive;

use sgmcmc_fit::{ChainOutcome, Fit};
use sgmcmc_gradient::{Layout, Result};
use sgmcmc_numerics::SymmetricEigen;

use super::matrix::mirror_lower;
use super::plan::{StochasticGradientPlan, coordinates};
use super::rounds::Accuracy;

/// The comparison of pilot chains with the normal approximation, in whitened coordinates.
pub(super) struct Pilot {
    /// The mean and the covariance of the draws; the covariance is shrunk towards the identity.
    pub(super) shift: Vec<f64>,
    pub(super) covariance: Vec<f64>,
    /// True if mean and covariance agree with the approximation.
    pub(super) agrees: bool,
    /// The measured autocorrelation time divided by the predicted one.
    pub(super) slowdown: f64,
    /// The largest shift, and the range of the variances along the principal directions.
    pub(super) largest_shift: f64,
    pub(super) variances: RangeInclusive<f64>,
}

/// The largest shift of the mean, in standard deviations, and the range of the variances of pilot chains that agree
/// with the approximation.
const AGREEING_SHIFT: f64 = 0.7;
const AGREEING_VARIANCES: RangeInclusive<f64> = 0.4..=2.0;
/// The weight of the approximation in a corrected covariance, in effective draws.
const PRIOR_WEIGHT: f64 = 5.0;

impl Pilot {
    pub(super) fn new(fit: &Fit, layout: &Layout, plan: &StochasticGradientPlan) -> Result<Self> {
        for outcome in fit.outcomes() {
            if let ChainOutcome::Failed(error) = outcome {
                return Err(error.clone());
            }
        }
        let d = layout.dim();
        let draws: Vec<Vec<f64>> =
            coordinates(fit, layout)?.iter().map(|theta| plan.approximation.whiten(theta)).collect();
        let accuracy = Accuracy::new(&fit.summary());
        let count = draws.len() as f64;
        let mean: Vec<f64> = (0..d).map(|j| draws.iter().map(|u| u[j]).sum::<f64>() / count).collect();
        let dense = plan.approximation.is_dense();
        let mut covariance = vec![0.0; if dense { d * d } else { d }];
        for u in &draws {
            for i in 0..d {
                let centered = u[i] - mean[i];
                if dense {
                    for j in 0..=i {
                        covariance[i * d + j] += centered * (u[j] - mean[j]);
                    }
                } else {
                    covariance[i] += centered * centered;
                }
            }
        }
        let effective = accuracy.effective.max(4.0);
        // The approximation counts as some effective draws.
        let share = effective / (effective + PRIOR_WEIGHT);
        covariance.iter_mut().for_each(|entry| *entry *= share / count);
        let diagonal = |k: usize| if dense { k * (d + 1) } else { k };
        (0..d).for_each(|k| covariance[diagonal(k)] += 1.0 - share);
        let variances = if dense {
            mirror_lower(&mut covariance, d);
            let eigen = SymmetricEigen::new(&covariance, d);
            eigen.smallest()..=eigen.largest()
        } else {
            let smallest = covariance.iter().copied().fold(f64::INFINITY, f64::min);
            smallest..=covariance.iter().copied().fold(0.0, f64::max)
        };
        let largest_shift = mean.iter().fold(0.0, |largest: f64, shift| largest.max(shift.abs()));
        // The eigenvalues of a sample covariance of the identity are within (1 ± √(d/ESS))².
        let noise = (d as f64 / effective).sqrt().min(0.9);
        let within = *variances.start() >= AGREEING_VARIANCES.start() * (1.0 - noise).powi(2)
            && *variances.end() <= AGREEING_VARIANCES.end() * (1.0 + noise).powi(2);
        let agrees = within && largest_shift <= AGREEING_SHIFT + 3.0 / effective.sqrt();
        let slowdown = (count / effective / plan.choice.autocorrelation_time).clamp(0.5, 20.0);
        Ok(Self { shift: mean, covariance, agrees, slowdown, largest_shift, variances })
    }

    pub(super) fn describe(&self) -> String {
        format!(
            "largest shift of the mean {:.2} standard deviations, variances {:.2} to {:.2} times those of the approximation",
            self.largest_shift,
            self.variances.start(),
            self.variances.end()
        )
    }
}
