//! The bias of a run, measured with Stein's identities.

use rand::SeedableRng;
use rayon::prelude::*;
use sgmcmc_fit::{Finding, Severity};
use sgmcmc_gradient::minibatch::Minibatch;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{ControlVariate, Evaluator, GradientEstimator, Layout, Result, Weighted};

use super::approximation::NormalApproximation;

/// The largest number of draws that are examined.
const MOST_DRAWS: usize = 1000;
/// The largest whitened gradient noise of an examination.
const MOST_NOISE: f64 = 0.1;
/// The smallest minibatch of an examination.
const LEAST_MINIBATCH: usize = 256;
/// The errors of a mean, in standard deviations, and of a variance above which a run has a problem.
const MEAN_LIMIT: f64 = 0.1;
const VARIANCE_LIMIT: f64 = 0.2;
/// The number of standard errors that a problem must exceed.
const CERTAIN: f64 = 4.0;

/// The bias of a run, measured with the gradient at its draws.
///
/// # Rule
///
/// Under the posterior E[∇ log p] = 0 and E[(θ − μ)(∇ log p)ᵀ] = −I. With the covariance M of a normal approximation,
/// bⱼ = E[(M g)ⱼ]/√Mⱼⱼ is zero and rⱼ = −E[(θⱼ − μⱼ)(M g)ⱼ]/Mⱼⱼ is one, for every posterior and every M. If the draws
/// are from a normal distribution whose mean differs by b standard deviations and whose variance is r times as large,
/// and M is the covariance of the posterior, then bⱼ is −b and rⱼ is r. Minibatch gradients are unbiased and suffice.
#[derive(Clone, Debug)]
pub(super) struct MeasuredBias {
    /// The mean of rⱼ − 1 over the coordinates, and its standard error.
    pub(super) variance: f64,
    pub(super) variance_error: f64,
    /// The largest |bⱼ| and its standard error.
    pub(super) mean: f64,
    pub(super) mean_error: f64,
    /// Coordinates whose mean or variance is certainly wrong.
    pub(super) findings: Vec<Finding>,
    /// The number of gradients of single observations.
    pub(super) cost: u64,
}

/// The draws to examine.
pub(super) struct Examined<'a> {
    /// The coordinates of the draws.
    pub(super) draws: &'a [Vec<f64>],
    /// The smallest effective sample size of the draws.
    pub(super) effective: f64,
}

/// The sums of one draw.
struct Terms {
    /// bⱼ and rⱼ of the draw.
    force: Vec<f64>,
    ratio: Vec<f64>,
}

impl MeasuredBias {
    /// Measures the bias of `examined` with gradients from weighted minibatches. `make` creates an evaluator for each
    /// thread.
    pub(super) fn new(
        make: &(dyn Fn() -> Result<Box<dyn Evaluator>> + Sync),
        layout: &Layout,
        approximation: &NormalApproximation,
        estimator: GradientSource<'_>,
        examined: &Examined<'_>,
        seed: u64,
    ) -> Result<Self> {
        let d = approximation.center.len();
        let spacing = examined.draws.len().div_ceil(MOST_DRAWS).max(1);
        let draws: Vec<&Vec<f64>> = examined.draws.iter().step_by(spacing).collect();
        let count = draws.len() as f64;
        let mean: Vec<f64> = (0..d).map(|j| draws.iter().map(|draw| draw[j]).sum::<f64>() / count).collect();
        let variances = approximation.variances();
        let size = ((estimator.kappa / MOST_NOISE).ceil() as usize).max(LEAST_MINIBATCH).min(estimator.weights.len());
        let control = ControlVariate::new(Weighted::new(size, estimator.weights.to_vec())?)
            .with_center(approximation.center.clone());
        let state = control.init(&approximation.center, make()?.as_mut())?;
        let chunk = draws.len().div_ceil(2 * rayon::current_num_threads()).max(1);
        let terms: Result<Vec<Vec<Terms>>> = draws
            .par_chunks(chunk)
            .enumerate()
            .map(|(part, draws)| {
                let (mut evaluator, mut state) = (make()?, state.clone());
                let (mut batch, mut g, mut scaled) = (Minibatch::default(), vec![0.0; d], vec![0.0; d]);
                let mut terms = Vec::with_capacity(draws.len());
                for (index, theta) in draws.iter().enumerate() {
                    // The minibatch of a draw does not depend on the number of threads.
                    let mut rng = StreamRng::seed_from_u64(seed.wrapping_add((part * chunk + index) as u64));
                    control.draw_independent(evaluator.observations(), &mut rng, &mut batch)?;
                    control.estimate(&mut state, theta, evaluator.as_mut(), &batch, &mut g)?;
                    approximation.scale_gradient(&g, &mut scaled);
                    let force = scaled.iter().zip(&variances).map(|(g, variance)| g / variance.sqrt()).collect();
                    let ratio = (0..d).map(|j| -(theta[j] - mean[j]) * scaled[j] / variances[j]).collect();
                    terms.push(Terms { force, ratio });
                }
                Ok(terms)
            })
            .collect();
        let terms: Vec<Terms> = terms?.into_iter().flatten().collect();
        let effective = examined.effective.min(count).max(2.0);
        let forces: Vec<Estimate> =
            (0..d).map(|j| Estimate::new(terms.iter().map(|terms| terms.force[j]), effective)).collect();
        let ratios: Vec<Estimate> =
            (0..d).map(|j| Estimate::new(terms.iter().map(|terms| terms.ratio[j] - 1.0), effective)).collect();
        let average = Estimate::new(terms.iter().map(|t| t.ratio.iter().sum::<f64>() / d as f64 - 1.0), effective);
        let worst = forces.iter().max_by(|a, b| a.value.abs().total_cmp(&b.value.abs()));
        let (shift, shift_error) = worst.map_or((0.0, 0.0), |worst| (worst.value, worst.error));
        Ok(Self {
            variance: average.value,
            variance_error: average.error,
            mean: shift,
            mean_error: shift_error,
            findings: findings(layout, &forces, &ratios),
            cost: 2 * (size * draws.len()) as u64,
        })
    }
}

/// The gradients of an examination: control variates with weighted minibatches.
#[derive(Clone, Copy, Debug)]
pub(super) struct GradientSource<'a> {
    /// The sampling weights of the observations.
    pub(super) weights: &'a [f64],
    /// The largest whitened noise of an estimate from one observation.
    pub(super) kappa: f64,
}

/// A mean with its standard error.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    value: f64,
    error: f64,
}

impl Estimate {
    fn new(values: impl Iterator<Item = f64> + Clone, effective: f64) -> Self {
        let count = values.clone().count() as f64;
        let value = values.clone().sum::<f64>() / count;
        let variance = values.map(|x| (x - value).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        Self { value, error: (variance / effective).sqrt() }
    }

    /// Returns true if the absolute value certainly exceeds `limit`.
    fn exceeds(&self, limit: f64) -> bool {
        self.value.abs() > limit && self.value.abs() > CERTAIN * self.error
    }
}

/// Returns findings about coordinates that certainly have a wrong mean or variance.
fn findings(layout: &Layout, forces: &[Estimate], ratios: &[Estimate]) -> Vec<Finding> {
    let remedy = "the step size or the gradient noise is too large for this posterior: state a smaller bias, or use a method with \
                  the full gradient";
    let wrong = |estimates: &[Estimate], limit: f64| {
        let mut wrong: Vec<(usize, Estimate)> =
            estimates.iter().copied().enumerate().filter(|(_, estimate)| estimate.exceeds(limit)).collect();
        wrong.sort_by(|a, b| b.1.value.abs().total_cmp(&a.1.value.abs()));
        wrong
    };
    let names = |wrong: &[(usize, Estimate)]| wrong.iter().map(|(j, _)| layout.coordinate_name(*j)).collect();
    let (means, variances) = (wrong(forces, MEAN_LIMIT), wrong(ratios, VARIANCE_LIMIT));
    let mut findings = Vec::new();
    if let Some((_, worst)) = means.first() {
        let what = format!(
            "the mean force at the draws is not zero: means are off by up to {:.2} ± {:.2} standard deviations",
            worst.value.abs(),
            worst.error
        );
        findings.push(Finding::new(Severity::Problem, what, remedy).about(names(&means)));
    }
    if let Some((_, worst)) = variances.first() {
        let what = format!(
            "by Stein's identity variances are off by up to {:+.0} ± {:.0} %",
            100.0 * worst.value,
            100.0 * worst.error
        );
        findings.push(Finding::new(Severity::Problem, what, remedy).about(names(&variances)));
    }
    findings
}
