//! hₜ = h (1 + t/τ)^−κ: the decreasing steps of Baker (2019), §5.5.1.

use sgmcmc_core::Result;

use super::{Schedule, positive};

/// h (1 + t/τ)^−κ.
///
/// | setting | purpose | range |
/// |---|---|---|
/// | `h` | the first value | > 0 |
/// | `tau` | iterations until the fall sets in | > 0 |
/// | `kappa` | how fast the values fall | > 0 |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decay {
    /// The first value.
    pub h: f64,
    /// Iterations until the fall sets in.
    pub tau: f64,
    /// The exponent.
    pub kappa: f64,
}

impl Schedule for Decay {
    fn at(&self, t: u64) -> f64 {
        self.h * (1.0 + t as f64 / self.tau).powf(-self.kappa)
    }

    fn description(&self) -> Option<String> {
        Some(format!("{self:?}"))
    }

    fn check(&self) -> Result<()> {
        positive("the first step size h", self.h)?;
        positive("the time tau of the step sizes", self.tau)?;
        positive("the exponent kappa of the step sizes", self.kappa)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn falls_as_written() {
        let schedule = Decay { h: 0.5, tau: 10.0, kappa: 0.33 };
        assert!((schedule.at(0) - 0.5).abs() < 1e-15);
        assert!((schedule.at(30) - 0.5 * 4.0_f64.powf(-0.33)).abs() < 1e-15);
        assert!(Decay { tau: 0.0, ..schedule }.check().unwrap_err().to_string().contains("tau"));
    }
}
