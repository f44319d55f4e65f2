//! What the draws say: whether chains agree, how much they know, and whether values move at all.

use std::collections::HashSet;

use sgmcmc_core::Constraint;

use super::{Finding, Severity, Thresholds};
use crate::fit::{Fit, Summary, SummaryRow};

/// Values that are not finite or do not move. More need not be said of them.
pub(super) struct Known {
    findings: Vec<Finding>,
    names: HashSet<String>,
}

impl Known {
    pub(super) fn of(fit: &Fit) -> Self {
        let findings: Vec<Finding> = not_finite(fit).into_iter().chain(stuck(fit)).collect();
        let names = findings.iter().flat_map(|finding| finding.parameters.iter().cloned()).collect();
        Self { findings, names }
    }

    pub(super) fn names(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

pub(super) fn look(fit: &Fit, summary: &Summary, thresholds: &Thresholds, known: Known) -> Vec<Finding> {
    let rows: Vec<&SummaryRow> = summary.rows().iter().filter(|row| !known.names(&row.name)).collect();
    let least_ess = thresholds.ess_per_chain * fit.chains().len() as f64;
    let mut findings = Vec::new();
    findings.extend(worst(&rows, |row| row.r_hat, thresholds.r_hat).map(|(r_hat, names)| {
        let what = format!("chains disagree: R-hat is up to {r_hat:.3}, above {}", thresholds.r_hat);
        let remedy = "run longer, drop more burn-in, or use a larger step size where chains only crawl; \
                      if chains stay apart, the posterior has several modes";
        Finding::new(Severity::Problem, what, remedy).about(names)
    }));
    for (tail, size) in [(false, (|row| row.ess_bulk) as fn(&SummaryRow) -> f64), (true, |row| row.ess_tail)] {
        findings.extend(worst(&rows, |row| -size(row), -least_ess).map(|(size, names)| {
            let of = if tail { "tails" } else { "bulk" };
            let what = format!(
                "few effective draws: the ESS of the {of} is down to {:.0}, below {least_ess:.0} ({} per chain)",
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
    findings.into_iter().chain(known.findings).collect()
}

/// The worst of the numbers above `most`, and whose they are, the worst first.
fn worst(rows: &[&SummaryRow], number: impl Fn(&SummaryRow) -> f64, most: f64) -> Option<(f64, Vec<String>)> {
    let mut above: Vec<(f64, &str)> =
        rows.iter().map(|row| (number(row), row.name.as_str())).filter(|(value, _)| *value > most).collect();
    above.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (value, _) = above.first()?;
    Some((*value, above.iter().map(|(_, name)| (*name).to_owned()).collect()))
}

fn not_finite(fit: &Fit) -> Option<Finding> {
    let mut bad = vec![0_usize; fit.layout().value_count()];
    for row in fit.chains().iter().flat_map(|chain| chain.rows()) {
        bad.iter_mut().zip(row).for_each(|(bad, value)| *bad += usize::from(!value.is_finite()));
    }
    let names = names(fit, |index| bad[index] > 0);
    let count: usize = bad.iter().sum();
    (!names.is_empty()).then(|| {
        let what = format!("{count} numbers of the draws are not finite");
        Finding::new(Severity::Problem, what, "use a smaller step size, or a constraint that keeps values in range")
            .about(names)
    })
}

/// Values that do not move in some chain, but for those that cannot.
fn stuck(fit: &Fit) -> Option<Finding> {
    let fixed = fixed(fit);
    let mut still = vec![false; fixed.len()];
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
        still.iter_mut().zip(moved).for_each(|(still, moved)| *still |= !moved);
    }
    let names = names(fit, |index| still[index] && !fixed[index]);
    (!names.is_empty()).then(|| {
        let what = format!("{} value(s) do not move in some chain", names.len());
        let remedy = "see that the parameter enters the model and that its step size is not far too small; \
                      a chain that rejects every proposal needs a smaller one";
        Finding::new(Severity::Problem, what, remedy).about(names)
    })
}

/// Which values are what they are by their constraint: the first row and the upper triangle of Cholesky factors of correlations.
pub(super) fn fixed(fit: &Fit) -> Vec<bool> {
    let mut fixed = vec![false; fit.layout().value_count()];
    for block in fit.layout().blocks() {
        if let (Some(Constraint::CholeskyCorrelation), Some(size)) = (block.constraint, block.shape.last()) {
            let entries = fixed[block.values.clone()].iter_mut().enumerate();
            entries.for_each(|(index, fixed)| {
                let (row, column) = (index / size % size, index % size);
                *fixed = column > row || row == 0;
            });
        }
    }
    fixed
}

pub(super) fn names(fit: &Fit, which: impl Fn(usize) -> bool) -> Vec<String> {
    (0..fit.layout().value_count()).filter(|index| which(*index)).map(|index| fit.layout().element(index)).collect()
}
