//! How long steps are: εᵢ = scale √(hᵢ T), the scale found by dual averaging while the chain warms up.
//!
//! Source: Hoffman & Gelman (2014), §3.2, eq. (6), with their constants: δ the acceptance rate aimed at, α_t the one of iteration t,
//! x_t = log 10 − √t/γ · H̄_t, H̄_t = (1 − 1/(t+t₀)) H̄_{t−1} + (δ − α_t)/(t+t₀), and x̄_t = t^{−κ} x_t + (1 − t^{−κ}) x̄_{t−1}; the
//! scale is exp x_t while it is looked for and exp x̄ from then on.

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, Result};

use crate::step_size::Tick;

/// Looks for the step size in the first iterations, which make no draws, and keeps it from then on.
///
/// The step size given with the algorithm is where the search starts; those of different parameters keep their ratios.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `iterations` | – | how long it looks | ≥ 1 |
/// | `acceptance` | 0.8 | the acceptance rate aimed at | (0, 1) |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualAveraging {
    /// How many iterations it looks.
    pub iterations: u64,
    /// The acceptance rate aimed at.
    pub acceptance: f64,
}

const GAMMA: f64 = 0.05;
const T0: f64 = 10.0;
const KAPPA: f64 = 0.75;

impl DualAveraging {
    /// Looks for a step size with acceptance rate 0.8 for so many iterations.
    pub fn new(iterations: u64) -> Self {
        Self { iterations, acceptance: 0.8 }
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.iterations == 0 {
            let expected = "look for at least 1 iteration, or give no dual averaging";
            return Err(Error::Setting { name: "the length of dual averaging", value: "0".into(), expected });
        }
        if !(self.acceptance > 0.0 && self.acceptance < 1.0) {
            let (value, expected) = (self.acceptance.to_string(), "it must be above 0 and below 1");
            return Err(Error::Setting { name: "the acceptance rate aimed at", value, expected });
        }
        Ok(())
    }
}

/// How far the search for the scale has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Scale {
    /// log of the scale in use, x.
    log: f64,
    /// x̄.
    averaged: f64,
    /// H̄.
    shortfall: f64,
    /// t.
    seen: u64,
}

impl Scale {
    pub(super) fn value(self) -> f64 {
        self.log.exp()
    }

    /// Whether the search goes on.
    pub(super) fn is_searching(self, search: Option<DualAveraging>) -> bool {
        search.is_some_and(|search| self.seen < search.iterations)
    }

    /// Takes note of an acceptance rate.
    pub(super) fn learn(&mut self, search: Option<DualAveraging>, acceptance_rate: f64) {
        let Some(search) = search.filter(|search| self.seen < search.iterations) else { return };
        self.seen += 1;
        let t = self.seen as f64;
        let weight = 1.0 / (t + T0);
        self.shortfall = (1.0 - weight) * self.shortfall + weight * (search.acceptance - acceptance_rate);
        self.log = 10.0_f64.ln() - t.sqrt() / GAMMA * self.shortfall;
        let weight = t.powf(-KAPPA);
        self.averaged = weight * self.log + (1.0 - weight) * self.averaged;
        if self.seen == search.iterations {
            self.log = self.averaged;
        }
    }
}

/// εᵢ = scale √(hᵢ T) of every coordinate.
///
/// # Errors
///
/// At temperature zero, where nothing could be accepted but ascents.
pub(super) fn epsilons(tick: Tick<'_>, scale: Scale, epsilon: &mut [f64]) -> Result<()> {
    if tick.temperature <= 0.0 {
        let expected = "methods that accept or reject need a positive one; find the mode with `find_mode`";
        return Err(Error::Setting { name: "the temperature", value: tick.temperature.to_string(), expected });
    }
    let scale = scale.value();
    for piece in tick.pieces {
        epsilon[piece.range.clone()].fill(scale * (piece.h * tick.temperature).sqrt());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acceptance falls with the scale as 1/(1 + scale²): 0.8 is reached at a scale of one half.
    #[test]
    fn the_scale_goes_where_the_acceptance_rate_is_the_one_aimed_at() {
        let search = Some(DualAveraging::new(2000));
        let mut scale = Scale::default();
        for _ in 0..2000 {
            assert!(scale.is_searching(search));
            scale.learn(search, 1.0 / (1.0 + scale.value().powi(2)));
        }
        assert!(!scale.is_searching(search));
        assert!((scale.value() - 0.5).abs() < 0.01, "{scale:?}");
        let frozen = scale;
        scale.learn(search, 0.0);
        assert_eq!(scale, frozen);
    }

    /// The first three steps of eq. (6), by hand.
    #[test]
    fn the_first_steps_are_those_of_the_paper() {
        let search = Some(DualAveraging { iterations: 3, acceptance: 0.7 });
        let mut scale = Scale::default();
        let (mut shortfall, mut averaged) = (0.0, 0.0);
        for (t, rate) in [(1.0_f64, 0.2), (2.0, 0.9), (3.0, 0.6)] {
            scale.learn(search, rate);
            shortfall = (1.0 - 1.0 / (t + 10.0)) * shortfall + (0.7 - rate) / (t + 10.0);
            let log = 10.0_f64.ln() - t.sqrt() * shortfall / 0.05;
            averaged = t.powf(-0.75) * log + (1.0 - t.powf(-0.75)) * averaged;
            let expected: f64 = if t < 2.5 { log } else { averaged };
            assert!((scale.value().ln() - expected).abs() < 1e-12, "t = {t}");
        }
    }
}
