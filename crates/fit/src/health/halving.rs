//! Step halving: a comparison with the same run at half the step size.
//!
//! A chain with a constant step size h has a bias of order h. Halving h halves the bias, so the shift between the two
//! runs is about half the bias of the first run. The shift is known up to the Monte Carlo errors of both runs.

use std::fmt;

use sgmcmc_diagnostics::Description;
use sgmcmc_gradient::{Error, Result};

use crate::{Finding, Fit, Severity, Thresholds};

/// The shift of one value when the step size is halved, in posterior standard deviations of the finer run.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// The name of the value.
    pub name: String,
    /// The shift of the mean.
    pub mean: f64,
    /// The Monte Carlo standard error of the shift of the mean.
    pub mean_error: f64,
    /// The shift of the standard deviation.
    pub sd: f64,
    /// The Monte Carlo standard error of the shift of the standard deviation.
    pub sd_error: f64,
}

impl Shift {
    /// Returns whether the shift of the mean or of the standard deviation exceeds `threshold` and two standard errors.
    fn exceeds(&self, threshold: f64) -> bool {
        let exceeds = |shift: f64, error: f64| shift.abs() > threshold && shift.abs() > 2.0 * error;
        exceeds(self.mean, self.mean_error) || exceeds(self.sd, self.sd_error)
    }

    /// Returns whether the errors are too large to detect a shift of `threshold`.
    fn is_unclear(&self, threshold: f64) -> bool {
        let unclear = |error: f64| error.is_nan() || 2.0 * error > threshold;
        unclear(self.mean_error) || unclear(self.sd_error)
    }

    /// Returns the larger of the absolute shifts.
    fn largest(&self) -> f64 {
        self.mean.abs().max(self.sd.abs())
    }
}

/// The effect of halving the step size on the mean and standard deviation of every value.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 0.0], [4])?)?;
/// let run = sgld(&model, &data, 0.2).minibatch(2).seed(1);
/// let coarse = run.sample(&zeros([1]), 500)?;
/// let fine = run.halve_step_size().sample(&zeros([1]), 500)?;
/// let halving = coarse.step_halving(&fine)?;
/// assert_eq!(halving.shifts()[0].name, "theta");
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StepHalving {
    shifts: Vec<Shift>,
}

impl Fit {
    /// Compares this fit with `finer`, the same run at half the step size. `Builder::halve_step_size` halves the step size of a
    /// run.
    ///
    /// # Errors
    ///
    /// Returns an error if the names or shapes of the two fits differ.
    pub fn step_halving(&self, finer: &Self) -> Result<StepHalving> {
        let names = |fit: &Self| fit.layout.value_names();
        if names(self) != names(finer) {
            return Err(Error::ParameterLeaves { declared: names(self), found: names(finer) });
        }
        let (coarse, fine) = (self.summary(), finer.summary());
        let shift = |((name, a), b): ((&str, &Description), &Description)| Shift {
            name: name.to_owned(),
            mean: (a.mean - b.mean) / b.sd,
            mean_error: a.mcse_mean.hypot(b.mcse_mean) / b.sd,
            sd: (a.sd - b.sd) / b.sd,
            sd_error: a.mcse_sd.hypot(b.mcse_sd) / b.sd,
        };
        Ok(StepHalving { shifts: coarse.named_rows().zip(fine.rows()).map(shift).collect() })
    }
}

impl StepHalving {
    /// Returns the shift of every value.
    pub fn shifts(&self) -> &[Shift] {
        &self.shifts
    }

    /// Returns a finding if a shift exceeds the threshold, or if the comparison is inconclusive.
    pub(super) fn findings(&self, thresholds: &Thresholds) -> Vec<Finding> {
        let mut large: Vec<&Shift> = self.shifts.iter().filter(|shift| shift.exceeds(thresholds.bias)).collect();
        large.sort_by(|a, b| b.largest().total_cmp(&a.largest()));
        if let Some(worst) = large.first() {
            let what = format!(
                "the step size is too large: halving it moves a mean or standard deviation by {:.2} posterior standard deviations",
                worst.largest()
            );
            let finding = Finding::new(Severity::Problem, what, "halve the step size until this finding goes away");
            return vec![finding.about(large.iter().map(|shift| shift.name.clone()).collect())];
        }
        let unclear: Vec<String> = self
            .shifts
            .iter()
            .filter(|shift| shift.is_unclear(thresholds.bias))
            .map(|shift| shift.name.clone())
            .collect();
        if unclear.is_empty() {
            return Vec::new();
        }
        let what = "the comparison at half the step size is inconclusive: the Monte Carlo errors of the two runs are too large";
        vec![Finding::new(Severity::Note, what, "run both longer").about(unclear)]
    }
}

/// The number of shifts that are printed.
const PRINTED: usize = 10;

impl fmt::Display for StepHalving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut worst: Vec<&Shift> = self.shifts.iter().collect();
        worst.sort_by(|a, b| b.largest().total_cmp(&a.largest()));
        worst.truncate(PRINTED);
        let width = worst.iter().map(|shift| shift.name.chars().count()).max().unwrap_or(0).max("value".len());
        writeln!(
            f,
            "halving the step size moves, in posterior standard deviations (the largest of {}):",
            self.shifts.len()
        )?;
        write!(f, "  {:<width$} {:>18} {:>18}", "value", "the mean by", "the sd by")?;
        for Shift { name, mean, mean_error, sd, sd_error } in worst {
            write!(f, "\n  {name:<width$} {mean:>9.3} ± {mean_error:<6.3} {sd:>9.3} ± {sd_error:<6.3}")?;
        }
        Ok(())
    }
}
