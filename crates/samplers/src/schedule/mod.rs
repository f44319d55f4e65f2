//! Schedules: step sizes and temperatures as functions of the iteration t = 0, 1, 2, …
//!
//! A number is a constant schedule, and any `Fn(u64) -> f64` is a schedule.

mod cosine;
mod decay;
mod halved;
mod identity;
mod polynomial;

pub use cosine::CyclicalCosine;
pub use decay::Decay;
pub(crate) use halved::Halved;
pub(crate) use identity::ScheduleIdentity;
pub use polynomial::Polynomial;

use std::fmt;
use std::sync::Arc;

use sgmcmc_core::{Error, Result};

/// A positive number for every iteration.
pub trait Schedule: Send + Sync {
    /// The value at iteration `t`, counted from 0.
    fn at(&self, t: u64) -> f64;

    /// The value, if it is the same at every iteration.
    fn constant(&self) -> Option<f64> {
        None
    }

    /// Returns the schedule and its parameters in words, if they say all about it. Closures have none: a run that goes on from a
    /// checkpoint compares their values instead.
    fn description(&self) -> Option<String> {
        self.constant().map(|value| value.to_string())
    }

    /// An error that says which setting is out of range.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

impl Schedule for f64 {
    fn at(&self, _t: u64) -> f64 {
        *self
    }

    fn constant(&self) -> Option<f64> {
        Some(*self)
    }
}

impl<F: Fn(u64) -> f64 + Send + Sync> Schedule for F {
    fn at(&self, t: u64) -> f64 {
        self(t)
    }
}

/// Any schedule, shared between chains.
#[derive(Clone)]
pub struct SharedSchedule(Arc<dyn Schedule>);

impl<S: Schedule + 'static> From<S> for SharedSchedule {
    fn from(schedule: S) -> Self {
        Self(Arc::new(schedule))
    }
}

impl std::ops::Deref for SharedSchedule {
    type Target = dyn Schedule;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for SharedSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.constant() {
            Some(value) => write!(f, "{value}"),
            None => match self.description() {
                Some(words) => f.write_str(&words),
                None => write!(f, "{}, {}, {}, …", self.at(0), self.at(1), self.at(2)),
            },
        }
    }
}

/// An error unless `value` is a positive, finite number.
fn positive(name: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(Error::Setting { name, value: value.to_string(), expected: "it must be a positive number" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_closures_are_schedules() {
        assert_eq!(SharedSchedule::from(0.5).constant(), Some(0.5));
        let halving = SharedSchedule::from(|t: u64| 0.5_f64.powi(t as i32));
        assert_eq!(halving.constant(), None);
        assert!((halving.at(3) - 0.125).abs() < 1e-15);
        assert_eq!(format!("{halving:?}"), "1, 0.5, 0.25, …");
    }
}
