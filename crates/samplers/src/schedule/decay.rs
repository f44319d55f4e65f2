//! Decreasing schedules: see [`Decay`].

use sgmcmc_gradient::{Result, settings};

use super::Schedule;

/// The decreasing schedule hₜ = h (1 + t/τ)^−κ.
///
/// Source: Baker (2019), §5.5.1.
///
/// | setting | meaning | range |
/// |---|---|---|
/// | `h` | first value | > 0 |
/// | `tau` | number τ of iterations over which the values stay near the first | > 0 |
/// | `kappa` | exponent κ of the decrease | > 0 |
///
/// # Examples
///
/// ```
/// use sgmcmc::schedule::{Decay, Schedule};
///
/// let schedule = Decay { h: 0.5, tau: 10.0, kappa: 1.0 };
/// assert_eq!(schedule.at(0), 0.5);
/// assert_eq!(schedule.at(10), 0.25);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decay {
    /// The first value.
    pub h: f64,
    /// The number τ of iterations over which the values stay near the first.
    pub tau: f64,
    /// The exponent κ of the decrease.
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
        settings::positive("the first step size h", self.h)?;
        settings::positive("the time tau of the step sizes", self.tau)?;
        settings::positive("the exponent kappa of the step sizes", self.kappa).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_the_formula() {
        let schedule = Decay { h: 0.5, tau: 10.0, kappa: 0.33 };
        assert!((schedule.at(0) - 0.5).abs() < 1e-15);
        assert!((schedule.at(30) - 0.5 * 4.0_f64.powf(-0.33)).abs() < 1e-15);
        assert!(Decay { tau: 0.0, ..schedule }.check().unwrap_err().to_string().contains("tau"));
    }
}
