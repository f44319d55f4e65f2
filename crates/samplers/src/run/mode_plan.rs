//! Whether chains start at the posterior mode, and how it is found.

use sgmcmc_core::minibatch::{Minibatch, Scheme};
use sgmcmc_core::mode::Optimiser;
use sgmcmc_core::{ChainRng, Evaluator, FullGradient, GradientEstimator, Mode, ModeSearch, Result, Svrg};

use super::Minibatched;

/// What is done about the mode before chains start.
pub trait ModePlan<G: GradientEstimator>: Send + Sync {
    /// Finds the mode from `theta` and tells the estimator, or leaves everything as it is.
    fn find(&self, gradient: &mut G, evaluator: Box<dyn Evaluator>, theta: &[f64]) -> Result<Option<Mode>>;
}

/// Chains start where they are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoMode;

impl<G: GradientEstimator> ModePlan<G> for NoMode {
    fn find(&self, _gradient: &mut G, _evaluator: Box<dyn Evaluator>, _theta: &[f64]) -> Result<Option<Mode>> {
        Ok(None)
    }
}

/// Chains start at the mode, found on variance-reduced minibatches of the estimator's own scheme, or on the full gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FindMode<O>(pub ModeSearch<O>);

impl<O: Optimiser, G: Minibatched> ModePlan<G> for FindMode<O> {
    fn find(&self, gradient: &mut G, evaluator: Box<dyn Evaluator>, theta: &[f64]) -> Result<Option<Mode>> {
        let scheme = gradient.scheme().clone();
        let period = minibatches_per_pass(&scheme, evaluator.observations())?;
        let mode = self.0.run(Svrg::new(scheme, period), evaluator, theta)?;
        gradient.centre_at(&mode.theta);
        Ok(Some(mode))
    }
}

impl<O: Optimiser> ModePlan<FullGradient> for FindMode<O> {
    fn find(&self, gradient: &mut FullGradient, evaluator: Box<dyn Evaluator>, theta: &[f64]) -> Result<Option<Mode>> {
        self.0.run(*gradient, evaluator, theta).map(Some)
    }
}

/// N/n, found out by drawing one minibatch.
fn minibatches_per_pass<S: Scheme>(scheme: &S, observations: usize) -> Result<u64> {
    let mut state = scheme.init(observations)?;
    let mut batch = Minibatch::default();
    scheme.draw(&mut state, ChainRng::new(0, 0).minibatch(), &mut batch);
    Ok((observations as u64 / batch.rows.len().max(1) as u64).max(1))
}
