//! Thermostats: frictions ξ that increase while the velocity is too large and decrease while it is too small.
//!
//! ξ += share · h̄ (mean of ν²/h − T), over the p coordinates that share a thermostat, where h̄ is the mean of their
//! step sizes. With one step size this is νᵀν/p − hT. With several, every coordinate has the same weight in units of
//! its own h. Otherwise the distribution of θ would not be invariant.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{Error, Layout, Result};

use super::sghmc::mean_along;
use crate::per_parameter::PerParameter;
use crate::step_size::{StepBlock, StepContext};

/// The coordinates that share a thermostat in [`Sgnht`](super::Sgnht) and [`Badodab`](super::Badodab).
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{Badodab, Thermostats};
///
/// let shared = Badodab { thermostats: Thermostats::Global, ..Badodab::default() };
/// assert_ne!(shared, Badodab::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Thermostats {
    /// One thermostat per named parameter, as in R.
    #[default]
    PerParameter,
    /// One thermostat for all parameters. All parameters must have the same noise a, since one friction cannot balance
    /// several.
    Global,
}

/// A thermostat and its range of coordinates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Thermostat {
    /// The friction ξ.
    pub(super) xi: f64,
    /// The injected noise a that the friction balances.
    pub(super) a: f64,
    start: usize,
    end: usize,
}

impl Thermostats {
    /// Creates the thermostats of `layout`, each with initial value a.
    ///
    /// # Errors
    ///
    /// Returns an error if `layout` has no parameter of a given name, or if one thermostat would have to balance
    /// several values of a.
    pub(super) fn init(self, layout: &Layout, a: &PerParameter<f64>) -> Result<Vec<Thermostat>> {
        let ranges = a.by_range(layout)?;
        let thermostat = |a: f64, range: Range<usize>| Thermostat { xi: a, a, start: range.start, end: range.end };
        match self {
            Self::PerParameter => {
                Ok(layout.blocks().iter().map(|block| thermostat(*a.of(&block.name), block.range.clone())).collect())
            }
            Self::Global => {
                let first = ranges.first().map_or(*a.common(), |(_, a)| **a);
                match ranges.iter().find(|(_, a)| a.to_bits() != first.to_bits()) {
                    None => Ok(vec![thermostat(first, 0..layout.dim())]),
                    Some((_, other)) => {
                        let value = format!("{first} for one parameter and {other} for another");
                        let expected = "one thermostat for all balances one noise: use `Thermostats::PerParameter`";
                        Err(Error::Setting { name: "the noise a", value, expected })
                    }
                }
            }
        }
    }

    /// Returns the name of each thermostat.
    pub(super) fn stat_names(self, layout: &Layout) -> Vec<String> {
        match self {
            Self::Global => vec!["thermostat".into()],
            Self::PerParameter => layout.blocks().iter().map(|block| format!("thermostat.{}", block.name)).collect(),
        }
    }
}

impl Thermostat {
    /// Returns the range of coordinates.
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Updates the friction: ξ += share · h̄ (mean of ν²/h − T).
    pub(super) fn adjust(&mut self, velocity: &[f64], context: StepContext<'_>, share: f64) {
        let p = (self.end - self.start) as f64;
        let (mut heat, mut steps) = (0.0, 0.0);
        for StepBlock { range, h, .. } in context.within(self.range()) {
            heat += velocity[range.clone()].iter().map(|v| v * v).sum::<f64>() / h;
            steps += range.len() as f64 * h;
        }
        self.xi += share * (steps / p) * (heat / p - context.temperature);
    }

    /// Scales the deviation of ξ from a, which is proportional to √h, when the step size changes.
    pub(super) fn rescale(&mut self, context: StepContext<'_>) {
        let (mut now, mut before) = (0.0, 0.0);
        for block in context.within(self.range()) {
            now += block.range.len() as f64 * block.h;
            before += block.range.len() as f64 * block.previous;
        }
        if now.to_bits() != before.to_bits() {
            self.xi = self.a + (self.xi - self.a) * (now / before).sqrt();
        }
    }
}

/// Returns the mean noise a of the thermostats, weighted by the squares of `vector` over the coordinates of each.
pub(super) fn noise_along(thermostats: &[Thermostat], vector: &[f64]) -> f64 {
    let values: Vec<_> = thermostats.iter().map(|thermostat| (thermostat.range(), thermostat.a)).collect();
    mean_along(&values, vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Coordinates have equal weights in units of their own step size. If one has twice the expected kinetic energy and
    /// the other has none, their mean is right and the thermostat does not change, for all step sizes. If both are too
    /// large, it increases.
    #[test]
    fn one_thermostat_balances_unequal_step_sizes() {
        let blocks = [(0..1, 1e-4), (1..2, 1e-2)].map(|(range, h)| StepBlock { range, h, previous: h });
        for temperature in [1.0, 0.5] {
            let context = StepContext { t: 3, temperature, h: 1e-4, blocks: &blocks };
            let after = |heat: [f64; 2]| {
                let velocity: Vec<f64> =
                    heat.iter().zip(&blocks).map(|(heat, block)| (heat * temperature * block.h).sqrt()).collect();
                let mut thermostat = Thermostat { xi: 0.1, a: 0.1, start: 0, end: 2 };
                thermostat.adjust(&velocity, context, 1.0);
                thermostat.xi
            };
            assert!((after([2.0, 0.0]) - 0.1).abs() < 1e-15 && (after([0.0, 2.0]) - 0.1).abs() < 1e-15);
            assert!((after([2.0, 2.0]) - 0.1 - 0.5 * (1e-4 + 1e-2) * temperature).abs() < 1e-15);
        }
    }
}
