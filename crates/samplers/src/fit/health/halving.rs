//! Step halving: the same run with half the step size, and what that changes.
//!
//! A chain with a constant step size samples from the posterior up to a bias of order h. Halving h halves the bias, so the shift between
//! the two runs is about half the bias of the first; it is known up to the Monte Carlo errors of both.

use std::fmt;

use sgmcmc_core::{Error, Result};

use crate::fit::{Finding, Fit, Severity, Thresholds};

/// How far one value moved when the step size was halved, in posterior standard deviations of the finer run.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// The value.
    pub name: String,
    /// The shift of the mean.
    pub mean: f64,
    /// Its Monte Carlo standard error.
    pub mean_error: f64,
    /// The shift of the standard deviation.
    pub sd: f64,
    /// Its Monte Carlo standard error.
    pub sd_error: f64,
}

impl Shift {
    /// Whether the mean or the standard deviation moved by more than `most`, and by more than two standard errors.
    fn is_beyond(&self, most: f64) -> bool {
        let beyond = |shift: f64, error: f64| shift.abs() > most && shift.abs() > 2.0 * error;
        beyond(self.mean, self.mean_error) || beyond(self.sd, self.sd_error)
    }

    /// Whether the errors are so large that a shift of `most` would not show.
    fn is_unclear(&self, most: f64) -> bool {
        let unclear = |error: f64| error.is_nan() || 2.0 * error > most;
        unclear(self.mean_error) || unclear(self.sd_error)
    }

    fn largest(&self) -> f64 {
        self.mean.abs().max(self.sd.abs())
    }
}

/// What halving the step size changes.
#[derive(Clone, Debug, PartialEq)]
pub struct StepHalving {
    shifts: Vec<Shift>,
}

impl Fit {
    /// Compares this fit with `finer`, the same run with half the step size: see [`Builder::halved`](crate::Builder::halved).
    ///
    /// # Errors
    ///
    /// If the two have other names or shapes.
    pub fn step_halving(&self, finer: &Self) -> Result<StepHalving> {
        let names = |fit: &Self| fit.layout.elements();
        if names(self) != names(finer) {
            return Err(Error::ParameterLeaves { declared: names(self), found: names(finer) });
        }
        let (coarse, fine) = (self.summary(), finer.summary());
        let shift = |(a, b): (&crate::SummaryRow, &crate::SummaryRow)| Shift {
            name: a.name.clone(),
            mean: (a.mean - b.mean) / b.sd,
            mean_error: a.mcse_mean.hypot(b.mcse_mean) / b.sd,
            sd: (a.sd - b.sd) / b.sd,
            sd_error: a.mcse_sd.hypot(b.mcse_sd) / b.sd,
        };
        Ok(StepHalving { shifts: coarse.rows().iter().zip(fine.rows()).map(shift).collect() })
    }
}

impl StepHalving {
    /// The shift of every value.
    pub fn shifts(&self) -> &[Shift] {
        &self.shifts
    }

    pub(super) fn findings(&self, thresholds: &Thresholds) -> Vec<Finding> {
        let mut beyond: Vec<&Shift> = self.shifts.iter().filter(|shift| shift.is_beyond(thresholds.bias)).collect();
        beyond.sort_by(|a, b| b.largest().total_cmp(&a.largest()));
        if let Some(worst) = beyond.first() {
            let what = format!(
                "the step size is too large: halving it moves a mean or standard deviation by {:.2} posterior standard deviations",
                worst.largest()
            );
            let finding = Finding::new(Severity::Problem, what, "halve the step size until this finding goes away");
            return vec![finding.about(beyond.iter().map(|shift| shift.name.clone()).collect())];
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
        let what = "whether the step size is small enough cannot be told: the Monte Carlo errors of the two runs are too large";
        vec![Finding::new(Severity::Note, what, "run both longer").about(unclear)]
    }
}

/// Shifts that are printed.
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
