//! The size of a minibatch as a count or a proportion.

use crate::error::{BatchSizeError, Result};

/// The number of observations of a minibatch. An integer is a count, and a float is a proportion in (0, 1].
///
/// # Examples
///
/// ```
/// use sgmcmc::minibatch::BatchSize;
///
/// assert_eq!(BatchSize::from(500).resolve(10_000)?, 500);
/// assert_eq!(BatchSize::from(0.01).resolve(10_000)?, 100);
/// assert!(BatchSize::from(0.01).resolve(10).is_err());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BatchSize {
    /// The number of observations. It is signed, so that a negative number is an error with a message.
    Count(i64),
    /// The proportion of all observations.
    Proportion(f64),
}

impl Default for BatchSize {
    /// Returns one percent of the observations, the default of the R package.
    fn default() -> Self {
        Self::Proportion(0.01)
    }
}

impl BatchSize {
    /// Returns the number of observations of a minibatch from a data set of `observations`.
    ///
    /// # Errors
    ///
    /// Returns an error if the size is not between 1 and `observations`, or if a proportion is not in (0, 1].
    pub fn resolve(self, observations: usize) -> Result<usize> {
        let size = match self {
            Self::Count(0) => return Err(BatchSizeError::Zero.into()),
            Self::Count(count) => usize::try_from(count).map_err(|_| BatchSizeError::Negative(count))?,
            Self::Proportion(proportion) => {
                if !(proportion > 0.0 && proportion <= 1.0) {
                    return Err(BatchSizeError::NotAProportion(proportion).into());
                }
                match (proportion * observations as f64).round() as usize {
                    0 => return Err(BatchSizeError::RoundsToZero { proportion, observations }.into()),
                    size => size,
                }
            }
        };
        if size > observations {
            return Err(BatchSizeError::TooLarge { size, observations }.into());
        }
        Ok(size)
    }
}

macro_rules! count {
    ($($integer:ty),+) => {
        $(impl From<$integer> for BatchSize {
            fn from(count: $integer) -> Self {
                Self::Count(i64::try_from(count).unwrap_or(i64::MAX))
            }
        })+
    };
}

count!(i32, i64, u32, u64, usize);

impl From<f64> for BatchSize {
    fn from(proportion: f64) -> Self {
        Self::Proportion(proportion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_sizes_are_errors() {
        let message = |size: BatchSize, n| size.resolve(n).unwrap_err().to_string();
        assert!(message(0.into(), 10).contains("minibatch of 0 observations"));
        assert!(message(11.into(), 10).contains("11 observations exceeds the 10"));
        assert!(message((-3).into(), 10).contains("minibatch of -3"));
        assert!(message(500.0.into(), 10).contains("proportion of 500 is not in (0, 1]"));
        assert!(message(f64::NAN.into(), 10).contains("NaN"));
        assert!(message(0.01.into(), 10).contains("0.01 rounds to 0 of 10"));
        assert_eq!(BatchSize::from(1.0).resolve(10).unwrap(), 10);
    }
}
