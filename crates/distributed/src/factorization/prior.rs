//! Prior distributions of factors.

use sgmcmc_gradient::{Result, settings};

/// The prior distribution of every element of a factor.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::factorization::FactorPrior;
///
/// assert_ne!(FactorPrior::default(), FactorPrior::Exponential { rate: 1.0 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FactorPrior {
    /// N(0, σ²).
    Gaussian {
        /// The variance σ².
        variance: f64,
    },
    /// Exponential with rate λ. Elements stay positive by mirroring: each is replaced by its absolute value after a step
    /// (Patterson & Teh, 2013; Şimşekli et al., 2016, §4.2).
    Exponential {
        /// The rate λ.
        rate: f64,
    },
}

impl Default for FactorPrior {
    /// Returns N(0, 1).
    fn default() -> Self {
        Self::Gaussian { variance: 1.0 }
    }
}

impl FactorPrior {
    /// Checks the settings.
    pub(super) fn check(self) -> Result<()> {
        match self {
            Self::Gaussian { variance } => settings::positive("the variance of a factor", variance).map(|_| ()),
            Self::Exponential { rate } => settings::positive("the rate of a factor", rate).map(|_| ()),
        }
    }

    /// Replaces the sums of the derivatives of the likelihood in `gradient` by gradients of the log density: adds the
    /// prior to `weight` times the sums.
    pub(super) fn complete(self, weight: f64, theta: &[f64], gradient: &mut [f64]) {
        match self {
            Self::Gaussian { variance } => {
                let precision = 1.0 / variance;
                gradient.iter_mut().zip(theta).for_each(|(g, theta)| *g = weight * *g - precision * theta);
            }
            Self::Exponential { rate } => gradient.iter_mut().for_each(|g| *g = weight * *g - rate),
        }
    }

    /// Makes the elements of a factor valid after a step.
    pub(super) fn mirror(self, theta: &mut [f64]) {
        if matches!(self, Self::Exponential { .. }) {
            theta.iter_mut().for_each(|theta| *theta = theta.abs());
        }
    }
}
