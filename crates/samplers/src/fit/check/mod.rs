//! Whether a fit can be trusted: findings in words, each with what to do about it.

mod bias;
mod chains;
mod judged;
mod mixing;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};
use sgmcmc_core::text::{printable, printable_lines};

use super::{Fit, Summary};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Answers from this fit cannot be trusted before this is put right.
    Problem,
    /// Answers may be less exact than they look.
    Warning,
    /// Worth knowing.
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

/// One thing found, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// What was found.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
    /// The values it is about, the worst first; none if it is about the run.
    pub parameters: Vec<String>,
}

impl Finding {
    /// A finding about the run.
    pub fn new(severity: Severity, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { severity, what: what.into(), remedy: remedy.into(), parameters: Vec::new() }
    }

    /// The same finding, about these values.
    #[must_use]
    pub fn about(self, parameters: Vec<String>) -> Self {
        Self { parameters, ..self }
    }
}

/// From where on a number is worth a finding.
///
/// | threshold | default | a finding if |
/// |---|---|---|
/// | `r_hat` | 1.01 | R-hat is above (Vehtari et al. 2021) |
/// | `ess_per_chain` | 100 | bulk or tail ESS is below this times the number of chains |
/// | `mcse_share` | 0.05 | the Monte Carlo error of a mean is above this share of the standard deviation |
/// | `draws` | 100 | a chain has fewer draws |
/// | `noise_ratio` | 0.1 | gradient noise is above this share of the noise that is injected, in variance; above 1 it dominates |
/// | `bias` | 0.1 | a standard deviation is predicted to be off by more than this share, or halving the step size moves a mean or standard deviation by more posterior standard deviations |
/// | `acceptance` | 0.4 | fewer proposals are accepted |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// The largest R-hat.
    pub r_hat: f64,
    /// The least effective sample size per chain.
    pub ess_per_chain: f64,
    /// The largest Monte Carlo error of a mean, in standard deviations.
    pub mcse_share: f64,
    /// The fewest draws of a chain.
    pub draws: usize,
    /// The largest ratio of gradient noise to injected noise.
    pub noise_ratio: f64,
    /// The largest predicted error of a standard deviation, and the largest shift by halving the step size, in posterior standard deviations.
    pub bias: f64,
    /// The least share of accepted proposals.
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

/// What was found about a fit, the worst first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    findings: Vec<Finding>,
}

impl Check {
    /// Looks at `fit`, whose summary is `summary`.
    pub(crate) fn of(fit: &Fit, summary: &Summary, thresholds: &Thresholds) -> Self {
        let mut findings = chains::look(fit, thresholds);
        let known = mixing::Known::of(fit);
        findings.extend(judged::look(fit, summary, &known));
        findings.extend(mixing::look(fit, summary, thresholds, known));
        findings.extend(bias::look(fit, thresholds));
        Self::default().join(findings)
    }

    /// All that was found.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Whether no finding is a problem. A fit that cannot be judged does not pass.
    pub fn passed(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity != Severity::Problem)
    }

    /// Returns whether the bias of a stochastic-gradient run was not examined.
    pub fn bias_is_unknown(&self) -> bool {
        self.findings.iter().any(|finding| finding.what.starts_with("bias was not examined"))
    }

    /// The same with more findings, such as those of [`Health`](crate::fit::Health).
    #[must_use]
    pub fn join(mut self, findings: impl IntoIterator<Item = Finding>) -> Self {
        self.findings.extend(findings);
        self.findings.sort_by_key(|finding| finding.severity);
        self
    }
}

/// Values that are named of a finding about many.
const NAMED: usize = 5;

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |severity| self.findings.iter().filter(|finding| finding.severity == severity).count();
        let (problems, warnings) = (count(Severity::Problem), count(Severity::Warning));
        match (problems, warnings) {
            (0, 0) => write!(f, "no problem found")?,
            (0, _) if self.bias_is_unknown() => {
                write!(f, "no problem found, but bias was not examined; {warnings} warning(s)")?;
            }
            (0, _) => write!(f, "no problem found, {warnings} warning(s)")?,
            _ => write!(f, "{problems} problem(s), {warnings} warning(s): do not trust this fit yet")?,
        }
        for finding in &self.findings {
            write!(f, "\n\n{}: {}", finding.severity, printable_lines(&finding.what))?;
            if !finding.parameters.is_empty() {
                let named = &finding.parameters[..finding.parameters.len().min(NAMED)];
                write!(f, "\n  in {}", printable(&named.join(", ")))?;
                let others = finding.parameters.len() - named.len();
                if others > 0 {
                    write!(f, " and {others} more")?;
                }
            }
            write!(f, "\n  → {}", finding.remedy)?;
        }
        Ok(())
    }
}
