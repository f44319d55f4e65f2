//! Cyclical cosine schedules: see [`CyclicalCosine`].

use sgmcmc_gradient::{Result, settings};

use super::Schedule;

/// The cyclical cosine schedule hₜ = (h/2) [cos(π r) + 1], r = (t mod P)/P, with cycles of P iterations.
///
/// Source: Zhang et al. (2020). Use it with [`CyclicalSgld`](crate::langevin::CyclicalSgld).
///
/// | setting | meaning | range |
/// |---|---|---|
/// | `h` | first value of each cycle | > 0 |
/// | `period` | number P of iterations per cycle | ≥ 1 |
///
/// # Examples
///
/// ```
/// use sgmcmc::schedule::{CyclicalCosine, Schedule};
///
/// let schedule = CyclicalCosine { h: 0.2, period: 100 };
/// assert_eq!(schedule.at(0), 0.2);
/// assert_eq!(schedule.at(100), schedule.at(0));
/// assert_eq!(schedule.progress(125), 0.25);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CyclicalCosine {
    /// The first value of each cycle.
    pub h: f64,
    /// The number of iterations per cycle.
    pub period: u64,
}

impl CyclicalCosine {
    /// Returns the elapsed share of the cycle at iteration `t`, in [0, 1).
    pub fn progress(&self, t: u64) -> f64 {
        (t % self.period) as f64 / self.period as f64
    }
}

impl Schedule for CyclicalCosine {
    fn at(&self, t: u64) -> f64 {
        0.5 * self.h * ((std::f64::consts::PI * self.progress(t)).cos() + 1.0)
    }

    fn description(&self) -> Option<String> {
        Some(format!("{self:?}"))
    }

    fn check(&self) -> Result<()> {
        settings::positive("the first step size h of a cycle", self.h)?;
        settings::at_least("the period of the cycles", self.period, 1, "a cycle has at least 1 iteration").map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_again_every_period() {
        let schedule = CyclicalCosine { h: 0.2, period: 100 };
        assert!((schedule.at(0) - 0.2).abs() < 1e-15);
        assert!((schedule.at(50) - 0.1).abs() < 1e-15);
        assert!((schedule.at(199) - schedule.at(99)).abs() < 1e-15);
        assert!(schedule.at(99) < 1e-4 && schedule.at(99) > 0.0);
        assert!(CyclicalCosine { period: 0, ..schedule }.check().is_err());
    }
}
