//! Schedules with half the step size: the same total time in twice the number of steps.

use sgmcmc_gradient::Result;

use super::{Schedule, SharedSchedule};

/// The schedule h(t/2)/2 for a schedule h.
#[derive(Clone, Debug)]
pub(crate) struct Halved(pub(crate) SharedSchedule);

impl Schedule for Halved {
    fn at(&self, t: u64) -> f64 {
        0.5 * self.0.at(t / 2)
    }

    fn constant(&self) -> Option<f64> {
        self.0.constant().map(|h| 0.5 * h)
    }

    fn description(&self) -> Option<String> {
        self.0.description().map(|words| format!("half of {words} at half the rate"))
    }

    fn check(&self) -> Result<()> {
        self.0.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_time_is_unchanged_over_twice_the_steps() {
        assert_eq!(Halved(0.5.into()).constant(), Some(0.25));
        let falling = |t: u64| 1.0 / (1.0 + t as f64);
        let halved = Halved(falling.into());
        let time: f64 = (0..10).map(falling).sum();
        let halved_time: f64 = (0..20).map(|t| halved.at(t)).sum();
        assert!((time - halved_time).abs() < 1e-12);
    }
}
