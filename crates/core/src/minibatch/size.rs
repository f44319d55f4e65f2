//! The size of a minibatch, as a count or a proportion.

use crate::error::{BatchSizeError, Result};

/// How many observations a minibatch has: an integer is a count, a float a proportion in (0, 1].
///
/// ```
/// use sgmcmc_core::minibatch::BatchSize;
///
/// assert_eq!(BatchSize::from(500).resolve(10_000)?, 500);
/// assert_eq!(BatchSize::from(0.01).resolve(10_000)?, 100);
/// assert!(BatchSize::from(0.01).resolve(10).is_err());
/// # Ok::<(), sgmcmc_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BatchSize {
    /// This many observations. Signed, so that a negative number can be refused with a message.
    Count(i64),
    /// This share of all observations.
    Proportion(f64),
}

impl Default for BatchSize {
    /// One percent of the observations, as in R.
    fn default() -> Self {
        Self::Proportion(0.01)
    }
}

impl BatchSize {
    /// The number of observations out of `observations`.
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
    fn impossible_sizes_are_explained() {
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
