//! Findings about single chains: their outcomes, lengths and statistics.

use sgmcmc_gradient::{Error, mode};

use super::{Finding, Severity, Thresholds};
use crate::text::count;
use crate::{ChainDraws, ChainOutcome, Fit};

/// Returns the findings about the chains.
pub(super) fn findings(fit: &Fit, thresholds: &Thresholds) -> Vec<Finding> {
    let mut findings = outcomes(fit);
    findings.extend(lengths(fit, thresholds));
    findings.extend(undefined(fit));
    findings.extend(mode_search(fit));
    findings.extend(stats(fit, thresholds));
    findings
}

/// Returns a finding for each chain that failed, and one about those that were stopped.
fn outcomes(fit: &Fit) -> Vec<Finding> {
    let stopped = fit
        .describe_stopped()
        .map(|what| Finding::new(Severity::Warning, what, "resume from a checkpoint, or use the draws made so far"));
    let numbered = fit.outcomes().iter().zip(fit.chains()).enumerate();
    let failed = numbered.filter_map(|(number, (outcome, chain))| {
        let draws = count(chain.len(), "draw");
        match outcome {
            ChainOutcome::Complete | ChainOutcome::Stopped => None,
            ChainOutcome::Failed(error) if outcome.is_divergence() => Some(Finding::new(
                Severity::Problem,
                format!("chain {number} diverged after {draws}: {}", cause(error)),
                "use a smaller step size, above all for the named parameter, or start closer to the mode",
            )),
            ChainOutcome::Failed(error) => Some(Finding::new(
                Severity::Problem,
                format!("chain {number} failed after {draws}: {error}"),
                "fix the cause named in the message and run again",
            )),
        }
    });
    failed.chain(stopped).collect()
}

/// Returns the message of a divergence without its own remedy, which would be a second one.
fn cause(error: &Error) -> String {
    let message = error.to_string();
    match message.rsplit_once(": use ") {
        Some((cause, _)) => cause.to_owned(),
        None => message,
    }
}

/// Returns findings about the number of chains and of draws.
fn lengths(fit: &Fit, thresholds: &Thresholds) -> Vec<Finding> {
    let draws: usize = fit.chains().iter().map(|chain| chain.len()).sum();
    if draws == 0 {
        let remedy = "request draws, and check the outcomes of the chains";
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
            format!("{what}: a chain that is stuck in a part of the posterior cannot be detected"),
            "run four chains from different starts",
        ));
    }
    let short = fit.chains().iter().map(|chain| chain.len()).filter(|length| *length > 0).min().unwrap_or(0);
    if short < thresholds.draws {
        findings.push(Finding::new(
            Severity::Warning,
            format!("the shortest chain has {}: too few for accurate diagnostics", count(short, "draw")),
            format!("make at least {} draws per chain", thresholds.draws),
        ));
    }
    findings
}

/// Returns a finding about draws and iterations whose log posterior is not finite.
fn undefined(fit: &Fit) -> Vec<Finding> {
    let not_finite = |values: &[f64]| values.iter().filter(|value| !value.is_finite()).count();
    let all: usize = fit.chains().iter().map(ChainDraws::len).sum();
    let undefined: usize = fit.chains().iter().map(|chain| not_finite(chain.log_posterior())).sum();
    let nan = |chain: &ChainDraws| chain.log_posterior().iter().all(|value| value.is_nan());
    // Files without log posteriors are read with NaN for each, and without a count.
    if fit.info().undefined.is_empty() && fit.chains().iter().all(nan) {
        return Vec::new();
    }
    let iterations: u64 = fit.info().undefined.iter().sum();
    if undefined == 0 && iterations == 0 {
        return Vec::new();
    }
    let remedy = "declare the constraints of the parameters (for instance a positive scale), check the data, or use a smaller step size";
    let (severity, what) = if undefined == 0 {
        let what = format!(
            "the log posterior was not a finite number in {} whose draws were not recorded",
            count(iterations as usize, "iteration")
        );
        (Severity::Warning, what)
    } else {
        let what = format!(
            "the log posterior is not a finite number in {undefined} of {all} draws: they are outside the support of the model"
        );
        (Severity::Problem, what)
    };
    vec![Finding::new(severity, what, remedy)]
}

/// Returns a finding if the mode search did not converge.
fn mode_search(fit: &Fit) -> Option<Finding> {
    let mode = fit.mode().filter(|mode| !mode.is_close())?;
    let remedy = match mode.outcome {
        mode::SearchOutcome::Stalled => {
            "standardize the data, compute in double precision, or remove kinks and flat directions from the density"
        }
        mode::SearchOutcome::Converged | mode::SearchOutcome::IterationLimit => {
            "allow more iterations, or start closer to the mode"
        }
    };
    Some(Finding::new(Severity::Warning, format!("the mode search {mode}"), remedy))
}

/// Returns findings about the statistics of the draws.
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
            format!("{} diverged", count(diverging as usize, "transition")),
            "use a smaller step size, or reparameterize parameters whose scale varies",
        ));
    }
    findings
}

/// Returns a finding if the gradient noise is not small relative to the injected noise.
fn noise_ratio(fit: &Fit, alpha: f64, thresholds: &Thresholds) -> Option<Finding> {
    if alpha.is_nan() || alpha <= thresholds.noise_ratio {
        return None;
    }
    let (severity, effect) = if alpha > 1.0 {
        (Severity::Problem, "outweighs the injected noise: the chain optimizes instead of sampling")
    } else {
        (Severity::Warning, "is not small relative to the injected noise: the posterior is too wide")
    };
    let what = format!("the noise of the gradient {effect} (variance ratio {alpha:.2})");
    let remedy = if fit.info().has_reduced_variance() {
        "use a smaller step size or larger minibatches"
    } else {
        "use a smaller step size, larger minibatches, or control variates"
    };
    Some(Finding::new(severity, what, remedy))
}
