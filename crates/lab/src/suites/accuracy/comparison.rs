//! The comparison of means and standard deviations with a reference, with the Monte Carlo errors of both sides.

use sgmcmc::diagnostics::{mcse_mean, mcse_sd};
use sgmcmc::fit::Severity;
use sgmcmc::{Fit, Summary};

use crate::Result;
use crate::suites::posteriordb::Reference;

/// The tolerance of a mean, in reference standard deviations.
pub(crate) const MEAN_TOLERANCE: f64 = 0.1;
/// The tolerance of a standard deviation, as a share of that of the reference.
pub(crate) const SD_TOLERANCE: f64 = 0.1;
/// The number of Monte Carlo standard errors that are added to a tolerance.
pub(crate) const STANDARD_ERRORS: f64 = 3.0;

/// The mean and the standard deviation of one value, with their Monte Carlo errors.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Moments {
    pub(crate) name: String,
    pub(crate) mean: f64,
    pub(crate) sd: f64,
    pub(crate) mcse_mean: f64,
    pub(crate) mcse_sd: f64,
}

impl Moments {
    /// Returns the moments of all values of a fit.
    pub(crate) fn of_summary(summary: &Summary) -> Vec<Self> {
        let moments = summary.names().iter().zip(summary.rows()).map(|(name, row)| Self {
            name: name.clone(),
            mean: row.mean,
            sd: row.sd,
            mcse_mean: row.mcse_mean,
            mcse_sd: row.mcse_sd,
        });
        moments.collect()
    }

    /// Returns the moments of the reference draws of posteriordb.
    pub(crate) fn of_reference(reference: &[Reference]) -> Vec<Self> {
        let moments = reference.iter().map(|reference| Self {
            name: reference.parameter.clone(),
            mean: reference.mean,
            sd: reference.sd,
            mcse_mean: mcse_mean(&[&reference.draws]),
            mcse_sd: mcse_sd(&[&reference.draws]),
        });
        moments.collect()
    }
}

/// The errors of one value, in reference standard deviations.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    pub(crate) name: String,
    /// The absolute error of the mean, and the Monte Carlo error of both means together.
    pub(crate) mean: Estimate,
    /// The absolute error of the standard deviation, and the Monte Carlo error of both together.
    pub(crate) sd: Estimate,
}

/// An error with its Monte Carlo standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) error: f64,
    pub(crate) noise: f64,
}

impl Estimate {
    /// Returns whether the error is at most `tolerance` and some Monte Carlo errors. NaN is not.
    fn is_within(self, tolerance: f64) -> bool {
        self.error <= tolerance + STANDARD_ERRORS * self.noise
    }
}

/// The errors of all values.
#[derive(Clone, Debug)]
pub(crate) struct Differences(Vec<Difference>);

impl Differences {
    /// Compares `found` with `reference`.
    ///
    /// # Errors
    ///
    /// Returns an error if a value of the reference was not found, or if there are none.
    pub(crate) fn new(found: &[Moments], reference: &[Moments]) -> Result<Self> {
        let difference = |reference: &Moments| {
            let found = found.iter().find(|found| found.name == reference.name);
            let found = found.ok_or_else(|| format!("there are no draws of `{}`", reference.name))?;
            let relative = |error: f64, a: f64, b: f64| Estimate {
                error: error.abs() / reference.sd,
                noise: a.hypot(b) / reference.sd,
            };
            Ok(Difference {
                name: reference.name.clone(),
                mean: relative(found.mean - reference.mean, found.mcse_mean, reference.mcse_mean),
                sd: relative(found.sd - reference.sd, found.mcse_sd, reference.mcse_sd),
            })
        };
        if reference.is_empty() {
            return Err("the reference has no values".into());
        }
        Ok(Self(reference.iter().map(difference).collect::<Result<_>>()?))
    }

    /// Returns the value with the largest error of the mean. NaN is the largest.
    pub(crate) fn worst_mean(&self) -> &Difference {
        self.worst(|difference| difference.mean.error)
    }

    /// Returns the value with the largest error of the standard deviation. NaN is the largest.
    pub(crate) fn worst_sd(&self) -> &Difference {
        self.worst(|difference| difference.sd.error)
    }

    fn worst(&self, error: impl Fn(&Difference) -> f64) -> &Difference {
        let larger = |a: &&Difference, b: &&Difference| error(a).total_cmp(&error(b));
        // `new` does not create an empty list.
        self.0.iter().max_by(larger).unwrap_or(&self.0[0])
    }

    /// Returns the first value whose mean or standard deviation is outside of the tolerances, in words.
    pub(crate) fn first_outside(&self, mean: f64, sd: f64) -> Option<String> {
        self.0.iter().find_map(|difference| {
            let Difference { name, mean: of_mean, sd: of_sd } = difference;
            let describe = |what: &str, Estimate { error, noise }: Estimate, tolerance: f64| {
                format!("{what} of `{name}` off by {error:.3} ± {noise:.3} sd, more than {tolerance}")
            };
            if !of_mean.is_within(mean) {
                Some(describe("mean", *of_mean, mean))
            } else if !of_sd.is_within(sd) {
                Some(describe("sd", *of_sd, sd))
            } else {
                None
            }
        })
    }
}

/// The verdict on a fit whose reference is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// The fit agrees with the reference, and its check found no problem.
    Agrees,
    /// The fit agrees with the reference, but its check found this problem.
    AgreesWithProblem(String),
    /// The fit does not agree, and its check found this problem.
    Distrusted(String),
    /// The fit does not agree, for this reason, and its check found no problem.
    Wrong(String),
}

impl Verdict {
    /// Judges a fit with these differences from the reference. `fit` is the fit of the run, with the findings of tuning.
    pub(crate) fn new(fit: &Fit, differences: &Differences) -> Self {
        let check = fit.check();
        let problem = check.findings().iter().find(|finding| finding.severity == Severity::Problem);
        let problem = problem.map(|finding| finding.what.clone());
        match (differences.first_outside(MEAN_TOLERANCE, SD_TOLERANCE), problem) {
            (None, None) => Self::Agrees,
            (None, Some(problem)) => Self::AgreesWithProblem(problem),
            (Some(_), Some(problem)) => Self::Distrusted(problem),
            (Some(reason), None) => Self::Wrong(reason),
        }
    }

    /// Returns whether the verdict is a failure: a confident wrong answer.
    pub(crate) fn failed(&self) -> bool {
        matches!(self, Self::Wrong(_))
    }

    /// Returns the result of the check in words.
    pub(crate) fn check(&self) -> String {
        match self {
            Self::Agrees | Self::Wrong(_) => "passed".to_owned(),
            Self::AgreesWithProblem(problem) | Self::Distrusted(problem) => format!("problem: {problem}"),
        }
    }

    /// Returns the verdict in words.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Agrees => "pass".to_owned(),
            Self::AgreesWithProblem(_) => "pass, although the check found a problem".to_owned(),
            Self::Distrusted(_) => "pass: not within the tolerances, and the check says so".to_owned(),
            Self::Wrong(reason) => format!("FAIL: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Differences, Moments};

    fn moments(mean: f64, sd: f64, mcse: f64) -> Moments {
        Moments { name: "x".into(), mean, sd, mcse_mean: mcse, mcse_sd: mcse }
    }

    #[test]
    fn monte_carlo_errors_widen_the_tolerances() {
        let reference = [moments(0.0, 2.0, 0.0)];
        let compare = |found: Moments| Differences::new(&[found], &reference).unwrap().first_outside(0.1, 0.1);
        assert_eq!(compare(moments(0.2, 2.2, 1e-6)), None);
        assert!(compare(moments(0.3, 2.0, 1e-6)).unwrap().starts_with("mean of `x` off by 0.150"));
        assert!(compare(moments(0.0, 1.7, 1e-6)).unwrap().starts_with("sd of `x` off by 0.150"));
        // 0.15 sd is within 0.1 + 3 · 0.02.
        assert_eq!(compare(moments(0.3, 2.0, 0.04)), None);
        assert!(compare(moments(f64::NAN, 2.0, 0.04)).is_some());
        assert!(Differences::new(&[], &reference).is_err());
    }
}
