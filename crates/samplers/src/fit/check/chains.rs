//! What chains say of themselves: how they ended, how long they are, what came with their draws.

use sgmcmc_core::{Error, mode};

use super::{Finding, Severity, Thresholds};
use crate::fit::{ChainDraws, Ending, Fit};

pub(super) fn look(fit: &Fit, thresholds: &Thresholds) -> Vec<Finding> {
    let mut findings = endings(fit);
    findings.extend(lengths(fit, thresholds));
    findings.extend(undefined(fit));
    findings.extend(mode_search(fit));
    findings.extend(stats(fit, thresholds));
    findings
}

fn endings(fit: &Fit) -> Vec<Finding> {
    let numbered = fit.endings().iter().zip(fit.chains()).enumerate();
    numbered
        .filter_map(|(number, (ending, chain))| {
            let draws = chain.len();
            match ending {
                Ending::Complete => None,
                Ending::Stopped => Some(Finding::new(
                    Severity::Warning,
                    format!("chain {number} was stopped after {draws} draws"),
                    "go on with a checkpoint, or use the draws that are there",
                )),
                Ending::Failed(error @ Error::Diverged { .. }) => Some(Finding::new(
                    Severity::Problem,
                    format!("chain {number} diverged after {draws} draws: {error}"),
                    "use a smaller step size, above all for the parameter named, or start nearer to the mode",
                )),
                Ending::Failed(error) => Some(Finding::new(
                    Severity::Problem,
                    format!("chain {number} failed after {draws} draws: {error}"),
                    "put right what the message names and run again",
                )),
            }
        })
        .collect()
}

fn lengths(fit: &Fit, thresholds: &Thresholds) -> Vec<Finding> {
    let draws: usize = fit.chains().iter().map(|chain| chain.len()).sum();
    if draws == 0 {
        let remedy = "ask for draws, and see how the chains ended";
        return vec![Finding::new(Severity::Problem, "there are no draws", remedy)];
    }
    let mut findings = Vec::new();
    let interleaved = fit.info().interleaved;
    if fit.chains().len() == 1 || fit.chains().len() == interleaved {
        let what = if interleaved > 1 {
            format!("there is one run of {interleaved} interleaved chains only, all from one start")
        } else {
            "there is one chain only".to_owned()
        };
        findings.push(Finding::new(
            Severity::Note,
            format!("{what}: one that is stuck in a part of the posterior looks as well as one that is not"),
            "run four chains from different starts",
        ));
    }
    let short = fit.chains().iter().map(|chain| chain.len()).filter(|length| *length > 0).min().unwrap_or(0);
    if short < thresholds.draws {
        findings.push(Finding::new(
            Severity::Warning,
            format!("the shortest chain has {short} draws: too few for these diagnostics to be exact"),
            format!("make at least {} draws a chain", thresholds.draws),
        ));
    }
    findings
}

/// Draws made where the log posterior is not a finite number.
fn undefined(fit: &Fit) -> Vec<Finding> {
    let count = |values: &[f64]| values.iter().filter(|value| !value.is_finite()).count();
    let all: usize = fit.chains().iter().map(ChainDraws::len).sum();
    let bad: usize = fit.chains().iter().map(|chain| count(chain.log_posterior())).sum();
    let nan = |chain: &ChainDraws| chain.log_posterior().iter().all(|value| value.is_nan());
    // A file without log posteriors has NaN in their place, and no count.
    if fit.info().undefined.is_empty() && fit.chains().iter().all(nan) {
        return Vec::new();
    }
    let iterations: u64 = fit.info().undefined.iter().sum();
    if bad == 0 && iterations == 0 {
        return Vec::new();
    }
    let remedy = "declare the constraints of the parameters (for instance a positive scale), check the data, or use a smaller step size";
    let (severity, what) = if bad == 0 {
        let what =
            format!("the log posterior was not a finite number in {iterations} iterations whose draws were not kept");
        (Severity::Warning, what)
    } else {
        let what = format!(
            "the log posterior is not a finite number in {bad} of {all} draws: they are outside the support of the model"
        );
        (Severity::Problem, what)
    };
    vec![Finding::new(severity, what, remedy)]
}

fn mode_search(fit: &Fit) -> Option<Finding> {
    let mode = fit.mode().filter(|mode| !mode.is_close())?;
    let remedy = match mode.ending {
        mode::Ending::Stalled => {
            "standardize the data, compute in double precision, or remove kinks and flat directions from the density"
        }
        mode::Ending::Converged | mode::Ending::IterationLimit => "allow more iterations, or start nearer to the mode",
    };
    Some(Finding::new(Severity::Warning, format!("the mode search {mode}"), remedy))
}

/// Findings about the numbers that came with the draws, where there are such numbers.
fn stats(fit: &Fit, thresholds: &Thresholds) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(alpha) = fit.stat_mean("alpha") {
        findings.extend(noise_ratio(fit, alpha, thresholds));
    }
    if let Some(rate) = fit.stat_mean("acceptance_rate")
        && rate < thresholds.acceptance
    {
        findings.push(Finding::new(
            Severity::Warning,
            format!("{:.0} % of the proposals were accepted", 100.0 * rate),
            "use a smaller step size",
        ));
    }
    let diverging: f64 = fit.chains().iter().filter_map(|chain| chain.stat("diverging")).flatten().sum();
    if diverging > 0.0 {
        findings.push(Finding::new(
            Severity::Problem,
            format!("{diverging} transitions diverged"),
            "use a smaller step size, or another parameterisation of what varies in scale",
        ));
    }
    findings
}

/// Returns a finding if gradient noise is not small against the injected noise.
fn noise_ratio(fit: &Fit, alpha: f64, thresholds: &Thresholds) -> Option<Finding> {
    if alpha.is_nan() || alpha <= thresholds.noise_ratio {
        return None;
    }
    let (severity, says) = if alpha > 1.0 {
        (Severity::Problem, "outweighs the noise that is injected: the chain is a stochastic climb, not a sampler")
    } else {
        (Severity::Warning, "is not small against the noise that is injected: the posterior comes out too wide")
    };
    let what = format!("the noise of the gradient {says} (variance ratio {alpha:.2})");
    let remedy = if fit.info().has_reduced_variance() {
        "use a smaller step size or larger minibatches"
    } else {
        "use a smaller step size, larger minibatches, or control variates"
    };
    Some(Finding::new(severity, what, remedy))
}
