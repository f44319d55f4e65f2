//! The cells of the table: the verdict of each method on a posterior.

use std::time::Instant;

use sgmcmc::Fit;

use super::agreement::{Agreement, MEAN_TOLERANCE, MIN_ESS, SD_TOLERANCE, range};
use super::methods::{Algorithm, Limitation, METHODS, Method};
use super::plan::{CHAINS, Plan};
use super::run::run;
use super::tuning::Tuning;
use crate::Result;
use crate::suites::posteriordb::Reference;

/// A method on a posterior.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) method: Method,
    pub(crate) h: f64,
    /// The number of gradients of single observations of all chains, including the burn-in.
    pub(crate) row_gradients: f64,
    pub(crate) agreement: Agreement,
    /// The tolerance of the variance for which the step size was chosen.
    pub(crate) tolerance: f64,
    /// The smallest and the largest predicted ratio of standard deviations.
    pub(crate) predicted: (f64, f64),
    pub(crate) verdict: Verdict,
    pub(crate) seconds: f64,
}

/// The verdict of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// All criteria hold.
    Pass,
    /// A criterion fails, and the errors are those predicted by a documented limitation.
    Limited(Limitation),
    /// A criterion fails, for this reason.
    Fail(String),
}

impl Verdict {
    /// Returns whether the verdict is a failure.
    pub(crate) fn failed(&self) -> bool {
        matches!(self, Self::Fail(_))
    }
}

/// The target of a repeated run, as a multiple of the required effective sample size.
pub(crate) const REPEAT_TARGET: f64 = 1.4;
/// The largest factor of the length of a repeated run.
pub(crate) const MAX_REPEAT_FACTOR: f64 = 4.0;

/// Runs all methods on the posterior of `tuning`.
pub(crate) fn cells(tuning: &Tuning, reference: &[Reference]) -> Result<Vec<Cell>> {
    METHODS
        .iter()
        .zip(1..)
        .map(|(method, seed)| {
            let begin = Instant::now();
            // Each method has its own seed, so that a chance event does not affect several rows.
            let plan = Plan::new(method, tuning, seed);
            let mut fit = run(method, &plan, tuning)?;
            let mut agreement = Agreement::new(&fit, reference)?;
            let factor = REPEAT_TARGET * MIN_ESS / agreement.ess();
            if agreement.failure.is_none() && factor > REPEAT_TARGET {
                fit = run(method, &plan.longer(factor.min(MAX_REPEAT_FACTOR)), tuning)?;
                agreement = Agreement::new(&fit, reference)?;
            }
            let low = range(plan.predictions.iter().map(|prediction| prediction.low)).0;
            let high = range(plan.predictions.iter().map(|prediction| prediction.high)).1;
            let cell = Cell {
                method: *method,
                h: plan.h,
                row_gradients: row_gradients(method, &fit, tuning),
                verdict: judge(method, &plan, &agreement, reference),
                agreement,
                tolerance: plan.tolerance,
                predicted: (low, high),
                seconds: begin.elapsed().as_secs_f64(),
            };
            println!("{}", cell.line());
            Ok(cell)
        })
        .collect()
}

/// Returns the number of gradients of single observations of all chains.
fn row_gradients(method: &Method, fit: &Fit, tuning: &Tuning) -> f64 {
    let info = fit.info();
    let estimates: u64 = info.gradients.iter().sum();
    let iterations: u64 = info.iterations.iter().sum();
    // SGFS evaluates the scores of each minibatch additionally.
    let scores = if method.algorithm == Algorithm::Sgfs { 2.0 * iterations as f64 * tuning.batch as f64 } else { 0.0 };
    // The first center or table of each chain needs a full pass. The full gradient has none, but its steps make it
    // negligible.
    let first = (CHAINS * tuning.problem.observations) as f64;
    estimates as f64 * method.estimator.row_gradients(tuning) + scores + first
}

/// Compares the errors of a run with the criteria and with the prediction.
fn judge(method: &Method, plan: &Plan, agreement: &Agreement, reference: &[Reference]) -> Verdict {
    if let Some(failure) = &agreement.failure {
        return Verdict::Fail(failure.clone());
    }
    let ess = agreement.ess();
    if ess.is_nan() || ess < MIN_ESS {
        return Verdict::Fail(format!("too short to judge: ESS {ess:.0}"));
    }
    if agreement.means_agree() && agreement.ratios_agree() {
        return Verdict::Pass;
    }
    match method.limitation {
        Some(limitation) if is_predicted(plan, agreement, reference) => Verdict::Limited(limitation),
        _ => Verdict::Fail(agreement.failure_reason()),
    }
}

/// Returns whether all errors are within the tolerances of the prediction.
fn is_predicted(plan: &Plan, agreement: &Agreement, reference: &[Reference]) -> bool {
    agreement.parameters.iter().zip(&plan.predictions).all(|(parameter, prediction)| {
        let (low, high) = (prediction.low * (1.0 - SD_TOLERANCE), prediction.high * (1.0 + SD_TOLERANCE));
        let sd = reference.iter().find(|reference| reference.parameter == parameter.name).map_or(f64::NAN, |r| r.sd);
        let (left, right) = prediction.shifts();
        let shifts = left / sd - MEAN_TOLERANCE..=right / sd + MEAN_TOLERANCE;
        (low..=high).contains(&parameter.ratio) && shifts.contains(&parameter.mean_error)
    })
}

impl Cell {
    /// Returns the cell as a line of text.
    fn line(&self) -> String {
        let Self { method, h, row_gradients, agreement, predicted, verdict, seconds, .. } = self;
        let verdict = match verdict {
            Verdict::Pass => "pass".to_owned(),
            Verdict::Limited(limitation) => format!("limitation: {}", limitation.name()),
            Verdict::Fail(reason) => format!("FAIL: {reason}"),
        };
        format!(
            "  {:<27} {:<15} h {h:<9.2e} rows {row_gradients:<8.1e} {:<26} predicted {:.3}–{:.3}  {seconds:>5.1} s  {verdict}",
            method.name,
            method.estimator.name(),
            agreement.short_text(),
            predicted.0,
            predicted.1
        )
    }
}
