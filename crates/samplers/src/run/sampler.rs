//! Chains that are stepped by hand: see [`Sampler`].

use std::fmt;
use std::sync::Arc;

use sgmcmc_gradient::{Layout, Mode, Result, Target};

use crate::chain::{GradientChain, StepInfo};

/// A chain with typed parameters that is moved by [`step`](Self::step). It stores no draws.
///
/// [`Builder::start`](crate::Builder::start) creates it.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::sink::RunningMoments;
///
/// let model = Model::density(|x: Tensor<1>| (x - 2.0).square() * -0.5);
/// let mut sampler = mala(&model, &Dataset::none(), 1.0).seed(1).start(&zeros([1]))?;
/// let mut moments = RunningMoments::new();
/// for _ in 0..2000 {
///     sampler.step()?;
///     moments.push(sampler.position(), 1.0)?;
/// }
/// assert!((moments.mean()[0] - 2.0).abs() < 0.4);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub struct Sampler<P> {
    chain: Box<dyn GradientChain>,
    target: Arc<dyn Target<Params = P>>,
    /// Parameters with the structure of the start, used to unflatten positions.
    template: P,
    values: Vec<f64>,
    mode: Option<Mode>,
}

impl<P> fmt::Debug for Sampler<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sampler").field("chain", &self.chain).field("mode", &self.mode).finish_non_exhaustive()
    }
}

impl<P: Send + Sync + 'static> Sampler<P> {
    /// Creates a sampler of `chain`, which started at `start` or at `mode`.
    pub(super) fn new(
        chain: Box<dyn GradientChain>,
        target: Arc<dyn Target<Params = P>>,
        start: &P,
        mode: Option<Mode>,
    ) -> Result<Self> {
        let values = chain.layout().values(chain.position())?;
        let template = target.unflatten(chain.layout(), start, chain.position())?;
        Ok(Self { chain, target, template, values, mode })
    }

    /// Performs one iteration.
    ///
    /// # Errors
    ///
    /// Returns an error if the model fails or the chain diverges. The chain then keeps its previous position.
    pub fn step(&mut self) -> Result<()> {
        self.chain.step()?;
        self.chain.layout().values_into(self.chain.position(), &mut self.values)
    }

    /// Returns the values of the parameters as a flat slice, in the order of [`layout`](Self::layout).
    pub fn position(&self) -> &[f64] {
        &self.values
    }

    /// Returns the unconstrained coordinates of the chain.
    pub fn coordinates(&self) -> &[f64] {
        self.chain.position()
    }

    /// Returns the parameters in the type of the model.
    ///
    /// # Errors
    ///
    /// Returns an error if the position cannot be converted.
    pub fn params(&self) -> Result<P> {
        self.target.unflatten(self.chain.layout(), &self.template, self.chain.position())
    }

    /// Returns information about the last step.
    pub fn info(&self) -> StepInfo {
        self.chain.info()
    }

    /// Returns the number M of interleaved Markov chains: 1 for most algorithms, more for
    /// [`Hamcmc`](crate::langevin::Hamcmc) and [`HmcBfgs`](crate::metropolis::HmcBfgs).
    ///
    /// The position after iteration t belongs to chain (t − 1) mod M, with t =
    /// [`info().iterations`](StepInfo::iterations). Separate the draws by this number before computing autocorrelations
    /// or effective sample sizes. Interleaved draws appear nearly independent even if each chain is strongly
    /// correlated.
    pub fn interleaved_chains(&self) -> usize {
        self.chain.interleaved_chains()
    }

    /// Returns the names, shapes and ranges of the parameters.
    pub fn layout(&self) -> &Layout {
        self.chain.layout()
    }

    /// Returns the posterior mode at which the chain started, if there was a mode search.
    pub fn mode(&self) -> Option<&Mode> {
        self.mode.as_ref()
    }

    /// Returns the chain, for its statistics, cost and evaluator.
    pub fn chain(&mut self) -> &mut dyn GradientChain {
        self.chain.as_mut()
    }
}
