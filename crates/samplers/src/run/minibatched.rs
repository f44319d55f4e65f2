//! Estimators that work on minibatches, whatever scheme draws them.

use sgmcmc_core::gradient::Recentre;
use sgmcmc_core::minibatch::Scheme;
use sgmcmc_core::{ControlVariate, GradientEstimator, MinibatchGradient, Saga, Svrg};

/// An estimator whose minibatch scheme can be exchanged.
pub trait Minibatched: GradientEstimator {
    /// The scheme.
    type Scheme: Scheme;
    /// The same estimator with another scheme.
    type With<S: Scheme>: Minibatched<Scheme = S>;

    /// How minibatches are drawn.
    fn scheme(&self) -> &Self::Scheme;

    /// The same estimator with minibatches drawn by `scheme`.
    fn with_scheme<S: Scheme>(self, scheme: S) -> Self::With<S>;

    /// Tells the estimator where the posterior mode is.
    fn centre_at(&mut self, mode: &[f64]) {
        let _ = mode;
    }
}

impl<T: Scheme> Minibatched for MinibatchGradient<T> {
    type Scheme = T;
    type With<S: Scheme> = MinibatchGradient<S>;

    fn scheme(&self) -> &T {
        &self.scheme
    }

    fn with_scheme<S: Scheme>(self, scheme: S) -> MinibatchGradient<S> {
        MinibatchGradient { scheme }
    }
}

impl<T: Scheme> Minibatched for ControlVariate<T> {
    type Scheme = T;
    type With<S: Scheme> = ControlVariate<S>;

    fn scheme(&self) -> &T {
        &self.scheme
    }

    fn with_scheme<S: Scheme>(self, scheme: S) -> ControlVariate<S> {
        let (centre, recentre): (_, Recentre) = (self.centre, self.recentre);
        ControlVariate { scheme, centre, recentre }
    }

    fn centre_at(&mut self, mode: &[f64]) {
        self.centre = Some(mode.to_vec());
    }
}

impl<T: Scheme> Minibatched for Svrg<T> {
    type Scheme = T;
    type With<S: Scheme> = Svrg<S>;

    fn scheme(&self) -> &T {
        &self.scheme
    }

    fn with_scheme<S: Scheme>(self, scheme: S) -> Svrg<S> {
        Svrg { scheme, period: self.period }
    }
}

impl<T: Scheme> Minibatched for Saga<T> {
    type Scheme = T;
    type With<S: Scheme> = Saga<S>;

    fn scheme(&self) -> &T {
        &self.scheme
    }

    fn with_scheme<S: Scheme>(self, scheme: S) -> Saga<S> {
        Saga { scheme, memory_limit: self.memory_limit }
    }
}
