//! The error of minibatch sizes.

/// The reason why a minibatch cannot be drawn.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::{BatchSizeError, Error};
/// use sgmcmc::minibatch::BatchSize;
///
/// let error = BatchSize::from(11).resolve(10).unwrap_err();
/// assert_eq!(error, Error::BatchSize(BatchSizeError::TooLarge { size: 11, observations: 10 }));
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchSizeError {
    /// The count is zero.
    #[error("a minibatch of 0 observations estimates nothing: use at least 1")]
    Zero,
    /// The count exceeds the number of observations.
    #[error(
        "a minibatch of {size} observations exceeds the {observations} of the data set: use at most {observations}"
    )]
    TooLarge {
        /// The requested count.
        size: usize,
        /// The number of observations in the data set.
        observations: usize,
    },
    /// The count is negative.
    #[error("a minibatch of {0} observations makes no sense: use at least 1")]
    Negative(i64),
    /// The number is not a proportion.
    #[error("a minibatch proportion of {0} is not in (0, 1]: a float is a proportion, an integer a count")]
    NotAProportion(f64),
    /// The proportion is too small for the data set.
    #[error(
        "a minibatch proportion of {proportion} rounds to 0 of {observations} observations: \
         use a larger proportion or a count"
    )]
    RoundsToZero {
        /// The requested proportion.
        proportion: f64,
        /// The number of observations in the data set.
        observations: usize,
    },
}
