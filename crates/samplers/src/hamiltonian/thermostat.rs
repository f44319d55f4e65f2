//! Thermostats: frictions ξ that grow while the velocity is too hot and fall while it is too cold.
//!
//! ξ += share · (νᵀν/p − hT), over the p coordinates that share a thermostat.

use serde::{Deserialize, Serialize};
use sgmcmc_core::Layout;

use crate::step_size::Tick;

/// Which coordinates share a thermostat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Thermostats {
    /// One for every named parameter, as in R.
    #[default]
    PerParameter,
    /// One for all.
    Global,
}

/// One thermostat and the coordinates it serves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Thermostat {
    pub(super) xi: f64,
    start: usize,
    end: usize,
}

impl Thermostats {
    /// The thermostats of `layout`, all at `xi`.
    pub(super) fn init(self, layout: &Layout, xi: f64) -> Vec<Thermostat> {
        match self {
            Self::Global => vec![Thermostat { xi, start: 0, end: layout.dim() }],
            Self::PerParameter => {
                let place =
                    |block: &sgmcmc_core::Block| Thermostat { xi, start: block.range.start, end: block.range.end };
                layout.blocks().iter().map(place).collect()
            }
        }
    }

    /// Tells `each` thermostat by name.
    pub(super) fn stats(self, thermostats: &[Thermostat], layout: &Layout, each: &mut dyn FnMut(&str, f64)) {
        match self {
            Self::Global => thermostats.iter().for_each(|thermostat| each("thermostat", thermostat.xi)),
            Self::PerParameter => layout
                .blocks()
                .iter()
                .zip(thermostats)
                .for_each(|(block, thermostat)| each(&format!("thermostat.{}", block.name), thermostat.xi)),
        }
    }
}

impl Thermostat {
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.start..self.end
    }

    /// ξ += share · (νᵀν/p − mean of hT over its coordinates).
    pub(super) fn adjust(&mut self, velocity: &[f64], tick: Tick<'_>, share: f64) {
        let p = (self.end - self.start) as f64;
        let heat: f64 = velocity[self.range()].iter().map(|v| v * v).sum();
        let target: f64 = tick
            .pieces
            .iter()
            .map(|piece| {
                let shared = piece.range.end.min(self.end).saturating_sub(piece.range.start.max(self.start));
                shared as f64 * piece.h * tick.temperature
            })
            .sum();
        self.xi += share * (heat - target) / p;
    }
}
