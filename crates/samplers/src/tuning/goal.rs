//! The goal of an automatic run: see [`Goal`].

use std::time::Duration;

use sgmcmc_gradient::{Result, settings};

/// The accuracy that an automatic run aims at, and its limits.
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `effective_draws` | 400 | smallest effective sample size of any value, of bulk and tails | ≥ 1 |
/// | `r_hat` | 1.01 | largest R-hat of any value | > 1 |
/// | `bias` | 0.05 | accepted relative error of variances; standard deviations are then about half as wrong | (0, 1) |
/// | `gradients` | none | largest number of gradients of single observations | ≥ 1 |
/// | `time` | none | largest time, tuning included; results then depend on the speed of the machine | > 0 |
///
/// # Examples
///
/// ```
/// use sgmcmc::tuning::Goal;
///
/// let goal = Goal { effective_draws: 2000.0, ..Goal::default() };
/// assert_eq!(goal.bias, 0.05);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// The smallest effective sample size of any value.
    pub effective_draws: f64,
    /// The largest R-hat of any value.
    pub r_hat: f64,
    /// The accepted relative error of variances.
    pub bias: f64,
    /// The largest number of gradients of single observations, tuning included. Tuning is completed at any budget. `None`
    /// is 64 times the predicted number.
    pub gradients: Option<u64>,
    /// The largest time, tuning included. Tuning, and a round of sampling that has begun, are completed.
    pub time: Option<Duration>,
}

impl Default for Goal {
    fn default() -> Self {
        Self { effective_draws: 400.0, r_hat: 1.01, bias: 0.05, gradients: None, time: None }
    }
}

impl Goal {
    /// Checks the settings.
    pub(super) fn check(&self) -> Result<()> {
        use std::ops::Bound::{Excluded, Included};
        let range = (Included(1.0), Excluded(f64::INFINITY));
        settings::within("the number of effective draws", self.effective_draws, range, "ask for at least 1")?;
        let expected = "it must be above 1";
        settings::within("the largest R-hat", self.r_hat, (Excluded(1.0), Excluded(f64::INFINITY)), expected)?;
        let expected = "it must be above 0 and below 1";
        settings::within("the accepted bias", self.bias, (Excluded(0.0), Excluded(1.0)), expected)?;
        if let Some(gradients) = self.gradients {
            settings::at_least("the budget of gradients", gradients, 1, "allow at least 1")?;
        }
        if let Some(time) = self.time {
            settings::positive("the time of the run in seconds", time.as_secs_f64())?;
        }
        Ok(())
    }
}
