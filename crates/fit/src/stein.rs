//! Gradients at the draws, and kernel Stein discrepancies.

use std::sync::Arc;

use rayon::prelude::*;
use sgmcmc_diagnostics::ksd::{self, Discrepancy, Imq, Kernel, Points};
use sgmcmc_gradient::{Error, GradientEstimator, Layout, Result, Target};

use super::Fit;
use crate::sink::{ChainScores, Scores};

/// The kernel Stein discrepancy of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterDiscrepancy {
    /// The name of the parameter.
    pub name: String,
    /// The squared discrepancy of the parameter.
    pub discrepancy: Discrepancy,
}

/// The kernel Stein discrepancies of a fit.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::ksd::Imq;
/// use sgmcmc::gradient::FullGradient;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let (data, start) = (Dataset::none(), zeros([2]));
/// let fit = hmc(&model, &data, 0.025).seed(1).sample(&start, 100)?;
/// let scores = fit.scores(&model.with(&data), &start, &FullGradient, 0)?;
/// let found = fit.ksd(&scores, Imq::default())?;
/// assert!(found.whole.v >= 0.0);
/// assert_eq!(found.blocks[0].name, "theta");
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SteinDiscrepancies {
    /// The discrepancy of all coordinates together.
    pub whole: Discrepancy,
    /// The discrepancy of each parameter.
    pub blocks: Vec<ParameterDiscrepancy>,
}

/// The options of [`Fit::fssd`].
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::ksd::Kernel;
/// use sgmcmc::fit::FssdOptions;
/// use sgmcmc::gradient::FullGradient;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let (data, start) = (Dataset::none(), zeros([2]));
/// let fit = hmc(&model, &data, 0.025).seed(1).sample(&start, 100)?;
/// let scores = fit.scores(&model.with(&data), &start, &FullGradient, 0)?;
/// let options = FssdOptions { locations: 5, ..FssdOptions::default() };
/// assert!(fit.fssd(&scores, Kernel::Gauss { width: 1.0 }, options)?.whole.v >= 0.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FssdOptions {
    /// The number of test locations. They are drawn from a normal distribution fitted to the draws. The default is 10.
    pub locations: usize,
    /// The seed of the test locations. The default is 0.
    pub seed: u64,
}

impl Default for FssdOptions {
    fn default() -> Self {
        Self { locations: 10, seed: 0 }
    }
}

impl Fit {
    /// Returns the gradient of the log posterior at every draw.
    ///
    /// [`FullGradient`](sgmcmc_gradient::FullGradient) gives exact gradients.
    /// [`MinibatchGradient`](sgmcmc_gradient::MinibatchGradient) and
    /// [`ControlVariate`](sgmcmc_gradient::ControlVariate) estimate them from minibatches, which `seed` determines.
    /// Chains are evaluated in parallel.
    ///
    /// # Errors
    ///
    /// Returns an error if `like` has other names or shapes than the fit, or if a draw violates its constraints.
    /// Returns the errors of the estimator and of the model.
    pub fn scores<T: Target, G: GradientEstimator + Clone>(
        &self,
        target: &T,
        like: &T::Params,
        estimator: &G,
        seed: u64,
    ) -> Result<Vec<ChainScores>> {
        let parameters = self.only_parameters(&target.layout(like)?)?;
        let estimator = Arc::new(estimator.clone());
        let evaluate = |(number, chain): (usize, &super::ChainDraws)| {
            let seed = seed.wrapping_add(number as u64);
            let mut scores = Scores::new(estimator.clone(), target.evaluator(like)?, seed);
            chain.rows().try_for_each(|row| scores.take(row))?;
            Ok(crate::sink::Sink::finish(scores))
        };
        parameters.chains.par_iter().enumerate().map(evaluate).collect()
    }

    /// Returns the squared kernel Stein discrepancy between the draws and the distribution with the gradients `scores`,
    /// for all coordinates and for each parameter.
    ///
    /// The kernel is the inverse multiquadric. The time is quadratic in the number of draws: thin the chains, or use
    /// [`fssd`](Self::fssd). With gradients from minibatches use the U-statistic, which is unbiased under gradient noise.
    ///
    /// # Errors
    ///
    /// Returns an error if there is not one gradient per draw, or if there are too few draws.
    pub fn ksd(&self, scores: &[ChainScores], kernel: Imq) -> Result<SteinDiscrepancies> {
        self.discrepancies(scores, |points| ksd::imq(points, kernel))
    }

    /// Returns the finite-set Stein discrepancy, an alternative to [`ksd`](Self::ksd) whose time is linear in the
    /// number of draws.
    ///
    /// # Errors
    ///
    /// Returns an error if there is not one gradient per draw, if there are too few draws, or if the covariance of the
    /// draws is singular.
    pub fn fssd(&self, scores: &[ChainScores], kernel: Kernel, options: FssdOptions) -> Result<SteinDiscrepancies> {
        let FssdOptions { locations, seed } = options;
        self.discrepancies(scores, |points| ksd::fssd(points, kernel, &ksd::locations(points, locations, seed)?))
    }

    /// Returns `discrepancy` of all coordinates and of each parameter.
    fn discrepancies(
        &self,
        scores: &[ChainScores],
        discrepancy: impl Fn(&Points) -> std::result::Result<Discrepancy, sgmcmc_diagnostics::Error>,
    ) -> Result<SteinDiscrepancies> {
        let ScoredDraws { parameters, coordinates, gradients, weights } = self.scored_draws(scores)?;
        let points = Points::new(&coordinates, &gradients, parameters.dim()).map_err(draws_error)?;
        let points = if self.is_weighted() { points.weights(&weights).map_err(draws_error)? } else { points };
        let whole = discrepancy(&points).map_err(draws_error)?;
        let block = |block: &sgmcmc_gradient::Block| {
            let discrepancy = discrepancy(&points.columns(block.range.clone())?)?;
            Ok(ParameterDiscrepancy { name: block.name.clone(), discrepancy })
        };
        let blocks = parameters.blocks().iter().filter(|block| !block.range.is_empty()).map(block);
        Ok(SteinDiscrepancies { whole, blocks: blocks.collect::<std::result::Result<_, _>>().map_err(draws_error)? })
    }

    /// Returns the coordinates, gradients and weights of all draws.
    ///
    /// # Errors
    ///
    /// Returns an error if there is not one gradient per draw.
    pub(super) fn scored_draws(&self, scores: &[ChainScores]) -> Result<ScoredDraws> {
        let check = |what, expected, found| {
            if expected == found { Ok(()) } else { Err(Error::Length { what, expected, found }) }
        };
        check("the list of gradients (one per chain)", self.chains.len(), scores.len())?;
        let parameters = self.parameters_of(scores.first().map_or(self.layout.dim(), ChainScores::width))?;
        let mut coordinates = Vec::new();
        for (chain, scores) in self.chains.iter().zip(scores) {
            check("the gradients of a chain (one per draw)", chain.len(), scores.len())?;
            check("a gradient", parameters.dim(), scores.width())?;
            for row in chain.rows() {
                coordinates.extend(parameters.coordinates(&row[..parameters.value_count()])?);
            }
        }
        let gradients = scores.iter().flat_map(|scores| scores.values()).copied().collect();
        let weights = self.chains.iter().flat_map(|chain| chain.weights()).copied().collect();
        Ok(ScoredDraws { parameters, coordinates, gradients, weights })
    }

    /// Returns the layout of the first parameters, which have `dim` coordinates, without the derived quantities that follow
    /// them. Returns the whole layout if there are no such parameters.
    fn parameters_of(&self, dim: usize) -> Result<Layout> {
        let blocks = self.layout.blocks();
        let count = blocks.iter().position(|block| block.range.end >= dim).map_or(blocks.len(), |last| last + 1);
        if blocks.get(count.wrapping_sub(1)).is_none_or(|block| block.range.end != dim) {
            return Ok(self.layout.clone());
        }
        Layout::new(blocks[..count].iter().map(|block| (block.name.clone(), block.shape.clone(), block.constraint)))
    }
}

/// The draws of all chains with their gradients, as flat row-major arrays.
pub(super) struct ScoredDraws {
    /// The layout of the coordinates.
    pub(super) parameters: Layout,
    /// The coordinates of each draw.
    pub(super) coordinates: Vec<f64>,
    /// The gradient at each draw.
    pub(super) gradients: Vec<f64>,
    /// The weight of each draw.
    pub(super) weights: Vec<f64>,
}

/// Converts an error of the diagnostics.
pub(super) fn draws_error(error: sgmcmc_diagnostics::Error) -> Error {
    Error::Draws { reason: error.to_string() }
}
