//! What stochastic gradients add to the usual diagnostics: is their noise small, is the step size small, what does a draw cost.

mod halving;
mod noise;

use std::fmt;

pub use halving::{Shift, StepHalving};
pub use noise::{BlockNoise, EstimatorNoise, NoiseReport};

use super::check::{Finding, Severity, Thresholds};
use super::{Bias, Fit, Summary};

/// Effective draws and what they cost, burn-in included. The effective size is the least bulk ESS of all values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Efficiency {
    /// The least bulk ESS.
    pub ess: f64,
    /// Seconds of all chains together, where known.
    pub seconds: Option<f64>,
    /// Gradient estimates of all chains together, where known.
    pub gradients: Option<f64>,
}

impl Efficiency {
    /// Effective draws per second of a chain.
    pub fn per_second(&self) -> Option<f64> {
        self.seconds.map(|seconds| self.ess / seconds)
    }

    /// Effective draws per gradient estimate.
    pub fn per_gradient(&self) -> Option<f64> {
        self.gradients.map(|gradients| self.ess / gradients)
    }
}

/// The health of a stochastic-gradient run.
///
/// [`Fit::health`] knows what came with the draws. What needs the model is measured apart and added:
/// [`Fit::gradient_noise`] by [`with_noise`](Self::with_noise), and [`Fit::step_halving`] by [`with_halving`](Self::with_halving).
#[derive(Clone, Debug, PartialEq)]
pub struct Health {
    /// What effective draws cost.
    pub efficiency: Efficiency,
    /// The mean share of accepted proposals, for algorithms that have such.
    pub acceptance: Option<f64>,
    /// The mean α of the sampling threshold, where it was measured along the chains.
    pub alpha: Option<f64>,
    /// The bias of the chains, as far as it was examined.
    pub bias: Bias,
    /// The noise of the gradient at some draws.
    pub noise: Option<NoiseReport>,
    /// What halving the step size changes.
    pub halving: Option<StepHalving>,
}

impl Fit {
    /// What the draws say of the health of the run.
    pub fn health(&self) -> Health {
        Health::of(self, &self.summary())
    }
}

impl Health {
    fn of(fit: &Fit, summary: &Summary) -> Self {
        let known = |total: f64| (total > 0.0).then_some(total);
        let efficiency = Efficiency {
            ess: summary.rows().iter().map(|row| row.ess_bulk).fold(f64::NAN, f64::min),
            seconds: known(fit.info.seconds.iter().sum()),
            gradients: known(fit.info.gradients.iter().sum::<u64>() as f64),
        };
        let (acceptance, alpha) = (fit.stat_mean("acceptance_rate"), fit.stat_mean("alpha"));
        let bias = fit.info.bias.clone();
        Self { efficiency, acceptance, alpha, bias, noise: None, halving: None }
    }

    /// The same with the noise of the gradient.
    #[must_use]
    pub fn with_noise(self, noise: NoiseReport) -> Self {
        Self { noise: Some(noise), ..self }
    }

    /// The same with what halving the step size changes.
    #[must_use]
    pub fn with_halving(self, halving: StepHalving) -> Self {
        Self { halving: Some(halving), ..self }
    }

    /// What is wrong, to be [joined](crate::fit::Check::join) to the findings of [`Fit::check`].
    pub fn findings(&self, thresholds: &Thresholds) -> Vec<Finding> {
        let helped = self.noise.as_ref().filter(|noise| {
            !noise.run_is_controlled && noise.controlled.variance < 0.5 * noise.plain.variance && self.is_noisy(thresholds)
        });
        let advice = helped.map(|noise| {
            let ratio = noise.plain.variance / noise.controlled.variance;
            let what = format!("control variates would divide the variance of the gradient by {ratio:.3}");
            Finding::new(Severity::Note, what, "use `sgldcv`, `sghmccv` or `sgnhtcv`")
        });
        let bias = self.halving.iter().flat_map(|halving| halving.findings(thresholds));
        advice.into_iter().chain(bias).collect()
    }

    /// Returns whether gradient noise is predicted to widen standard deviations by more than the threshold.
    fn is_noisy(&self, thresholds: &Thresholds) -> bool {
        match &self.bias {
            Bias::Predicted(predicted) => predicted.noisiest.sd_error().abs() > thresholds.bias,
            _ => self.alpha.is_some_and(|alpha| alpha > thresholds.noise_ratio),
        }
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Efficiency { ess, seconds, gradients } = self.efficiency;
        write!(f, "effective draws (least of all values): {ess:.0}")?;
        if let (Some(seconds), Some(rate)) = (seconds, self.efficiency.per_second()) {
            write!(f, "\n  in {seconds:.3} s of all chains: {rate:.4} per second")?;
        }
        if let (Some(gradients), Some(rate)) = (gradients, self.efficiency.per_gradient()) {
            write!(f, "\n  in {gradients} gradient estimates: {:.3} per thousand", 1e3 * rate)?;
        }
        if let Some(rate) = self.acceptance {
            write!(f, "\nproposals accepted: {:.1} %", 100.0 * rate)?;
        }
        if let Some(alpha) = self.alpha {
            write!(f, "\nsampling threshold α along the chains: {alpha:.3} (≪ 1 samples, > 1 climbs)")?;
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
