//! One cell of the table: a method on a posterior, judged.

use std::time::Instant;

use sgmcmc::Fit;

use super::agreement::{Agreement, ENOUGH, MEAN_TOLERANCE, SD_TOLERANCE, range};
use super::methods::{Algorithm, Limitation, METHODS, Method};
use super::plan::{CHAINS, Plan};
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
    /// The tolerance of the variance that the step size was chosen for.
    pub(crate) tolerance: f64,
    /// The least and the largest predicted ratio of standard deviations.
    pub(crate) predicted: (f64, f64),
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

/// A run with too few effective draws is repeated once, longer by what is missing and this factor, up to the next.
pub(crate) const LONGER: f64 = 1.4;
pub(crate) const LONGEST: f64 = 4.0;

/// Runs all methods on the posterior of `tuning`.
pub(crate) fn cells(tuning: &Tuning, reference: &[Reference]) -> Result<Vec<Cell>> {
    METHODS
        .iter()
        .zip(1..)
        .map(|(method, seed)| {
            let begin = Instant::now();
            // Other randomness for every method, so that no chance event shows in several rows.
            let plan = Plan::of(method, tuning, seed);
            let mut fit = run(method, &plan, tuning)?;
            let mut agreement = Agreement::of(&fit, reference)?;
            let missing = LONGER * ENOUGH / agreement.ess();
            if agreement.failure.is_none() && missing > LONGER {
                fit = run(method, &plan.longer(missing.min(LONGEST)), tuning)?;
                agreement = Agreement::of(&fit, reference)?;
            }
            let low = range(plan.predictions.iter().map(|prediction| prediction.low)).0;
            let high = range(plan.predictions.iter().map(|prediction| prediction.high)).1;
            let cell = Cell {
                method: *method,
                h: plan.h,
                rows: rows(method, &fit, tuning),
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

/// Gradients of single observations that all chains used.
fn rows(method: &Method, fit: &Fit, tuning: &Tuning) -> f64 {
    let info = fit.info();
    let estimates: u64 = info.gradients.iter().sum();
    let iterations: u64 = info.iterations.iter().sum();
    // SGFS looks at the scores of each minibatch once more, one by one.
    let scores = if method.algorithm == Algorithm::Sgfs { 2.0 * iterations as f64 * tuning.batch as f64 } else { 0.0 };
    // The first center or table of every chain, a full pass; the full gradient has none, but this is nothing against its steps.
    let first = (CHAINS * tuning.problem.observations) as f64;
    estimates as f64 * method.estimator.rows(tuning) + scores + first
}

/// Holds the errors of a run against the criteria and against the prediction.
fn judge(method: &Method, plan: &Plan, agreement: &Agreement, reference: &[Reference]) -> Verdict {
    if let Some(failure) = &agreement.failure {
        return Verdict::Fail(failure.clone());
    }
    let ess = agreement.ess();
    // Written so that NaN fails.
    if ess.is_nan() || ess < ENOUGH {
        return Verdict::Fail(format!("too short to judge: ESS {ess:.0}"));
    }
    if agreement.means_agree() && agreement.ratios_agree() {
        return Verdict::Pass;
    }
    match method.limitation {
        Some(limitation) if explained(plan, agreement, reference) => Verdict::Limited(limitation),
        _ => Verdict::Fail(agreement.complaint()),
    }
}

/// Whether all errors are those predicted, within the tolerances of the criteria.
fn explained(plan: &Plan, agreement: &Agreement, reference: &[Reference]) -> bool {
    agreement.parameters.iter().zip(&plan.predictions).all(|(parameter, prediction)| {
        let (low, high) = (prediction.low * (1.0 - SD_TOLERANCE), prediction.high * (1.0 + SD_TOLERANCE));
        let sd = reference.iter().find(|reference| reference.parameter == parameter.name).map_or(f64::NAN, |r| r.sd);
        let (left, right) = prediction.shifts();
        let shifts = left / sd - MEAN_TOLERANCE..=right / sd + MEAN_TOLERANCE;
        (low..=high).contains(&parameter.ratio) && shifts.contains(&parameter.mean_error)
    })
}

impl Cell {
    /// The cell as a line for a terminal.
    fn line(&self) -> String {
        let Self { method, h, rows, agreement, predicted, verdict, seconds, .. } = self;
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
            predicted.0,
            predicted.1
        )
    }
}
