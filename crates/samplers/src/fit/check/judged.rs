//! Findings about fits that the diagnostics cannot judge. Such a fit does not pass.

use std::collections::HashSet;

use super::mixing::{Known, fixed, names};
use super::{Finding, Severity};
use crate::fit::{Fit, Summary, SummaryRow};

/// Draws per chain below which R-hat and effective sample sizes are not defined.
const FEWEST: usize = 4;

pub(super) fn look(fit: &Fit, summary: &Summary, known: &Known) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(lengths(fit));
    findings.extend(weights(fit));
    findings.extend(undefined(fit, summary, known));
    findings
}

/// Returns a finding if a chain is too short to be judged.
fn lengths(fit: &Fit) -> Option<Finding> {
    let short = fit.chains().iter().filter(|chain| chain.len() < FEWEST).count();
    // A fit without any draws has a finding of its own.
    if short == 0 || fit.chains().iter().all(|chain| chain.is_empty()) {
        return None;
    }
    let all = fit.chains().len();
    let what = format!("{short} of {all} chain(s) cannot be judged: they have fewer than {FEWEST} draws");
    Some(Finding::new(Severity::Problem, what, "make more draws, or leave these chains out with `fit.only_chains`"))
}

/// Returns findings about weights that are no weights.
fn weights(fit: &Fit) -> Vec<Finding> {
    let mut findings = Vec::new();
    let all = || fit.chains().iter().flat_map(|chain| chain.weights());
    let wrong = all().filter(|weight| !weight.is_finite() || **weight < 0.0).count();
    if wrong > 0 {
        let what = format!("{wrong} draw(s) cannot be judged: their weights are negative or not finite");
        findings.push(Finding::new(Severity::Problem, what, "see that the step size is positive at every iteration"));
        return findings;
    }
    let zero = all().filter(|weight| **weight <= 0.0).count();
    let weightless = |chain: &&crate::fit::ChainDraws| !chain.is_empty() && chain.weights().iter().all(|w| *w <= 0.0);
    let chains = fit.chains().iter().filter(weightless).count();
    if chains > 0 {
        let what = format!("{chains} chain(s) cannot be judged: all their draws have weight 0");
        findings.push(Finding::new(Severity::Problem, what, "see that the step size is positive at every iteration"));
    } else if zero > 0 {
        let what = format!("{zero} draw(s) have weight 0 and do not count");
        findings.push(Finding::new(Severity::Warning, what, "see that the step size does not vanish"));
    }
    findings
}

/// Returns a finding about values whose diagnostics are not defined although their draws are finite and move.
fn undefined(fit: &Fit, summary: &Summary, known: &Known) -> Option<Finding> {
    let fixed = fixed(fit);
    let constant: HashSet<String> = names(fit, |index| fixed[index]).into_iter().collect();
    // R-hat compares chains; that there is only one has a finding of its own.
    let r_hat = |row: &SummaryRow| if fit.chains().len() > 1 { row.r_hat } else { 1.0 };
    let numbers = |row: &SummaryRow| [row.mean, row.sd, row.ess_bulk, row.ess_tail, r_hat(row), row.mcse_mean];
    let unknown = summary.rows().iter().filter(|row| numbers(row).iter().any(|number| !number.is_finite()));
    let excused = |row: &&SummaryRow| !constant.contains(&row.name) && !known.names(&row.name);
    let named: Vec<String> = unknown.filter(excused).map(|row| row.name.clone()).collect();
    (!named.is_empty()).then(|| {
        let what = format!(
            "{} value(s) cannot be judged: their mean, standard deviation, effective sample size or R-hat is not a number",
            named.len()
        );
        let remedy = "make more draws; where values are close to the largest number there is, scale the parameter";
        Finding::new(Severity::Problem, what, remedy).about(named)
    })
}
