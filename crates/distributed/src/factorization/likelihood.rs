//! Distributions of an entry given its prediction.

use sgmcmc_gradient::{Result, settings};

/// The log-likelihood of an entry, and its derivative with respect to the predicted entry.
///
/// # Examples
///
/// See [`EntryLikelihood`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntryTerm {
    /// The log-likelihood.
    pub value: f64,
    /// Its derivative with respect to the predicted entry.
    pub derivative: f64,
}

/// The distribution of an entry given the predicted entry Wᵢ·Hⱼ.
///
/// Closures `Fn(f64, f64) -> EntryTerm` of the predicted and the observed entry implement it.
///
/// # Examples
///
/// A logistic likelihood of entries that are 0 or 1:
///
/// ```
/// use sgmcmc::distributed::factorization::{EntryLikelihood, EntryTerm};
///
/// let logistic = |predicted: f64, observed: f64| EntryTerm {
///     value: observed * predicted - predicted.exp().ln_1p(),
///     derivative: observed - 1.0 / (1.0 + (-predicted).exp()),
/// };
/// assert_eq!(logistic.derivative(0.0, 1.0), 0.5);
/// ```
pub trait EntryLikelihood: Send + Sync {
    /// Returns the log-likelihood of `observed`, and its derivative with respect to `predicted`.
    fn term(&self, predicted: f64, observed: f64) -> EntryTerm;

    /// Returns the derivative alone. Samplers call it for every entry.
    fn derivative(&self, predicted: f64, observed: f64) -> f64 {
        self.term(predicted, observed).derivative
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// Returns an error that names the setting if one is out of range.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Describes the distribution and its settings. A checkpoint is resumed only by a run with the same description.
    fn describe(&self) -> String {
        std::any::type_name::<Self>().into()
    }
}

impl<F: Fn(f64, f64) -> EntryTerm + Send + Sync> EntryLikelihood for F {
    fn term(&self, predicted: f64, observed: f64) -> EntryTerm {
        self(predicted, observed)
    }
}

/// Normally distributed entries, xᵢⱼ ~ N(Wᵢ·Hⱼ, σ²).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::factorization::{EntryLikelihood, GaussianEntries};
///
/// assert_eq!(GaussianEntries { variance: 2.0 }.derivative(1.0, 4.0), 1.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianEntries {
    /// The variance σ².
    pub variance: f64,
}

impl EntryLikelihood for GaussianEntries {
    fn term(&self, predicted: f64, observed: f64) -> EntryTerm {
        let residual = observed - predicted;
        let normalization = (std::f64::consts::TAU * self.variance).ln();
        let value = -0.5 * (residual * residual / self.variance + normalization);
        EntryTerm { value, derivative: residual / self.variance }
    }

    #[inline]
    fn derivative(&self, predicted: f64, observed: f64) -> f64 {
        (observed - predicted) / self.variance
    }

    fn check(&self) -> Result<()> {
        settings::positive("the variance of an entry", self.variance).map(|_| ())
    }

    fn describe(&self) -> String {
        format!("{self:?}")
    }
}

/// Counts, xᵢⱼ ~ Poisson(Wᵢ·Hⱼ + ε), for factors with a [`FactorPrior::Exponential`](super::FactorPrior::Exponential)
/// prior.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::factorization::{EntryLikelihood, PoissonEntries};
///
/// let counts = PoissonEntries { offset: 0.0 };
/// assert_eq!(counts.derivative(2.0, 3.0), 0.5);
/// assert!((counts.term(2.0, 3.0).value - (8.0_f64 * (-2.0_f64).exp() / 6.0).ln()).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoissonEntries {
    /// The number ε that is added to the prediction. A small one bounds the gradient where a prediction is close to zero.
    pub offset: f64,
}

impl EntryLikelihood for PoissonEntries {
    fn term(&self, predicted: f64, observed: f64) -> EntryTerm {
        let rate = predicted + self.offset;
        let value = observed * rate.ln() - rate - statrs::function::gamma::ln_gamma(observed + 1.0);
        EntryTerm { value, derivative: self.derivative(predicted, observed) }
    }

    #[inline]
    fn derivative(&self, predicted: f64, observed: f64) -> f64 {
        observed / (predicted + self.offset) - 1.0
    }

    fn check(&self) -> Result<()> {
        settings::non_negative("the offset of a count", self.offset).map(|_| ())
    }

    fn describe(&self) -> String {
        format!("{self:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_values() {
        let check = |likelihood: &dyn Fn(f64, f64) -> EntryTerm, derivative: &dyn Fn(f64, f64) -> f64| {
            for (predicted, observed) in [(0.4, 3.0), (2.0, 0.0), (5.5, 7.0)] {
                let h = 1e-5;
                let difference = likelihood(predicted + h, observed).value - likelihood(predicted - h, observed).value;
                let (found, expected) = (derivative(predicted, observed), difference / (2.0 * h));
                assert!((found - expected).abs() < 1e-8 * (1.0 + expected.abs()), "{found} {expected}");
                assert!((likelihood(predicted, observed).derivative - found).abs() < 1e-12);
            }
        };
        let (normal, counts) = (GaussianEntries { variance: 2.5 }, PoissonEntries { offset: 0.3 });
        check(&|predicted, observed| normal.term(predicted, observed), &|p, x| normal.derivative(p, x));
        check(&|predicted, observed| counts.term(predicted, observed), &|p, x| counts.derivative(p, x));
        // Both are normalized.
        let total: f64 = (0..60).map(|count| counts.term(4.0, f64::from(count)).value.exp()).sum();
        assert!((total - 1.0).abs() < 1e-12, "{total}");
        let integral: f64 = (-2000..2000).map(|k| 0.01 * normal.term(1.0, 0.01 * f64::from(k)).value.exp()).sum();
        assert!((integral - 1.0).abs() < 1e-9, "{integral}");
    }
}
