//! The mode search before a run.

use sgmcmc_gradient::{Evaluator, FullGradient, GradientEstimator, Mode, ModeFinder, Result, WithoutReplacement};

use super::Minibatched;

/// The mode search before the chains start: [`NoMode`] or [`FindMode`].
///
/// # Examples
///
/// See [`FindMode`].
pub trait ModePlan<G: GradientEstimator>: Send + Sync {
    /// Searches for the mode from `theta` and centers the estimator there. Returns `None` if there is no search.
    ///
    /// # Errors
    ///
    /// Returns the errors of the search.
    fn find(&self, gradient: &mut G, evaluator: Box<dyn Evaluator>, theta: &[f64]) -> Result<Option<Mode>>;

    /// Returns whether there is a search, for progress reports.
    fn searches(&self) -> bool {
        true
    }
}

/// No mode search: chains start at the start values.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// // Runs without `find_mode` have this plan.
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let fit = ula(&model, &Dataset::none(), 0.1).sample(&zeros([1]), 10)?;
/// assert!(fit.mode().is_none());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoMode;

impl<G: GradientEstimator> ModePlan<G> for NoMode {
    fn find(&self, _gradient: &mut G, _evaluator: Box<dyn Evaluator>, _theta: &[f64]) -> Result<Option<Mode>> {
        Ok(None)
    }

    fn searches(&self) -> bool {
        false
    }
}

/// A mode search before the run. Searches on minibatches use the minibatch scheme of the gradient estimator.
///
/// [`Builder::find_mode`](crate::Builder::find_mode) creates it.
///
/// # Examples
///
/// ```
/// use sgmcmc::mode::LbfgsSearch;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|x: Tensor<1>| (x - 2.0).square() * -0.5);
/// let run = ula(&model, &Dataset::none(), 0.1).find_mode(LbfgsSearch::default());
/// let fit = run.sample(&zeros([1]), 100)?;
/// assert!((fit.mode().unwrap().theta[0] - 2.0).abs() < 0.1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FindMode<F>(pub F);

impl<F: ModeFinder, G: Minibatched> ModePlan<G> for FindMode<F> {
    fn find(&self, gradient: &mut G, mut evaluator: Box<dyn Evaluator>, theta: &[f64]) -> Result<Option<Mode>> {
        evaluator.set_threads(rayon::current_num_threads());
        let mode = self.0.find(evaluator, gradient.scheme().cloned(), theta)?;
        gradient.center_at(&mode.theta);
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
