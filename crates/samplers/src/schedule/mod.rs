//! Schedules: step sizes and temperatures as functions of the iteration t = 0, 1, 2, …
//!
//! A number is a constant schedule, and every `Fn(u64) -> f64` is a schedule.

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

use sgmcmc_gradient::Result;

/// A function of the iteration: a step size or a temperature.
///
/// Numbers and closures `Fn(u64) -> f64` implement it.
///
/// # Examples
///
/// ```
/// use sgmcmc::schedule::Schedule;
///
/// struct Warm {
///     iterations: u64,
/// }
///
/// impl Schedule for Warm {
///     fn at(&self, t: u64) -> f64 {
///         if t < self.iterations { 10.0 } else { 1.0 }
///     }
/// }
///
/// assert_eq!(Warm { iterations: 100 }.at(99), 10.0);
/// assert_eq!(0.5.constant(), Some(0.5));
/// assert_eq!((|t: u64| 1.0 / (1.0 + t as f64)).at(3), 0.25);
/// ```
pub trait Schedule: Send + Sync {
    /// Returns the value at iteration `t`, counted from 0.
    fn at(&self, t: u64) -> f64;

    /// Returns the value if it is the same at every iteration.
    fn constant(&self) -> Option<f64> {
        None
    }

    /// Returns a text that identifies the schedule and its parameters, if there is one. Closures have none: a run that
    /// resumes from a checkpoint compares their values instead.
    fn description(&self) -> Option<String> {
        self.constant().map(|value| value.to_string())
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// Returns an error that names the setting if one is out of range.
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

/// A schedule of any type, shared between chains.
///
/// # Examples
///
/// ```
/// use sgmcmc::schedule::{Decay, SharedSchedule};
///
/// let schedule = SharedSchedule::from(Decay { h: 0.5, tau: 10.0, kappa: 0.33 });
/// assert_eq!(schedule.at(0), 0.5);
/// assert_eq!(SharedSchedule::from(0.1).constant(), Some(0.1));
/// ```
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
