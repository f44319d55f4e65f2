//! The closures of a model, as error messages name them.

use std::fmt;

/// One of the closures that a model consists of.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::Closure;
///
/// assert_eq!(Closure::LogPrior.to_string(), "log-prior");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Closure {
    /// The log-likelihood of a minibatch.
    LogLikelihood,
    /// The log-prior of the parameters.
    LogPrior,
    /// The draw of parameters from the prior.
    PriorDraw,
    /// The distribution of the observations, while observations are drawn.
    Observations,
    /// A generated quantity.
    Quantity,
}

impl fmt::Display for Closure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LogLikelihood => "log-likelihood",
            Self::LogPrior => "log-prior",
            Self::PriorDraw => "prior-draws",
            Self::Observations => "observations",
            Self::Quantity => "quantity",
        })
    }
}
