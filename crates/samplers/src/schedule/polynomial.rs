//! Polynomially decreasing schedules: see [`Polynomial`].

use std::ops::Bound;

use sgmcmc_gradient::{Error, Result, settings};

use super::Schedule;

/// The polynomially decreasing schedule hₜ = a (b + t)^−γ.
///
/// Source: Welling & Teh (2011), §2. For γ in (0.5, 1] the sum of the step sizes diverges and the sum of their squares
/// converges, so that weighted averages of SGLD converge to posterior expectations.
///
/// | setting | meaning | range |
/// |---|---|---|
/// | `a` | scale | > 0 |
/// | `b` | offset, in iterations; a large offset keeps the values near the first for longer | > 0 |
/// | `gamma` | exponent γ of the decrease | (0.5, 1] |
///
/// # Examples
///
/// ```
/// use sgmcmc::schedule::{Polynomial, Schedule};
///
/// let schedule = Polynomial { a: 2.0, b: 3.0, gamma: 1.0 };
/// assert_eq!(schedule.at(1), 0.5);
/// let between = Polynomial::between(0.01, 0.0001, 10_000, 0.55)?;
/// assert!((between.at(9_999) - 0.0001).abs() < 1e-12);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polynomial {
    /// The scale.
    pub a: f64,
    /// The offset, in iterations.
    pub b: f64,
    /// The exponent γ of the decrease.
    pub gamma: f64,
}

impl Polynomial {
    /// Creates the schedule with the value `first` at t = 0 and `last` at t = `steps` − 1 (Welling & Teh, §5.1).
    ///
    /// # Errors
    ///
    /// Returns an error if the values do not decrease, there are fewer than two steps, or the exponent is outside (0.5,
    /// 1].
    pub fn between(first: f64, last: f64, steps: u64, gamma: f64) -> Result<Self> {
        settings::positive("the first step size", first)?;
        settings::positive("the last step size", last)?;
        if last >= first || steps < 2 {
            let expected = "it must be below the first step size, two or more steps later";
            return Err(Error::Setting { name: "the last step size", value: last.to_string(), expected });
        }
        // (b + n)/b = (first/last)^{1/γ}, where n is the number of steps between the two.
        let ratio = (first / last).powf(1.0 / gamma);
        let b = (steps - 1) as f64 / (ratio - 1.0);
        let schedule = Self { a: first * b.powf(gamma), b, gamma };
        schedule.check()?;
        Ok(schedule)
    }
}

impl Schedule for Polynomial {
    fn at(&self, t: u64) -> f64 {
        self.a * (self.b + t as f64).powf(-self.gamma)
    }

    fn description(&self) -> Option<String> {
        Some(format!("{self:?}"))
    }

    fn check(&self) -> Result<()> {
        settings::positive("the scale a of the step sizes", self.a)?;
        settings::positive("the offset b of the step sizes", self.b)?;
        let range = (Bound::Excluded(0.5), Bound::Included(1.0));
        let expected = "it must be above 0.5 and at most 1";
        settings::within("the exponent gamma of the step sizes", self.gamma, range, expected).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_its_first_and_last_value() {
        let schedule = Polynomial::between(0.01, 0.0001, 10_000, 0.55).unwrap();
        assert!((schedule.at(0) - 0.01).abs() < 1e-12);
        assert!((schedule.at(9_999) - 0.0001).abs() < 1e-12);
        let known = Polynomial { a: 2.0, b: 3.0, gamma: 1.0 };
        assert!((known.at(1) - 0.5).abs() < 1e-15);
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let message = |schedule: Polynomial| schedule.check().unwrap_err().to_string();
        assert!(message(Polynomial { a: 0.0, b: 1.0, gamma: 0.6 }).contains("scale a"));
        assert!(message(Polynomial { a: 1.0, b: -1.0, gamma: 0.6 }).contains("offset b"));
        assert!(message(Polynomial { a: 1.0, b: 1.0, gamma: 0.5 }).contains("gamma"));
        assert!(Polynomial::between(0.1, 0.2, 100, 0.6).is_err());
    }
}
