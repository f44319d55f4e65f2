//! Findings about the bias of stochastic-gradient runs.

use super::{Finding, Severity, Thresholds};
use crate::{Bias, DirectionBias, Fit, PredictedBias};

/// The multiple of the threshold above which the error of a standard deviation is a problem instead of a warning.
const PROBLEM: f64 = 5.0;

/// Returns the findings about the bias of the run.
pub(super) fn findings(fit: &Fit, thresholds: &Thresholds) -> Vec<Finding> {
    match &fit.info().bias {
        Bias::Unknown | Bias::Exact => Vec::new(),
        Bias::NotExamined(reason) => {
            let remedy = "run again with `Builder::halve_step_size` and compare by `Fit::step_halving`";
            vec![Finding::new(Severity::Warning, format!("bias was not examined: {reason}"), remedy)]
        }
        Bias::Predicted(predicted) => predictions(fit, predicted, thresholds),
    }
}

/// Returns the findings about a predicted bias.
fn predictions(fit: &Fit, predicted: &PredictedBias, thresholds: &Thresholds) -> Vec<Finding> {
    let PredictedBias { stiffest, noisiest, caveat } = predicted;
    let mut findings = Vec::new();
    let worst = if noisiest.sd_error().abs() >= stiffest.sd_error().abs() { noisiest } else { stiffest };
    // Curvature and noise have the same effect on the variance. The larger one is the cause.
    if worst.noise > worst.curvature {
        findings.extend(finding("the noise of the gradient makes", worst, thresholds, noise_remedy(fit)));
    } else {
        let remedy =
            "use a smaller step size, or an algorithm with a preconditioner such as `PreconditionedSgld::laplace`";
        findings.extend(finding("the step size makes", worst, thresholds, remedy));
    }
    if let Some(caveat) = caveat {
        let remedy = "switch the correction on, or compare with a run at half the step size and with an exact method";
        findings.push(Finding::new(Severity::Warning, caveat.clone(), remedy));
    }
    if findings.is_empty() {
        let error = predicted.worst_sd_error();
        let what = format!(
            "bias was examined: by the law of the algorithm standard deviations are at most {:.1} % too {}",
            100.0 * error.abs(),
            if error < 0.0 { "small" } else { "large" }
        );
        let remedy = "the prediction assumes a posterior that is close to normal; otherwise compare with a run at half the step size \
                      (`Builder::halve_step_size`)";
        findings.push(Finding::new(Severity::Note, what, remedy));
    }
    findings
}

/// Returns a finding if the predicted error in this direction exceeds the threshold.
fn finding(cause: &str, direction: &DirectionBias, thresholds: &Thresholds, remedy: &str) -> Option<Finding> {
    let error = direction.sd_error();
    if error.abs() <= thresholds.bias {
        return None;
    }
    let severity = if error.abs() > PROBLEM * thresholds.bias { Severity::Problem } else { Severity::Warning };
    let size = if error.is_infinite() {
        "the chain unstable: the step size is above the stability limit of the algorithm".to_owned()
    } else {
        let side = if error < 0.0 { "small" } else { "large" };
        format!("standard deviations up to {:.0} % too {side}", 100.0 * error.abs())
    };
    let what = format!(
        "{cause} {size}, as predicted by the law of the algorithm (step size times curvature {:.3}, times gradient noise {:.3})",
        direction.curvature, direction.noise
    );
    Some(Finding::new(severity, what, remedy))
}

/// Returns a remedy for gradient noise. Suggests control variates only if the run did not use them.
fn noise_remedy(fit: &Fit) -> &'static str {
    if fit.info().gradient.starts_with("ControlVariate") {
        "use larger minibatches or a smaller step size, or re-center the control variates (`Recenter::EveryAtMean`)"
    } else if fit.info().has_reduced_variance() {
        "use larger minibatches or a smaller step size"
    } else {
        "use control variates (`sgldcv`, `sghmccv`, `sgnhtcv`), larger minibatches or a smaller step size"
    }
}
