//! One cell of the table: a method on a posterior, judged.

use std::time::Instant;

use sgmcmc::Fit;

use super::agreement::{Agreement, ENOUGH, MEAN_TOLERANCE, SD_TOLERANCE, range};
use super::methods::{Algorithm, Limitation, METHODS, Method};
use super::plan::{CHAINS, Plan, Predicted};
use super::run::run;
use super::tuning::Tuning;
use crate::Result;
use crate::posteriordb::Reference;

/// A method on a posterior.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) method: Method,
    pub(crate) h: f64,
    /// Gradients of single observations that all chains used, burn-in included.
    pub(crate) rows: f64,
    pub(crate) agreement: Agreement,
    /// The least and the largest predicted ratio of standard deviations.
    pub(crate) predicted: Predicted,
    pub(crate) verdict: Verdict,
    pub(crate) seconds: f64,
}

/// What a cell shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// All criteria hold.
    Pass,
    /// A criterion does not hold, and the errors are those of a documented limitation, of the size that was predicted.
    Limited(Limitation),
    /// A criterion does not hold, for this reason.
    Fail(String),
}

impl Verdict {
    pub(crate) fn failed(&self) -> bool {
        matches!(self, Self::Fail(_))
    }
}

/// Runs all methods on the posterior of `tuning`.
pub(crate) fn cells(tuning: &Tuning, reference: &[Reference]) -> Result<Vec<Cell>> {
    METHODS
        .iter()
        .map(|method| {
            let begin = Instant::now();
            let plan = Plan::of(method, tuning);
            let fit = run(method, &plan, tuning)?;
            let agreement = Agreement::of(&fit, reference)?;
            let low = range(plan.ratios.iter().map(|ratio| ratio.low)).0;
            let high = range(plan.ratios.iter().map(|ratio| ratio.high)).1;
            let cell = Cell {
                method: *method,
                h: plan.h,
                rows: rows(method, &fit, tuning),
                verdict: judge(method, &plan, &agreement),
                agreement,
                predicted: Predicted { low, high },
                seconds: begin.elapsed().as_secs_f64(),
            };
            println!("{}", cell.line());
            Ok(cell)
        })
        .collect()
}

/// Gradients of single observations that all chains used.
fn rows(method: &Method, fit: &Fit, tuning: &Tuning) -> f64 {
    let info = fit.info();
    let estimates: u64 = info.gradients.iter().sum();
    let iterations: u64 = info.iterations.iter().sum();
    // SGFS looks at the scores of each minibatch once more, one by one.
    let scores = if method.algorithm == Algorithm::Sgfs { iterations as f64 * tuning.batch as f64 } else { 0.0 };
    // The first center or table of every chain, a full pass; the full gradient has none, but this is nothing against its steps.
    let first = (CHAINS * tuning.problem.observations) as f64;
    estimates as f64 * method.estimator.rows(tuning) + scores + first
}

/// Holds the errors of a run against the criteria and against the prediction.
fn judge(method: &Method, plan: &Plan, agreement: &Agreement) -> Verdict {
    if let Some(failure) = &agreement.failure {
        return Verdict::Fail(failure.clone());
    }
    let ess = agreement.ess();
    // Written so that NaN fails.
    if !(ess >= ENOUGH) {
        return Verdict::Fail(format!("too short to judge: ESS {ess:.0}"));
    }
    if !agreement.means_agree() {
        let worst = agreement.worst_mean().map_or("a parameter", |parameter| parameter.name.as_str());
        return Verdict::Fail(format!("mean of `{worst}` off by more than {MEAN_TOLERANCE} sd"));
    }
    if agreement.ratios_agree() {
        return Verdict::Pass;
    }
    let explained = agreement.parameters.iter().zip(&plan.ratios).all(|(parameter, predicted)| {
        let (low, high) = (predicted.low * (1.0 - SD_TOLERANCE), predicted.high * (1.0 + SD_TOLERANCE));
        (low..=high).contains(&parameter.ratio)
    });
    match method.limitation {
        Some(limitation) if explained => Verdict::Limited(limitation),
        _ => {
            let worst = agreement.parameters.iter().max_by(|a, b| a.ratio.ln().abs().total_cmp(&b.ratio.ln().abs()));
            let worst = worst.map_or("a parameter", |parameter| parameter.name.as_str());
            Verdict::Fail(format!("sd of `{worst}` off by more than {:.0} %", 100.0 * SD_TOLERANCE))
        }
    }
}

impl Cell {
    /// The cell as a line for a terminal.
    fn line(&self) -> String {
        let Self { method, h, rows, agreement, predicted, verdict, seconds } = self;
        let verdict = match verdict {
            Verdict::Pass => "pass".to_owned(),
            Verdict::Limited(limitation) => format!("limitation: {}", limitation.name()),
            Verdict::Fail(reason) => format!("FAIL: {reason}"),
        };
        format!(
            "  {:<27} {:<15} h {h:<9.2e} rows {rows:<8.1e} {:<26} predicted {:.3}–{:.3}  {seconds:>5.1} s  {verdict}",
            method.name,
            method.estimator.name(),
            agreement.in_short(),
            predicted.low,
            predicted.high
        )
    }
}
