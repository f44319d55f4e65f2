//! Adaptation of the step size by dual averaging: see [`DualAveraging`].

use std::ops::Bound;

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{Error, Result, settings};

use crate::step_size::StepContext;

/// Step-size adaptation by dual averaging.
///
/// The first iterations adapt the step size to a target acceptance rate and make no draws. Then the step size is fixed.
/// The step size of the run is the initial value. Step sizes of different parameters keep their ratios.
///
/// # Rule
///
/// The steps are εᵢ = exp(x) √(hᵢ T). With α_t the acceptance rate of iteration t and δ the target,
///
/// x_t = log 10 − √t/γ · H̄_t, H̄_t = (1 − 1/(t + t₀)) H̄_{t−1} + (δ − α_t)/(t + t₀), x̄_t = t^{−κ} x_t + (1 − t^{−κ})
/// x̄_{t−1},
///
/// with γ = 0.05, t₀ = 10, κ = 0.75. The scale is exp(x_t) during the adaptation and exp(x̄) after it.
///
/// # Source
///
/// Hoffman & Gelman (2014), §3.2, eq. (6).
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `iterations` | – | number of iterations of the adaptation | ≥ 1 |
/// | `acceptance` | 0.8 | target acceptance rate δ | (0, 1) |
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{DualAveraging, Hmc};
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let dynamics = Hmc { adapt: Some(DualAveraging::new(200)), ..Hmc::default() };
/// let fit = hmc(&model, &Dataset::none(), 0.01).dynamics(dynamics).seed(1).sample(&zeros([1]), 100)?;
/// assert_eq!(fit.info().iterations, [300]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualAveraging {
    /// The number of iterations of the adaptation.
    pub iterations: u64,
    /// The target acceptance rate δ.
    pub acceptance: f64,
}

/// The shrinkage γ.
const GAMMA: f64 = 0.05;
/// The offset t₀ of the iterations.
const T0: f64 = 10.0;
/// The exponent κ of the averaging.
const KAPPA: f64 = 0.75;

impl DualAveraging {
    /// Creates an adaptation of `iterations` iterations with target acceptance rate 0.8.
    pub fn new(iterations: u64) -> Self {
        Self { iterations, acceptance: 0.8 }
    }

    /// Checks the settings.
    pub(super) fn check(&self) -> Result<()> {
        let expected = "adapt for at least 1 iteration, or disable the adaptation";
        settings::at_least("the length of dual averaging", self.iterations, 1, expected)?;
        let (range, expected) = ((Bound::Excluded(0.0), Bound::Excluded(1.0)), "it must be above 0 and below 1");
        settings::within("the acceptance rate aimed at", self.acceptance, range, expected)?;
        Ok(())
    }
}

/// The state of dual averaging.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct StepSizeAdaptation {
    /// The logarithm x of the current scale.
    log: f64,
    /// The average x̄ of the logarithms.
    averaged: f64,
    /// The mean shortfall H̄ of the acceptance rate.
    shortfall: f64,
    /// The number t of observed acceptance rates.
    seen: u64,
    /// The logarithm of the scale at the start.
    #[serde(default)]
    start: f64,
}

impl StepSizeAdaptation {
    /// Returns the current scale of the steps.
    pub(super) fn scale(self) -> f64 {
        self.log.exp()
    }

    /// Returns the number of observed acceptance rates since the start.
    pub(super) fn seen(self) -> u64 {
        self.seen
    }

    /// Multiplies the current scale by `factor`.
    pub(super) fn multiply(&mut self, factor: f64) {
        self.log += factor.ln();
    }

    /// Starts dual averaging again, from the current scale.
    pub(super) fn restart(&mut self) {
        *self = Self { log: self.log, start: self.log, ..Self::default() };
    }

    /// Returns whether the adaptation has not ended.
    pub(super) fn is_adapting(self, settings: Option<DualAveraging>) -> bool {
        settings.is_some_and(|settings| self.seen < settings.iterations)
    }

    /// Updates the scale with an acceptance rate.
    pub(super) fn update(&mut self, settings: Option<DualAveraging>, acceptance_rate: f64) {
        let Some(settings) = settings.filter(|settings| self.seen < settings.iterations) else { return };
        self.seen += 1;
        let t = self.seen as f64;
        let weight = 1.0 / (t + T0);
        self.shortfall = (1.0 - weight) * self.shortfall + weight * (settings.acceptance - acceptance_rate);
        self.log = self.start + 10.0_f64.ln() - t.sqrt() / GAMMA * self.shortfall;
        let weight = t.powf(-KAPPA);
        self.averaged = weight * self.log + (1.0 - weight) * self.averaged;
        if self.seen == settings.iterations {
            self.log = self.averaged;
        }
    }
}

/// Writes the steps εᵢ = scale √(hᵢ T) of all coordinates into `epsilon`.
///
/// # Errors
///
/// Returns an error at temperature zero, where only ascents could be accepted.
pub(super) fn epsilons(context: StepContext<'_>, adaptation: StepSizeAdaptation, epsilon: &mut [f64]) -> Result<()> {
    if context.temperature <= 0.0 {
        let expected = "methods that accept or reject need a positive one; find the mode with `find_mode`";
        return Err(Error::Setting { name: "the temperature", value: context.temperature.to_string(), expected });
    }
    let scale = adaptation.scale();
    for block in context.blocks {
        epsilon[block.range.clone()].fill(scale * (block.h * context.temperature).sqrt());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acceptance falls with the adaptation as 1/(1 + scale²): 0.8 is reached at a adaptation of one half.
    #[test]
    fn the_scale_converges_to_the_target_acceptance_rate() {
        let settings = Some(DualAveraging::new(2000));
        let mut adaptation = StepSizeAdaptation::default();
        for _ in 0..2000 {
            assert!(adaptation.is_adapting(settings));
            adaptation.update(settings, 1.0 / (1.0 + adaptation.scale().powi(2)));
        }
        assert!(!adaptation.is_adapting(settings));
        assert!((adaptation.scale() - 0.5).abs() < 0.01, "{adaptation:?}");
        let frozen = adaptation;
        adaptation.update(settings, 0.0);
        assert_eq!(adaptation, frozen);
    }

    /// A restart from the scale s shrinks towards 10 s, as the first start from 1 does towards 10.
    #[test]
    fn a_restart_continues_from_the_scale() {
        let settings = Some(DualAveraging::new(100));
        let (mut first, mut again) = (StepSizeAdaptation::default(), StepSizeAdaptation::default());
        again.update(settings, 0.3);
        again.restart();
        let scale = again.scale();
        assert_eq!(again.seen(), 0);
        for rate in [0.9, 0.2, 0.7] {
            first.update(settings, rate);
            again.update(settings, rate);
            assert!((again.scale() / first.scale() / scale - 1.0).abs() < 1e-12);
        }
        again.multiply(0.5);
        assert!((again.scale() / first.scale() / scale - 0.5).abs() < 1e-12);
    }

    /// Compares with the first three steps of eq. (6).
    #[test]
    fn the_first_steps_match_the_paper() {
        let settings = Some(DualAveraging { iterations: 3, acceptance: 0.7 });
        let mut adaptation = StepSizeAdaptation::default();
        let (mut shortfall, mut averaged) = (0.0, 0.0);
        for (t, rate) in [(1.0_f64, 0.2), (2.0, 0.9), (3.0, 0.6)] {
            adaptation.update(settings, rate);
            shortfall = (1.0 - 1.0 / (t + 10.0)) * shortfall + (0.7 - rate) / (t + 10.0);
            let log = 10.0_f64.ln() - t.sqrt() * shortfall / 0.05;
            averaged = t.powf(-0.75) * log + (1.0 - t.powf(-0.75)) * averaged;
            let expected: f64 = if t < 2.5 { log } else { averaged };
            assert!((adaptation.scale().ln() - expected).abs() < 1e-12, "t = {t}");
        }
    }
}
