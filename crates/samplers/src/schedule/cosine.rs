//! hₜ = (h/2) [cos(π r) + 1], r = (t mod P)/P: the cyclical steps of Zhang et al. (2020), cycles of P iterations.

use sgmcmc_core::{Error, Result};

use super::{Schedule, positive};

/// Cosine steps that start again every `period` iterations.
///
/// | setting | purpose | range |
/// |---|---|---|
/// | `h` | the first value of each cycle | > 0 |
/// | `period` | iterations per cycle, P | ≥ 1 |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CyclicalCosine {
    /// The first value of each cycle.
    pub h: f64,
    /// Iterations per cycle.
    pub period: u64,
}

impl CyclicalCosine {
    /// How much of its cycle is over at iteration `t`, in [0, 1).
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
        positive("the first step size h of a cycle", self.h)?;
        if self.period > 0 {
            return Ok(());
        }
        let expected = "a cycle has at least 1 iteration";
        Err(Error::Setting { name: "the period of the cycles", value: "0".into(), expected })
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
