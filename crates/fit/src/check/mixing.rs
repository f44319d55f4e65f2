//! Findings about mixing: agreement of chains, effective sample sizes, and values that do not vary.

use std::collections::HashSet;

use sgmcmc_diagnostics::Description;

use super::{Finding, Severity, Thresholds};
use crate::text::count;
use crate::{ChainOutcome, Fit, Summary};

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
    // The draws of a chain that diverged say nothing about mixing. The remedy is that of the divergence.
    if fit.outcomes().iter().any(ChainOutcome::is_divergence) {
        return degenerate.findings;
    }
    let rows: Vec<NamedRow<'_>> = summary.named_rows().filter(|(name, _)| !degenerate.contains(name)).collect();
    let mut findings = Vec::new();
    findings.extend(disagreement(fit, &rows, thresholds));
    let disagree = !findings.is_empty();
    findings.extend(effective_draws(fit, &rows, thresholds, disagree));
    findings.extend(worst(&rows, |row| row.mcse_mean / row.sd, thresholds.mcse_share).map(|(share, names)| {
        let what = format!(
            "means are rough: their Monte Carlo error is up to {} % of the sd, above {} %",
            above(100.0 * share, 100.0 * thresholds.mcse_share, 0),
            100.0 * thresholds.mcse_share
        );
        let remedy =
            if disagree { AGREE_FIRST } else { "run longer, or reduce the variance afterwards with `zero_variance`" };
        Finding::new(Severity::Warning, what, remedy).about(names)
    }));
    findings.into_iter().chain(degenerate.findings).collect()
}

/// The remedy of findings that follow from chains that disagree.
const AGREE_FIRST: &str = "make the chains agree first";

/// Returns a finding if R-hat is too large.
fn disagreement(fit: &Fit, rows: &[NamedRow<'_>], thresholds: &Thresholds) -> Option<Finding> {
    worst(rows, |row| row.r_hat, thresholds.r_hat).map(|(r_hat, names)| {
        let parts = if fit.chains().len() > 1 { "chains disagree" } else { "the halves of the chain disagree" };
        let what = format!("{parts}: R-hat is up to {}, above {}", above(r_hat, thresholds.r_hat, 3), thresholds.r_hat);
        let remedy = "run longer, drop more burn-in, or use a larger step size where chains only crawl; \
                      if chains stay apart, the posterior has several modes";
        Finding::new(Severity::Problem, what, remedy).about(names)
    })
}

/// Returns a finding if effective sample sizes are too small. `disagree` is true if there is a finding about R-hat, whose
/// remedy comes first.
fn effective_draws(fit: &Fit, rows: &[NamedRow<'_>], thresholds: &Thresholds, disagree: bool) -> Option<Finding> {
    let least = thresholds.ess_per_chain * fit.chains().len() as f64;
    let bulk = worst(rows, |row| -row.ess_bulk, -least);
    let tail = worst(rows, |row| -row.ess_tail, -least);
    let part = |name: &str, found: &Option<(f64, Vec<String>)>| {
        found.as_ref().map(|(size, _)| format!("the ESS of the {name} is down to {}", below(-size, least)))
    };
    let parts: Vec<String> = part("bulk", &bulk).into_iter().chain(part("tails", &tail)).collect();
    if parts.is_empty() {
        return None;
    }
    let what = format!(
        "few effective draws: {}, below {least:.0} ({} per chain)",
        parts.join(" and "),
        thresholds.ess_per_chain
    );
    let remedy = if disagree { AGREE_FIRST } else { "run longer, or use a larger step size or a method with momentum" };
    let mut names: Vec<String> = bulk.into_iter().flat_map(|(_, names)| names).collect();
    names.extend(tail.into_iter().flat_map(|(_, names)| names));
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    Some(Finding::new(Severity::Problem, what, remedy).about(names))
}

/// Formats a number above `threshold` with at least `decimals` decimals, and with as many as show that it is above.
fn above(value: f64, threshold: f64, decimals: usize) -> String {
    let shown = |decimals: usize| format!("{value:.decimals$}");
    let text = (decimals..12).map(shown).find(|text| text.parse().is_ok_and(|shown: f64| shown > threshold));
    text.unwrap_or_else(|| value.to_string())
}

/// Formats an effective sample size below `threshold` with as many decimals as show that it is below.
fn below(value: f64, threshold: f64) -> String {
    let shown = |decimals: usize| format!("{value:.decimals$}");
    let text = (0..12).map(shown).find(|text| text.parse().is_ok_and(|shown: f64| shown < threshold));
    text.unwrap_or_else(|| value.to_string())
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

#[cfg(test)]
mod tests {
    use super::{above, below};

    #[test]
    fn numbers_are_shown_on_their_side_of_the_threshold() {
        assert_eq!(above(1.0102, 1.01, 3), "1.0102");
        assert_eq!(above(1.010_004, 1.01, 3), "1.010004");
        assert_eq!(above(2.5, 1.01, 3), "2.500");
        assert_eq!(above(f64::INFINITY, 1.01, 3), "inf");
        assert_eq!(above(5.04, 5.0, 0), "5.04");
        assert_eq!(below(399.7, 400.0), "399.7");
        assert_eq!(below(12.3, 400.0), "12");
    }
}
