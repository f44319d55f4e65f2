//! Findings about mixing: agreement of chains, effective sample sizes, and values that do not vary.

use std::collections::HashSet;

use sgmcmc_diagnostics::Description;

use super::{Finding, Severity, Thresholds};
use crate::text::count;
use crate::{Fit, Summary};

/// Values that are not finite or do not vary, with the findings about them. Other checks skip these values.
pub(super) struct DegenerateValues {
    findings: Vec<Finding>,
    names: HashSet<String>,
}

impl DegenerateValues {
    /// Collects the values of `fit` that are not finite or do not vary.
    pub(super) fn new(fit: &Fit) -> Self {
        let findings: Vec<Finding> = not_finite(fit).into_iter().chain(stuck(fit)).collect();
        let names = findings.iter().flat_map(|finding| finding.parameters.iter().cloned()).collect();
        Self { findings, names }
    }

    /// Returns whether the value `name` is degenerate.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

/// Returns the findings about R-hat, effective sample sizes and Monte Carlo errors, followed by those about degenerate
/// values.
pub(super) fn findings(
    fit: &Fit,
    summary: &Summary,
    thresholds: &Thresholds,
    degenerate: DegenerateValues,
) -> Vec<Finding> {
    let rows: Vec<NamedRow<'_>> = summary.named_rows().filter(|(name, _)| !degenerate.contains(name)).collect();
    let min_ess = thresholds.ess_per_chain * fit.chains().len() as f64;
    let mut findings = Vec::new();
    findings.extend(worst(&rows, |row| row.r_hat, thresholds.r_hat).map(|(r_hat, names)| {
        let what = format!("chains disagree: R-hat is up to {r_hat:.3}, above {}", thresholds.r_hat);
        let remedy = "run longer, drop more burn-in, or use a larger step size where chains only crawl; \
                      if chains stay apart, the posterior has several modes";
        Finding::new(Severity::Problem, what, remedy).about(names)
    }));
    for (tail, size) in [(false, (|row| row.ess_bulk) as fn(&Description) -> f64), (true, |row| row.ess_tail)] {
        findings.extend(worst(&rows, |row| -size(row), -min_ess).map(|(size, names)| {
            let part = if tail { "tails" } else { "bulk" };
            let what = format!(
                "few effective draws: the ESS of the {part} is down to {:.0}, below {min_ess:.0} ({} per chain)",
                -size, thresholds.ess_per_chain
            );
            let remedy = "run longer, or use a larger step size or a method with momentum";
            Finding::new(Severity::Problem, what, remedy).about(names)
        }));
    }
    findings.extend(worst(&rows, |row| row.mcse_mean / row.sd, thresholds.mcse_share).map(|(share, names)| {
        let what = format!("means are rough: their Monte Carlo error is up to {:.0} % of the sd", 100.0 * share);
        Finding::new(Severity::Warning, what, "run longer, or reduce the variance afterwards with `zero_variance`")
            .about(names)
    }));
    findings.into_iter().chain(degenerate.findings).collect()
}

/// The name of a value and its row of the summary.
type NamedRow<'a> = (&'a str, &'a Description);

/// Returns the largest of the numbers above `threshold`, and the names of all values above it, the largest first.
fn worst(rows: &[NamedRow<'_>], number: impl Fn(&Description) -> f64, threshold: f64) -> Option<(f64, Vec<String>)> {
    let mut above: Vec<(f64, &str)> =
        rows.iter().map(|(name, row)| (number(row), *name)).filter(|(value, _)| *value > threshold).collect();
    above.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (value, _) = above.first()?;
    Some((*value, above.iter().map(|(_, name)| (*name).to_owned()).collect()))
}

/// Returns a finding about values with draws that are not finite.
fn not_finite(fit: &Fit) -> Option<Finding> {
    let mut bad = vec![0_usize; fit.layout().value_count()];
    for row in fit.chains().iter().flat_map(|chain| chain.rows()) {
        bad.iter_mut().zip(row).for_each(|(bad, value)| *bad += usize::from(!value.is_finite()));
    }
    let names = names(fit, |index| bad[index] > 0);
    let number: usize = bad.iter().sum();
    (!names.is_empty()).then(|| {
        let what = {
            let verb = if number == 1 { "is" } else { "are" };
            format!("{} of the draws {verb} not finite", count(number, "number"))
        };
        Finding::new(Severity::Problem, what, "use a smaller step size, or a constraint that keeps values in range")
            .about(names)
    })
}

/// Returns a finding about values that are constant in a chain although their constraints allow them to vary.
fn stuck(fit: &Fit) -> Option<Finding> {
    let fixed = fixed(fit);
    let mut constant = vec![false; fixed.len()];
    for chain in fit.chains().iter().filter(|chain| chain.len() > 1) {
        let mut rows = chain.rows();
        let Some(first) = rows.next() else { continue };
        let mut moved = vec![false; first.len()];
        for row in rows {
            moved
                .iter_mut()
                .zip(row.iter().zip(first))
                .for_each(|(moved, (a, b))| *moved |= a.to_bits() != b.to_bits());
        }
        constant.iter_mut().zip(moved).for_each(|(constant, moved)| *constant |= !moved);
    }
    let names = names(fit, |index| constant[index] && !fixed[index]);
    (!names.is_empty()).then(|| {
        let verb = if names.len() == 1 { "does" } else { "do" };
        let what = format!("{} {verb} not move in some chain", count(names.len(), "value"));
        let remedy = "make sure that the parameter enters the model and that its step size is not far too small; \
                      a chain that rejects every proposal needs a smaller one";
        Finding::new(Severity::Problem, what, remedy).about(names)
    })
}

/// Returns for each value whether its constraint fixes it, such as the zeros of Cholesky factors.
pub(super) fn fixed(fit: &Fit) -> Vec<bool> {
    let blocks = fit.layout().blocks().iter();
    blocks.flat_map(|block| (0..block.values.len()).map(|index| block.is_fixed(index))).collect()
}

/// Returns the names of the values whose indices satisfy `predicate`.
pub(super) fn names(fit: &Fit, predicate: impl Fn(usize) -> bool) -> Vec<String> {
    (0..fit.layout().value_count())
        .filter(|index| predicate(*index))
        .map(|index| fit.layout().value_name(index))
        .collect()
}
