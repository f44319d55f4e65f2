//! Checks of fits: findings in words, each with a remedy.

mod assessable;
mod bias;
mod chains;
mod mixing;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::text::{printable, printable_json, printable_lines};

use super::{Fit, Summary};
use crate::text::count;

/// The severity of a finding.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::Severity;
///
/// assert!(Severity::Problem < Severity::Warning);
/// assert_eq!(Severity::Note.to_string(), "note");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Results cannot be trusted until the cause is fixed.
    Problem,
    /// Results may be less accurate than they look.
    Warning,
    /// Additional information.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Problem => "problem",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// A finding of a check, with a remedy.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::{Finding, Severity};
///
/// let finding = Finding::new(Severity::Warning, "few draws", "run longer").about(vec!["beta[3]".into()]);
/// assert_eq!(finding.parameters, ["beta[3]"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The description of the finding.
    pub what: String,
    /// The remedy.
    pub remedy: String,
    /// The names of the values that the finding is about, the worst first. Empty if the finding is about the run.
    pub parameters: Vec<String>,
}

impl Finding {
    /// Creates a finding about the run.
    pub fn new(severity: Severity, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { severity, what: what.into(), remedy: remedy.into(), parameters: Vec::new() }
    }

    /// Returns this finding about these values.
    #[must_use]
    pub fn about(self, parameters: Vec<String>) -> Self {
        Self { parameters, ..self }
    }
}

/// The thresholds of the checks.
///
/// | threshold | default | a finding if |
/// |---|---|---|
/// | `r_hat` | 1.01 | R-hat is above this (Vehtari et al. 2021) |
/// | `ess_per_chain` | 100 | bulk or tail ESS is below this times the number of chains |
/// | `mcse_share` | 0.05 | the Monte Carlo error of a mean is above this share of the standard deviation |
/// | `draws` | 100 | a chain has fewer draws than this |
/// | `noise_ratio` | 0.1 | the variance of the gradient noise is above this share of the variance of the injected noise; above 1 it dominates |
/// | `bias` | 0.1 | the predicted relative error of a standard deviation is above this, or halving the step size moves a mean or standard deviation by more than this many posterior standard deviations |
/// | `acceptance` | 0.4 | the share of accepted proposals is below this |
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::Thresholds;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.025).seed(1).chains(2).sample(&zeros([1]), 50)?;
/// let strict = Thresholds { draws: 1000, ..Thresholds::default() };
/// assert!(fit.check_with(&strict).to_string().contains("1000 draws"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// The largest accepted R-hat.
    pub r_hat: f64,
    /// The smallest accepted effective sample size per chain.
    pub ess_per_chain: f64,
    /// The largest accepted Monte Carlo error of a mean, in posterior standard deviations.
    pub mcse_share: f64,
    /// The smallest accepted number of draws per chain.
    pub draws: usize,
    /// The largest accepted ratio of the variance of the gradient noise to that of the injected noise.
    pub noise_ratio: f64,
    /// The largest accepted relative error of a standard deviation, and the largest accepted shift when the step size
    /// is halved, in posterior standard deviations.
    pub bias: f64,
    /// The smallest accepted share of accepted proposals.
    pub acceptance: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            r_hat: 1.01,
            ess_per_chain: 100.0,
            mcse_share: 0.05,
            draws: 100,
            noise_ratio: 0.1,
            bias: 0.1,
            acceptance: 0.4,
        }
    }
}

/// The findings about a fit, the most severe first.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.025).seed(1).sample(&zeros([2]), 3)?;
/// let check = fit.check();
/// assert!(!check.passed());
/// assert!(check.findings()[0].what.contains("fewer than 4 draws"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    findings: Vec<Finding>,
}

impl Fit {
    /// Checks whether this fit can be trusted, with the default thresholds. Each finding has a remedy.
    pub fn check(&self) -> Check {
        self.check_with(&Thresholds::default())
    }

    /// Checks whether this fit can be trusted, with the given thresholds.
    pub fn check_with(&self, thresholds: &Thresholds) -> Check {
        Check::new(self, &self.summary(), thresholds)
    }
}

impl Check {
    /// Checks `fit`, whose summary is `summary`.
    pub(crate) fn new(fit: &Fit, summary: &Summary, thresholds: &Thresholds) -> Self {
        let mut findings = chains::findings(fit, thresholds);
        let degenerate = mixing::DegenerateValues::new(fit);
        findings.extend(assessable::findings(fit, summary, &degenerate));
        findings.extend(mixing::findings(fit, summary, thresholds, degenerate));
        findings.extend(bias::findings(fit, thresholds));
        findings.extend(fit.info().tuning.iter().flat_map(|tuning| tuning.findings.iter().cloned()));
        Self::default().join(findings)
    }

    /// Returns the findings, the most severe first.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns whether no finding is a problem. A fit that cannot be judged does not pass.
    pub fn passed(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity != Severity::Problem)
    }

    /// Returns the check as JSON: whether it passed, and the findings with severity, text, remedy and parameters.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::Check;
    ///
    /// assert!(Check::default().to_json().contains("\"passed\": true"));
    /// ```
    pub fn to_json(&self) -> String {
        let value = serde_json::json!({ "passed": self.passed(), "findings": self.findings });
        // Strings and lists always serialize.
        printable_json(&serde_json::to_string_pretty(&value).unwrap_or_default()).into_owned()
    }

    /// Returns whether the bias of a stochastic-gradient run was not examined.
    pub fn bias_is_unknown(&self) -> bool {
        self.findings.iter().any(|finding| finding.what.starts_with("bias was not examined"))
    }

    /// Returns this check with additional findings, for instance those of [`Health`](crate::Health).
    #[must_use]
    pub fn join(mut self, findings: impl IntoIterator<Item = Finding>) -> Self {
        self.findings.extend(findings);
        self.findings.sort_by_key(|finding| finding.severity);
        self
    }
}

/// The largest number of values that are listed in a finding.
const LISTED: usize = 5;

impl Finding {
    /// Returns the names of the worst values and the number of the others, or an empty text.
    pub(crate) fn listed_parameters(&self) -> String {
        let listed = &self.parameters[..self.parameters.len().min(LISTED)];
        let hidden = self.parameters.len() - listed.len();
        let names = listed.join(", ");
        let names = printable(&names);
        if hidden > 0 { format!("{names} and {hidden} more") } else { names.into_owned() }
    }
}

impl Check {
    /// Returns the verdict in one line.
    pub(crate) fn verdict(&self) -> String {
        let number = |severity| self.findings.iter().filter(|finding| finding.severity == severity).count();
        let (problems, warnings) = (number(Severity::Problem), number(Severity::Warning));
        let (problem_count, warning_count) = (count(problems, "problem"), count(warnings, "warning"));
        match (problems, warnings) {
            (0, 0) => "no problem found".to_owned(),
            (0, _) if self.bias_is_unknown() => {
                format!("no problem found, but bias was not examined; {warning_count}")
            }
            (0, _) => format!("no problem found, {warning_count}"),
            _ => format!("{problem_count}, {warning_count}: do not trust this fit yet"),
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.verdict())?;
        for finding in &self.findings {
            write!(f, "\n\n{}: {}", finding.severity, printable_lines(&finding.what))?;
            if !finding.parameters.is_empty() {
                write!(f, "\n  in {}", finding.listed_parameters())?;
            }
            write!(f, "\n  → {}", finding.remedy)?;
        }
        Ok(())
    }
}
