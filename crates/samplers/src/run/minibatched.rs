//! Gradient estimators with an exchangeable minibatch scheme.

use sgmcmc_gradient::estimator::Recenter;
use sgmcmc_gradient::minibatch::Scheme;
use sgmcmc_gradient::{ControlVariate, GradientEstimator, MinibatchGradient, Saga, Svrg};

/// A gradient estimator whose minibatch scheme can be exchanged.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::MinibatchGradient;
/// use sgmcmc::minibatch::{Epochs, WithReplacement};
/// use sgmcmc::run::Minibatched;
///
/// let estimator = MinibatchGradient { scheme: WithReplacement::new(50) };
/// let estimator = estimator.with_scheme(Epochs::new(50));
/// assert_eq!(estimator.scheme, Epochs::new(50));
/// ```
pub trait Minibatched: GradientEstimator {
    /// The type of this estimator with another scheme.
    type With<S: Scheme>: Minibatched<Scheme = S>;

    /// Returns this estimator with the minibatch scheme `scheme`.
    fn with_scheme<S: Scheme>(self, scheme: S) -> Self::With<S>;

    /// Centers the estimator at the posterior mode, if it has a center.
    fn center_at(&mut self, mode: &[f64]) {
        let _ = mode;
    }
}

impl<T: Scheme> Minibatched for MinibatchGradient<T> {
    type With<S: Scheme> = MinibatchGradient<S>;

    fn with_scheme<S: Scheme>(self, scheme: S) -> MinibatchGradient<S> {
        MinibatchGradient { scheme }
    }
}

impl<T: Scheme> Minibatched for ControlVariate<T> {
    type With<S: Scheme> = ControlVariate<S>;

    fn with_scheme<S: Scheme>(self, scheme: S) -> ControlVariate<S> {
        let (center, recenter): (_, Recenter) = (self.center, self.recenter);
        ControlVariate { scheme, center, recenter }
    }

    fn center_at(&mut self, mode: &[f64]) {
        self.center = Some(mode.to_vec());
    }
}

impl<T: Scheme> Minibatched for Svrg<T> {
    type With<S: Scheme> = Svrg<S>;

    fn with_scheme<S: Scheme>(self, scheme: S) -> Svrg<S> {
        Svrg { scheme, period: self.period }
    }
}

impl<T: Scheme> Minibatched for Saga<T> {
    type With<S: Scheme> = Saga<S>;

    fn with_scheme<S: Scheme>(self, scheme: S) -> Saga<S> {
        Saga { scheme, memory_limit: self.memory_limit }
    }
}
