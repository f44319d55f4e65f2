//! Findings about fits that the diagnostics cannot judge. Such a fit does not pass.

use std::collections::HashSet;

use sgmcmc_diagnostics::Description;

use super::mixing::{DegenerateValues, fixed, names};
use super::{Finding, Severity};
use crate::text::count;
use crate::{Fit, Summary};

/// The smallest number of draws per chain for which R-hat and effective sample sizes are defined.
const MIN_DRAWS: usize = 4;

/// Returns the findings about fits that cannot be judged.
pub(super) fn findings(fit: &Fit, summary: &Summary, degenerate: &DegenerateValues) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(lengths(fit));
    findings.extend(weights(fit));
    findings.extend(undefined(fit, summary, degenerate));
    findings
}

/// Returns a finding if a chain is too short to be judged.
fn lengths(fit: &Fit) -> Option<Finding> {
    let short = fit.chains().iter().filter(|chain| chain.len() < MIN_DRAWS).count();
    // There is a separate finding for fits without draws.
    if short == 0 || fit.chains().iter().all(|chain| chain.is_empty()) {
        return None;
    }
    let all = count(fit.chains().len(), "chain");
    let what = format!("{short} of {all} cannot be judged: fewer than {MIN_DRAWS} draws");
    Some(Finding::new(Severity::Problem, what, "make more draws, or leave these chains out with `fit.only_chains`"))
}

/// Returns findings about invalid and zero weights.
fn weights(fit: &Fit) -> Vec<Finding> {
    let mut findings = Vec::new();
    let all = || fit.chains().iter().flat_map(|chain| chain.weights());
    let invalid = all().filter(|weight| !weight.is_finite() || **weight < 0.0).count();
    if invalid > 0 {
        let what = format!("{} cannot be judged: weights are negative or not finite", count(invalid, "draw"));
        findings.push(Finding::new(
            Severity::Problem,
            what,
            "make sure that the step size is positive at every iteration",
        ));
        return findings;
    }
    let zero = all().filter(|weight| **weight <= 0.0).count();
    let weightless = |chain: &&crate::ChainDraws| !chain.is_empty() && chain.weights().iter().all(|w| *w <= 0.0);
    let chains = fit.chains().iter().filter(weightless).count();
    if chains > 0 {
        let what = format!("{} cannot be judged: all draws have weight 0", count(chains, "chain"));
        findings.push(Finding::new(
            Severity::Problem,
            what,
            "make sure that the step size is positive at every iteration",
        ));
    } else if zero > 0 {
        let what = format!("{} of weight 0 cannot contribute to the results", count(zero, "draw"));
        findings.push(Finding::new(Severity::Warning, what, "make sure that the step size does not become zero"));
    }
    findings
}

/// Returns a finding about values whose diagnostics are not defined although their draws are finite and vary.
fn undefined(fit: &Fit, summary: &Summary, degenerate: &DegenerateValues) -> Option<Finding> {
    let fixed = fixed(fit);
    let constant: HashSet<String> = names(fit, |index| fixed[index]).into_iter().collect();
    // R-hat needs several chains. There is a separate finding for single chains.
    let r_hat = |row: &Description| if fit.chains().len() > 1 { row.r_hat } else { 1.0 };
    let numbers = |row: &Description| [row.mean, row.sd, row.ess_bulk, row.ess_tail, r_hat(row), row.mcse_mean];
    let unknown = summary.named_rows().filter(|(_, row)| numbers(row).iter().any(|number| !number.is_finite()));
    let unexplained = |name: &&str| !constant.contains(*name) && !degenerate.contains(name);
    let named: Vec<String> = unknown.map(|(name, _)| name).filter(unexplained).map(str::to_owned).collect();
    (!named.is_empty()).then(|| {
        let what = format!(
            "{} cannot be judged: the mean, standard deviation, effective sample size or R-hat is not a number",
            count(named.len(), "value")
        );
        let remedy = "make more draws; if values are close to the largest floating-point number, rescale the parameter";
        Finding::new(Severity::Problem, what, remedy).about(named)
    })
}
