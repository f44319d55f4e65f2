//! Whether chains start at the posterior mode, and how it is found.

use sgmcmc_core::{Evaluator, FullGradient, GradientEstimator, Mode, ModeFinder, Result, WithoutReplacement};

use super::Minibatched;

/// The step before chains start: whether the posterior mode is searched for.
pub trait ModePlan<G: GradientEstimator>: Send + Sync {
    /// Searches from `theta` and centers the estimator at the mode found; `None` if there is no search.
    ///
    /// # Errors
    ///
    /// Returns the errors of the search.
    fn find(&self, gradient: &mut G, evaluator: Box<dyn Evaluator>, theta: &[f64]) -> Result<Option<Mode>>;
}

/// Chains start at the start values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoMode;

impl<G: GradientEstimator> ModePlan<G> for NoMode {
    fn find(&self, _gradient: &mut G, _evaluator: Box<dyn Evaluator>, _theta: &[f64]) -> Result<Option<Mode>> {
        Ok(None)
    }
}

/// Chains start at the mode found by this search. Searches on minibatches draw them by the scheme of the gradient estimator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FindMode<F>(pub F);

impl<F: ModeFinder, G: Minibatched> ModePlan<G> for FindMode<F> {
    fn find(&self, gradient: &mut G, mut evaluator: Box<dyn Evaluator>, theta: &[f64]) -> Result<Option<Mode>> {
        evaluator.set_threads(rayon::current_num_threads());
        let mode = self.0.find(evaluator, Some(gradient.scheme().clone()), theta)?;
        gradient.centre_at(&mode.theta);
        Ok(Some(mode))
    }
}

impl<F: ModeFinder> ModePlan<FullGradient> for FindMode<F> {
    fn find(
        &self,
        _gradient: &mut FullGradient,
        mut evaluator: Box<dyn Evaluator>,
        theta: &[f64],
    ) -> Result<Option<Mode>> {
        evaluator.set_threads(rayon::current_num_threads());
        self.0.find(evaluator, None::<WithoutReplacement>, theta).map(Some)
    }
}
