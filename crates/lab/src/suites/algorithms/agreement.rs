//! The errors of the draws of a run, relative to the reference draws.

use sgmcmc::Fit;
use sgmcmc::fit::ChainOutcome;

use crate::Result;
use crate::suites::posteriordb::Reference;

/// The tolerance of a mean, in reference standard deviations.
pub(crate) const MEAN_TOLERANCE: f64 = 0.1;

/// The tolerance of the ratio of standard deviations.
pub(crate) const SD_TOLERANCE: f64 = 0.1;

/// The smallest effective sample size that allows a verdict.
pub(crate) const MIN_ESS: f64 = 1000.0;

/// The errors of one parameter.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// The error of the mean, in reference standard deviations.
    pub(crate) mean_error: f64,
    /// The ratio of the standard deviation to that of the reference.
    pub(crate) ratio: f64,
    pub(crate) ess: f64,
}

/// The errors of all parameters, in the order of the fit.
#[derive(Clone, Debug)]
pub(crate) struct Agreement {
    pub(crate) parameters: Vec<Parameter>,
    /// A description of the first chain that is not complete.
    pub(crate) failure: Option<String>,
}

impl Agreement {
    /// Compares `fit`, whose values are the reference parameters, with the reference draws.
    ///
    /// # Errors
    ///
    /// Returns an error if a reference parameter is not in the fit.
    pub(crate) fn new(fit: &Fit, reference: &[Reference]) -> Result<Self> {
        let summary = fit.summary();
        let parameter = |reference: &Reference| {
            let row =
                summary.row(&reference.parameter).ok_or_else(|| format!("no draws of `{}`", reference.parameter))?;
            Ok(Parameter {
                name: reference.parameter.clone(),
                mean_error: (row.mean - reference.mean) / reference.sd,
                ratio: row.sd / reference.sd,
                ess: row.ess_bulk,
            })
        };
        let by_name: Vec<Parameter> = reference.iter().map(parameter).collect::<Result<_>>()?;
        // Sort by the order of the fit, which is also that of the predictions.
        let order = |parameter: &Parameter| summary.names().iter().position(|name| *name == parameter.name);
        let mut parameters = by_name;
        parameters.sort_by_key(order);
        let failure = fit.outcomes().iter().find_map(|outcome| match outcome {
            ChainOutcome::Complete => None,
            ChainOutcome::Stopped => Some("a chain was stopped".to_owned()),
            ChainOutcome::Failed(error) => Some(format!("a chain failed: {error}")),
        });
        Ok(Self { parameters, failure })
    }

    /// Returns the parameter with the largest error of the mean.
    pub(crate) fn worst_mean(&self) -> Option<&Parameter> {
        self.parameters.iter().max_by(|a, b| a.mean_error.abs().total_cmp(&b.mean_error.abs()))
    }

    /// Returns the smallest and the largest ratio of standard deviations.
    pub(crate) fn ratios(&self) -> (f64, f64) {
        range(self.parameters.iter().map(|parameter| parameter.ratio))
    }

    /// Returns the smallest effective sample size, or NaN if one of them is NaN.
    pub(crate) fn ess(&self) -> f64 {
        let sizes = self.parameters.iter().map(|parameter| parameter.ess);
        sizes.fold(f64::INFINITY, |least, ess| if ess.is_nan() || ess < least { ess } else { least })
    }

    /// Returns whether all means are within the tolerance. NaN is not.
    pub(crate) fn means_agree(&self) -> bool {
        self.parameters.iter().all(|parameter| parameter.mean_error.abs() <= MEAN_TOLERANCE)
    }

    /// Returns whether all standard deviations are within the tolerance. NaN is not.
    pub(crate) fn ratios_agree(&self) -> bool {
        self.parameters.iter().all(|parameter| (parameter.ratio - 1.0).abs() <= SD_TOLERANCE)
    }

    /// Describes the criterion that fails, with the worst parameter.
    pub(crate) fn failure_reason(&self) -> String {
        if !self.means_agree() {
            let worst = self.worst_mean().map_or("a parameter", |parameter| parameter.name.as_str());
            return format!("mean of `{worst}` off by more than {MEAN_TOLERANCE} sd");
        }
        let worst = self.parameters.iter().max_by(|a, b| a.ratio.ln().abs().total_cmp(&b.ratio.ln().abs()));
        let worst = worst.map_or("a parameter", |parameter| parameter.name.as_str());
        format!("sd of `{worst}` off by more than {:.0} %", 100.0 * SD_TOLERANCE)
    }

    /// Returns the largest error of a mean, the ratios of standard deviations and the effective sample size as text.
    pub(crate) fn short_text(&self) -> String {
        let (low, high) = self.ratios();
        let worst = self.worst_mean().map_or(f64::NAN, |parameter| parameter.mean_error.abs());
        let name = self.worst_mean().map_or("", |parameter| parameter.name.as_str());
        format!("{worst:.3} ({name}); {low:.3}–{high:.3}; {:.0}", self.ess())
    }
}

/// Returns the smallest and the largest number, or NaN if one of them is NaN.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        if value.is_nan() {
            (value, value)
        } else {
            (if low < value { low } else { value }, if high > value { high } else { value })
        }
    })
}
