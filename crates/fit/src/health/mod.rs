//! Diagnostics of stochastic-gradient runs: gradient noise, step size, and cost.

mod halving;
mod noise;

use std::fmt;

pub use halving::{Shift, StepHalving};
pub use noise::{EstimatorNoise, NoisePoint, NoiseReport, ParameterNoise};

use super::check::{Finding, Severity, Thresholds};
use super::{Bias, ChainOutcome, Fit, Summary};

/// The effective sample size of a run and its cost, with burn-in.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::Efficiency;
///
/// let efficiency = Efficiency { ess: 500.0, seconds: Some(2.0), gradients: None };
/// assert_eq!(efficiency.per_second(), Some(250.0));
/// assert_eq!(efficiency.per_gradient(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Efficiency {
    /// The smallest bulk effective sample size of all values. NaN if a chain diverged.
    pub ess: f64,
    /// The total run time of all chains in seconds, if it is known.
    pub seconds: Option<f64>,
    /// The total number of gradient estimates of all chains, if it is known.
    pub gradients: Option<f64>,
}

impl Efficiency {
    /// Returns the effective sample size per second of chain time.
    pub fn per_second(&self) -> Option<f64> {
        self.seconds.map(|seconds| self.ess / seconds)
    }

    /// Returns the effective sample size per gradient estimate.
    pub fn per_gradient(&self) -> Option<f64> {
        self.gradients.map(|gradients| self.ess / gradients)
    }
}

/// The health of a stochastic-gradient run.
///
/// [`Fit::health`] computes it from the draws. Measurements that need the model are added separately:
/// [`Fit::gradient_noise`] with [`with_noise`](Self::with_noise), and [`Fit::step_halving`] with
/// [`with_halving`](Self::with_halving).
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 0.0], [4])?)?;
/// let start = zeros([1]);
/// let fit = sgld(&model, &data, 0.1).minibatch(2).seed(1).sample(&start, 500)?;
/// let noise = fit.gradient_noise(&model.with(&data), &start, 2)?;
/// let health = fit.health().with_noise(noise);
/// assert!(health.efficiency.ess > 0.0);
/// assert!(health.to_string().contains("gradients from 2 observations"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Health {
    /// The effective sample size and its cost.
    pub efficiency: Efficiency,
    /// The mean share of accepted proposals, for algorithms with an acceptance step.
    pub acceptance: Option<f64>,
    /// The mean α of the sampling threshold, if the chains recorded it.
    pub alpha: Option<f64>,
    /// The bias of the chains, if it was examined.
    pub bias: Bias,
    /// The noise of the gradient at a few draws, if it was measured.
    pub noise: Option<NoiseReport>,
    /// The effect of halving the step size, if it was measured.
    pub halving: Option<StepHalving>,
}

impl Fit {
    /// Returns the health of the run, as far as it can be computed from the draws.
    pub fn health(&self) -> Health {
        Health::new(self, &self.summary())
    }
}

impl Health {
    /// Computes the health from the draws and their summary.
    fn new(fit: &Fit, summary: &Summary) -> Self {
        let positive = |total: f64| (total > 0.0).then_some(total);
        // The draws of a chain that diverged are no sample of the posterior.
        let diverged = fit.outcomes.iter().any(ChainOutcome::is_divergence);
        let smallest = summary.rows().iter().map(|row| row.ess_bulk).fold(f64::NAN, f64::min);
        let efficiency = Efficiency {
            ess: if diverged { f64::NAN } else { smallest },
            seconds: positive(fit.info.seconds.iter().sum()),
            gradients: positive(fit.info.gradients.iter().sum::<u64>() as f64),
        };
        let (acceptance, alpha) = (fit.stat_mean("acceptance_rate"), fit.stat_mean("alpha"));
        let bias = fit.info.bias.clone();
        Self { efficiency, acceptance, alpha, bias, noise: None, halving: None }
    }

    /// Returns this health with the noise of the gradient.
    #[must_use]
    pub fn with_noise(self, noise: NoiseReport) -> Self {
        Self { noise: Some(noise), ..self }
    }

    /// Returns this health with the effect of halving the step size.
    #[must_use]
    pub fn with_halving(self, halving: StepHalving) -> Self {
        Self { halving: Some(halving), ..self }
    }

    /// Returns findings. [`Check::join`](crate::Check::join) adds them to the findings of [`Fit::check`].
    pub fn findings(&self, thresholds: &Thresholds) -> Vec<Finding> {
        let improvable = self.noise.as_ref().filter(|noise| {
            !noise.run_is_controlled
                && noise.controlled.variance < 0.5 * noise.plain.variance
                && self.is_noisy(thresholds)
        });
        let advice = improvable.map(|noise| {
            let ratio = noise.plain.variance / noise.controlled.variance;
            let what = format!("control variates would divide the variance of the gradient by {ratio:.3}");
            Finding::new(Severity::Note, what, "use `sgldcv`, `sghmccv` or `sgnhtcv`")
        });
        let bias = self.halving.iter().flat_map(|halving| halving.findings(thresholds));
        advice.into_iter().chain(bias).collect()
    }

    /// Returns whether the predicted effect of gradient noise on standard deviations exceeds the threshold.
    fn is_noisy(&self, thresholds: &Thresholds) -> bool {
        match &self.bias {
            Bias::Predicted(predicted) => predicted.noisiest.sd_error().abs() > thresholds.bias,
            _ => self.alpha.is_some_and(|alpha| alpha > thresholds.noise_ratio),
        }
    }
}

/// Formats a positive number with three significant digits.
fn three_digits(value: f64) -> String {
    if value > 0.0 && (1e-4..1e7).contains(&value) {
        let decimals = (2 - value.log10().floor() as i32).max(0) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.2e}")
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Efficiency { ess, seconds, gradients } = self.efficiency;
        if ess.is_nan() {
            write!(f, "effective draws: not known")?;
        } else {
            write!(f, "effective draws (smallest of all values): {ess:.0}")?;
        }
        if let (Some(seconds), Some(rate)) = (seconds, self.efficiency.per_second())
            && rate.is_finite()
        {
            write!(f, "\n  in {} s of all chains: {} per second", three_digits(seconds), three_digits(rate))?;
        }
        if let (Some(gradients), Some(rate)) = (gradients, self.efficiency.per_gradient())
            && rate.is_finite()
        {
            write!(f, "\n  in {gradients} gradient estimates: {} per thousand", three_digits(1e3 * rate))?;
        }
        if let Some(rate) = self.acceptance {
            write!(f, "\nproposals accepted: {:.1} %", 100.0 * rate)?;
        }
        if let Some(alpha) = self.alpha {
            write!(f, "\nsampling threshold α along the chains: {alpha:.3} (≪ 1: sampling, > 1: optimization)")?;
        }
        match &self.bias {
            Bias::Unknown => {}
            Bias::Exact => write!(f, "\nbias: none, proposals are accepted or rejected")?,
            Bias::NotExamined(reason) => write!(f, "\nbias: not examined, {reason}")?,
            Bias::Predicted(predicted) => {
                let [stiff, noisy] = [predicted.stiffest, predicted.noisiest].map(|d| 100.0 * d.sd_error());
                write!(
                    f,
                    "\npredicted error of standard deviations: {stiff:+.1} % where the curvature is largest, \
                     {noisy:+.1} % where the gradient is noisiest"
                )?;
            }
        }
        if let Some(noise) = &self.noise {
            write!(f, "\n{noise}")?;
        }
        if let Some(halving) = &self.halving {
            write!(f, "\n{halving}")?;
        }
        Ok(())
    }
}
