//! Checks of settings.
//!
//! Each function returns the value if it is in range. Otherwise it returns [`Error::Setting`] with the name of the
//! setting, its value and the requirement, so that a check is one line:
//!
//! ```
//! use sgmcmc::gradient::{Result, settings};
//!
//! struct Decay {
//!     rate: f64,
//!     period: u64,
//! }
//!
//! impl Decay {
//!     fn check(&self) -> Result<()> {
//!         settings::positive("the rate", self.rate)?;
//!         settings::at_least("the period", self.period, 1, "it must be at least 1")?;
//!         Ok(())
//!     }
//! }
//!
//! assert!(Decay { rate: 0.5, period: 10 }.check().is_ok());
//! let error = Decay { rate: -0.5, period: 10 }.check().unwrap_err();
//! assert_eq!(error.to_string(), "the rate is -0.5: it must be a positive number");
//! ```

use std::fmt::Display;
use std::ops::RangeBounds;

use crate::error::{Error, Result};

/// Checks that `value` is positive and finite.
///
/// # Errors
///
/// Returns [`Error::Setting`] if `value` is zero, negative, infinite or NaN.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::settings;
///
/// assert_eq!(settings::positive("alpha", 0.5)?, 0.5);
/// assert!(settings::positive("alpha", 0.0).is_err());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn positive(name: &'static str, value: f64) -> Result<f64> {
    require(value.is_finite() && value > 0.0, name, value, "it must be a positive number")
}

/// Checks that `value` is zero or positive, and finite.
///
/// # Errors
///
/// Returns [`Error::Setting`] if `value` is negative, infinite or NaN.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::settings;
///
/// assert!(settings::non_negative("the jitter", 0.0).is_ok());
/// assert!(settings::non_negative("the jitter", -0.5).is_err());
/// ```
pub fn non_negative(name: &'static str, value: f64) -> Result<f64> {
    require(value.is_finite() && value >= 0.0, name, value, "it must be zero or a positive number")
}

/// Checks that `value` is finite.
///
/// # Errors
///
/// Returns [`Error::Setting`] if `value` is infinite or NaN.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::settings;
///
/// assert!(settings::finite("the location", -2.0).is_ok());
/// assert!(settings::finite("the location", f64::INFINITY).is_err());
/// ```
pub fn finite(name: &'static str, value: f64) -> Result<f64> {
    require(value.is_finite(), name, value, "it must be a finite number")
}

/// Checks that `value` is a probability, from 0 to 1 inclusive.
///
/// # Errors
///
/// Returns [`Error::Setting`] if `value` is outside [0, 1] or NaN.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::settings;
///
/// assert!(settings::probability("the level", 1.0).is_ok());
/// assert!(settings::probability("the level", 1.5).is_err());
/// ```
pub fn probability(name: &'static str, value: f64) -> Result<f64> {
    within(name, value, 0.0..=1.0, "it must be at least 0 and at most 1")
}

/// Checks that `value` is at least `minimum`. The message of the error ends in `expected`.
///
/// # Errors
///
/// Returns [`Error::Setting`] if `value` is less than `minimum` or NaN.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::settings;
///
/// assert!(settings::at_least("the period", 10, 1, "it must be at least 1").is_ok());
/// assert!(settings::at_least("the period", 0, 1, "it must be at least 1").is_err());
/// ```
pub fn at_least<T>(name: &'static str, value: T, minimum: T, expected: &'static str) -> Result<T>
where
    T: PartialOrd + Display,
{
    require(value >= minimum, name, value, expected)
}

/// Checks that `value` is in `range`. The message of the error ends in `expected`.
///
/// A pair of [`Bound`](std::ops::Bound)s is a range with an excluded lower end.
///
/// # Errors
///
/// Returns [`Error::Setting`] if `value` is outside `range` or NaN.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::settings;
/// use std::ops::Bound::Excluded;
///
/// assert!(settings::within("the jitter", 0.0, 0.0..1.0, "it must be at least 0 and below 1").is_ok());
/// let open = (Excluded(0.0), Excluded(1.0));
/// assert!(settings::within("the acceptance rate", 0.0, open, "it must be above 0 and below 1").is_err());
/// ```
pub fn within<T>(name: &'static str, value: T, range: impl RangeBounds<T>, expected: &'static str) -> Result<T>
where
    T: PartialOrd + Display,
{
    require(range.contains(&value), name, value, expected)
}

/// Returns `value` if it is valid.
fn require<T: Display>(valid: bool, name: &'static str, value: T, expected: &'static str) -> Result<T> {
    if valid { Ok(value) } else { Err(Error::Setting { name, value: value.to_string(), expected }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_range_are_returned() {
        assert_eq!(positive("a", 2.5), Ok(2.5));
        assert_eq!(non_negative("a", 0.0), Ok(0.0));
        assert_eq!(finite("a", -1.0), Ok(-1.0));
        assert_eq!(probability("a", 1.0), Ok(1.0));
        assert_eq!(at_least("a", 3_usize, 3, "it must be at least 3"), Ok(3));
        assert_eq!(within("a", 0.5, 0.0..1.0, "it must be below 1"), Ok(0.5));
    }

    #[test]
    fn values_out_of_range_are_errors() {
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(positive("a", value).is_err(), "{value}");
        }
        assert!(non_negative("a", -1e-300).is_err());
        assert!(finite("a", f64::NAN).is_err());
        assert!(probability("a", f64::NAN).is_err());
        assert!(at_least("a", f64::NAN, 0.0, "").is_err());
        let error = at_least("the period", 0_u64, 1, "it must be at least 1").unwrap_err();
        assert_eq!(error.to_string(), "the period is 0: it must be at least 1");
    }
}
