//! Thermostats: frictions ξ that grow while the velocity is too hot and fall while it is too cold.
//!
//! ξ += share · (νᵀν/p − hT), over the p coordinates that share a thermostat.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, Layout, Result};

use crate::per_parameter::PerParameter;
use crate::step_size::Tick;

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

    /// ξ += share · (νᵀν/p − mean of hT over its coordinates).
    pub(super) fn adjust(&mut self, velocity: &[f64], tick: Tick<'_>, share: f64) {
        let p = (self.end - self.start) as f64;
        let heat: f64 = velocity[self.range()].iter().map(|v| v * v).sum();
        let target: f64 =
            tick.within(self.range()).map(|piece| piece.range.len() as f64 * piece.h * tick.temperature).sum();
        self.xi += share * (heat - target) / p;
    }
}
