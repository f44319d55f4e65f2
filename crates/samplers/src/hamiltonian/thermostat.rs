//! Thermostats: frictions ξ that grow while the velocity is too hot and fall while it is too cold.
//!
//! ξ += share · h̄ (mean of ν²/h − T), over the p coordinates that share a thermostat; h̄ is the mean of their step sizes. With one step size this is
//! νᵀν/p − hT. With several, every coordinate counts alike in units of its own h: otherwise the law of θ would not stay invariant.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, Layout, Result};

use super::sghmc::mean_along;
use crate::per_parameter::PerParameter;
use crate::step_size::{Piece, Tick};

/// Which coordinates share a thermostat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Thermostats {
    /// One for every named parameter, as in R.
    #[default]
    PerParameter,
    /// One for all, which then share one noise a as well: a single friction cannot balance several.
    Global,
}

/// One thermostat and the coordinates it serves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Thermostat {
    pub(super) xi: f64,
    /// The noise a that it balances.
    pub(super) a: f64,
    start: usize,
    end: usize,
}

impl Thermostats {
    /// The thermostats of `layout`, each at its own a.
    ///
    /// # Errors
    ///
    /// If an a belongs to a parameter that is not there, or several are to be balanced by one thermostat.
    pub(super) fn init(self, layout: &Layout, a: &PerParameter<f64>) -> Result<Vec<Thermostat>> {
        let places = a.places(layout)?;
        let thermostat = |a: f64, range: Range<usize>| Thermostat { xi: a, a, start: range.start, end: range.end };
        match self {
            Self::PerParameter => {
                Ok(layout.blocks().iter().map(|block| thermostat(*a.of(&block.name), block.range.clone())).collect())
            }
            Self::Global => {
                let first = places.first().map_or(*a.common(), |(_, a)| **a);
                match places.iter().find(|(_, a)| a.to_bits() != first.to_bits()) {
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

    /// The name of each thermostat.
    pub(super) fn stat_names(self, layout: &Layout) -> Vec<String> {
        match self {
            Self::Global => vec!["thermostat".into()],
            Self::PerParameter => layout.blocks().iter().map(|block| format!("thermostat.{}", block.name)).collect(),
        }
    }
}

impl Thermostat {
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// ξ += share · h̄ (mean of ν²/h − T).
    pub(super) fn adjust(&mut self, velocity: &[f64], tick: Tick<'_>, share: f64) {
        let p = (self.end - self.start) as f64;
        let (mut heat, mut steps) = (0.0, 0.0);
        for Piece { range, h, .. } in tick.within(self.range()) {
            heat += velocity[range.clone()].iter().map(|v| v * v).sum::<f64>() / h;
            steps += range.len() as f64 * h;
        }
        self.xi += share * (steps / p) * (heat / p - tick.temperature);
    }

    /// Scales the deviation of ξ from a, which is proportional to √h, when the step size has changed.
    pub(super) fn rescale(&mut self, tick: Tick<'_>) {
        let (mut now, mut before) = (0.0, 0.0);
        for piece in tick.within(self.range()) {
            now += piece.range.len() as f64 * piece.h;
            before += piece.range.len() as f64 * piece.previous;
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

    /// Coordinates count alike in units of their own step size. If one is twice as hot as it should be and the other has no heat, their
    /// mean is right and the thermostat stays, whatever their step sizes; if both are too hot, it rises.
    #[test]
    fn one_thermostat_serves_unequal_step_sizes() {
        let pieces = [(0..1, 1e-4), (1..2, 1e-2)].map(|(range, h)| Piece { range, h, previous: h });
        for temperature in [1.0, 0.5] {
            let tick = Tick { t: 3, temperature, h: 1e-4, pieces: &pieces };
            let after = |heat: [f64; 2]| {
                let velocity: Vec<f64> =
                    heat.iter().zip(&pieces).map(|(heat, piece)| (heat * temperature * piece.h).sqrt()).collect();
                let mut thermostat = Thermostat { xi: 0.1, a: 0.1, start: 0, end: 2 };
                thermostat.adjust(&velocity, tick, 1.0);
                thermostat.xi
            };
            assert!((after([2.0, 0.0]) - 0.1).abs() < 1e-15 && (after([0.0, 2.0]) - 0.1).abs() < 1e-15);
            assert!((after([2.0, 2.0]) - 0.1 - 0.5 * (1e-4 + 1e-2) * temperature).abs() < 1e-15);
        }
    }
}
