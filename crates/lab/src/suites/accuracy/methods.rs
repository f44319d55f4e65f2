//! The methods without a grid of settings: `auto`, NUTS and the Laplace approximation.

use std::time::Instant;

use sgmcmc::algorithms::{LaplaceApproximation, Sgld};
use sgmcmc::fit::{ChainOutcome, RunInfo};
use sgmcmc::gradient::{ControlVariate, Target};
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::mode::AutoSearch;
use sgmcmc::tuning::Auto;
use sgmcmc::{Builder, Fit, Summary};

use super::comparison::Moments;
use crate::Result;

/// The number of chains of NUTS as a reference and of the grid. `auto` has its default.
pub(super) const CHAINS: usize = 4;
/// The number of draws of the Laplace approximation.
const LAPLACE_DRAWS: usize = 1000;

/// The cost and the results of a method.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The method with its settings.
    pub(super) method: String,
    /// The wall-clock time, tuning included.
    pub(super) seconds: f64,
    /// The numbers of gradients of single observations.
    pub(super) gradients: Gradients,
    /// The smallest bulk and tail effective sample size of all values.
    pub(super) ess: f64,
    /// The largest R-hat of all values.
    pub(super) r_hat: f64,
    pub(super) moments: Vec<Moments>,
}

/// Numbers of gradients of single observations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gradients {
    /// Those before the first step, and those of an examination after the last: mode search, scale, noise, bias.
    pub(super) tuning: f64,
    /// Those of the chains, warm-up and burn-in included.
    pub(super) sampling: f64,
}

impl Row {
    /// Summarizes a fit.
    pub(super) fn new(method: String, fit: &Fit, seconds: f64, gradients: Gradients) -> Self {
        let summary = fit.summary();
        let r_hat = extreme(summary.rows().iter().map(|row| row.r_hat), |a, b| a > b);
        Self { method, seconds, gradients, ess: smallest_ess(&summary), r_hat, moments: Moments::of_summary(&summary) }
    }

    /// Returns the smallest effective sample size per second.
    pub(super) fn rate(&self) -> f64 {
        self.ess / self.seconds
    }
}

/// Returns the smallest bulk or tail effective sample size of all values, or NaN if one of them is NaN.
pub(super) fn smallest_ess(summary: &Summary) -> f64 {
    extreme(summary.rows().iter().flat_map(|row| [row.ess_bulk, row.ess_tail]), |a, b| a < b)
}

/// Returns the number that is `before` all others, or NaN if one of them is NaN.
fn extreme(values: impl Iterator<Item = f64>, before: impl Fn(f64, f64) -> bool) -> f64 {
    let chosen = |found: f64, value: f64| if value.is_nan() || before(value, found) { value } else { found };
    values.reduce(chosen).unwrap_or(f64::NAN)
}

/// Returns the number of gradients of single observations of all chains.
pub(super) fn sampling_gradients(info: &RunInfo) -> f64 {
    let estimates: u64 = info.gradients.iter().sum();
    let per_estimate = match info.minibatch {
        // A control variate evaluates every observation at the position and at the center.
        Some(size) if info.gradient.starts_with("ControlVariate") => 2.0 * size,
        Some(size) => size,
        None => info.observations as f64,
    };
    estimates as f64 * per_estimate
}

/// Returns the gradients of a run of `auto`.
pub(super) fn auto_gradients(info: &RunInfo) -> Gradients {
    let tuning = info.tuning.as_ref().map_or(0, |tuning| tuning.gradients);
    Gradients { tuning: tuning as f64, sampling: sampling_gradients(info) }
}

/// Returns the name of the algorithm without its settings.
pub(super) fn algorithm(info: &RunInfo) -> &str {
    info.algorithm.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

/// Returns an error if a chain failed or was stopped.
///
/// # Errors
///
/// Returns the outcome of the first chain that is not complete.
pub(super) fn check_complete(fit: &Fit) -> Result<()> {
    fit.outcomes().iter().try_for_each(|outcome| match outcome {
        ChainOutcome::Complete => Ok(()),
        ChainOutcome::Stopped => Err("a chain was stopped".into()),
        ChainOutcome::Failed(error) => Err(format!("a chain failed: {error}").into()),
    })
}

/// Runs `auto` without settings.
///
/// # Errors
///
/// Returns the errors of the run.
pub(super) fn auto<T: Target + Clone>(target: &T, start: &T::Params, seed: u64) -> Result<(Fit, Row)> {
    let begin = Instant::now();
    let fit = Auto::new(target.clone()).seed(seed).sample(start)?;
    let seconds = begin.elapsed().as_secs_f64();
    let gradients = auto_gradients(fit.info());
    let row = Row::new("auto, no settings".into(), &fit, seconds, gradients);
    Ok((fit, row))
}

/// Runs SGLD with control variates with settings that a user may guess: two chains with step size 2e-5 and 500
/// observations per gradient.
///
/// # Errors
///
/// Returns the errors of the run.
pub(super) fn guessed<T: Target + Clone>(target: &T, start: &T::Params, seed: u64) -> Result<Row> {
    let (h, minibatch, draws) = (2e-5, 500, 20_000);
    let begin = Instant::now();
    let gradient = ControlVariate::new(WithoutReplacement::new(minibatch));
    let fit = Builder::new(target.clone(), Sgld, gradient, h)
        .find_mode(AutoSearch::default())
        .chains(2)
        .burn_in(1000)
        .seed(seed)
        .sample(start, draws)?;
    let seconds = begin.elapsed().as_secs_f64();
    check_complete(&fit)?;
    let gradients = Gradients { tuning: 0.0, sampling: sampling_gradients(fit.info()) };
    Ok(Row::new(format!("guessed: SGLD-CV, minibatch {minibatch}, h {h:e}"), &fit, seconds, gradients))
}

/// Runs `chains` chains of NUTS with the full gradient and a diagonal mass matrix. Returns `None` without the feature `nuts`.
///
/// # Errors
///
/// Returns the errors of the run.
#[cfg(feature = "nuts")]
pub(super) fn nuts<T: Target>(
    target: &T,
    start: &T::Params,
    (warm_up, draws): (u64, usize),
    chains: usize,
    seed: u64,
) -> Result<Option<Row>> {
    let begin = Instant::now();
    let nuts = sgmcmc::algorithms::Nuts { warm_up, chains, seed, ..sgmcmc::algorithms::Nuts::default() };
    let fit = nuts.sample(target, start, draws)?;
    let seconds = begin.elapsed().as_secs_f64();
    let gradients = Gradients { tuning: 0.0, sampling: sampling_gradients(fit.info()) };
    let method = format!("NUTS, warm-up {warm_up}, {chains} × {draws} draws");
    Ok(Some(Row::new(method, &fit, seconds, gradients)))
}

/// Runs NUTS in coordinates whitened by the draws of `fit`. Returns `None` without the feature `nuts`.
///
/// # Errors
///
/// Returns the errors of the run.
#[cfg(feature = "nuts")]
pub(super) fn whitened_nuts<T: Target + Clone>(
    target: &T,
    start: &T::Params,
    fit: &Fit,
    length: (u64, usize),
    seed: u64,
) -> Result<Option<Row>> {
    super::whitened_nuts::run(target, start, fit, length, seed).map(Some)
}

/// Returns `None`, because the feature `nuts` is disabled.
#[cfg(not(feature = "nuts"))]
pub(super) fn whitened_nuts<T: Target + Clone>(
    _target: &T,
    _start: &T::Params,
    _fit: &Fit,
    _length: (u64, usize),
    _seed: u64,
) -> Result<Option<Row>> {
    Ok(None)
}

/// Returns `None`, because the feature `nuts` is disabled.
#[cfg(not(feature = "nuts"))]
pub(super) fn nuts<T: Target>(
    _target: &T,
    _start: &T::Params,
    _length: (u64, usize),
    _chains: usize,
    _seed: u64,
) -> Result<Option<Row>> {
    Ok(None)
}

/// Draws from the Laplace approximation.
///
/// # Errors
///
/// Returns the errors of the approximation, for instance if the density has a kink at its mode.
pub(super) fn laplace<T: Target>(target: &T, start: &T::Params, seed: u64) -> Result<Row> {
    let begin = Instant::now();
    let fit = LaplaceApproximation { seed, ..LaplaceApproximation::default() }.fit(target, start, LAPLACE_DRAWS)?;
    let seconds = begin.elapsed().as_secs_f64();
    let gradients = Gradients { tuning: sampling_gradients(fit.info()), sampling: 0.0 };
    Ok(Row::new(format!("Laplace approximation, {LAPLACE_DRAWS} draws"), &fit, seconds, gradients))
}

#[cfg(test)]
mod tests {
    use super::{extreme, sampling_gradients};
    use sgmcmc::fit::RunInfo;

    #[test]
    fn nan_is_extreme() {
        assert!((extreme([3.0, 1.0, 2.0].into_iter(), |a, b| a < b) - 1.0).abs() < 1e-15);
        assert!(extreme([3.0, f64::NAN, 1.0].into_iter(), |a, b| a < b).is_nan());
        assert!(extreme([f64::NAN, 1.0].into_iter(), |a, b| a < b).is_nan());
    }

    #[test]
    fn control_variates_evaluate_a_minibatch_twice() {
        let info = |gradient: &str, minibatch| RunInfo {
            gradient: gradient.into(),
            minibatch,
            observations: 1000,
            gradients: vec![3, 4],
            ..RunInfo::default()
        };
        let count = |gradient: &str, minibatch| sampling_gradients(&info(gradient, minibatch)).round() as u64;
        assert_eq!(count("ControlVariate { .. }", Some(10.0)), 140);
        assert_eq!(count("MinibatchGradient { .. }", Some(10.0)), 70);
        assert_eq!(count("FullGradient", None), 7000);
    }
}
