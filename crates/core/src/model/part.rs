//! Models in which some parameters are fixed.

use std::sync::Arc;

use burn_tensor::Tensor;
use rand::Rng;

use sgmcmc_gradient::error::{Error, Result};
use sgmcmc_gradient::layout::Layout;

use super::observation::Observation;
use super::{LogLikelihood, LogPrior, Model};
use crate::tree::prior::copy;
use crate::tree::{Part, TensorTree, TreeLayout};

/// A model in which some parameters are fixed, and the parameters to start from.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|(a, b): (Tensor<1>, Tensor<1>)| (a - b).square() * -0.5);
/// let conditioned = model.fix(&["1"], &(zeros([1]), full([1], 3.0)))?;
/// let fit = hmc(&conditioned.model, &Dataset::none(), 0.5).seed(1).sample(&conditioned.start, 500)?;
/// assert_eq!(fit.layout().value_names(), ["0"]);
/// assert!((fit.summary().rows()[0].mean - 3.0).abs() < 0.3);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Conditioned<P, D> {
    /// The model of the free parameters.
    pub model: Model<Part<P>, D>,
    /// The parameters, with the values that were given.
    pub start: Part<P>,
}

impl<P: TensorTree, D: TensorTree> Model<P, D> {
    /// Conditions the model on the values of some parameters: those at `paths` have their values in `values`, and the
    /// others remain parameters. A path selects a leaf, or all leaves below it.
    ///
    /// # Errors
    ///
    /// Returns an error if a path selects no parameter, if no parameter remains free, or if `values` violate a constraint.
    pub fn fix(&self, paths: &[&str], values: &P) -> Result<Conditioned<P, D>> {
        self.conditioned(paths, values, false)
    }

    /// Fixes all parameters except those at `paths`, for example the last layer of a network, at their values in `values`.
    /// A path selects a leaf, or all leaves below it.
    ///
    /// # Errors
    ///
    /// Returns an error if a path selects no parameter, or if `values` violate a constraint.
    pub fn sample_only(&self, paths: &[&str], values: &P) -> Result<Conditioned<P, D>> {
        self.conditioned(paths, values, true)
    }

    /// Frees the parameters at `paths` if `frees` is true, and fixes them otherwise.
    fn conditioned(&self, paths: &[&str], values: &P, frees: bool) -> Result<Conditioned<P, D>> {
        let layout = self.layout(values)?;
        // Checks the values.
        TreeLayout::flatten(&layout, values)?;
        for path in paths {
            if !layout.blocks().iter().any(|block| selects(path, &block.name)) {
                layout.block(path)?;
            }
        }
        let is_free = |name: &str| paths.iter().any(|path| selects(path, name)) == frees;
        if !layout.blocks().iter().any(|block| is_free(&block.name)) {
            let (value, expected) = (format!("{paths:?}"), "at least 1 parameter must remain free");
            return Err(Error::Setting { name: "the list of fixed parameters", value, expected });
        }
        let start = Part::new(copy(values), is_free);
        Ok(Conditioned { model: self.part(&layout, is_free), start })
    }

    /// Returns the model of a part of the parameters.
    fn part(&self, layout: &Layout, is_free: impl Fn(&str) -> bool) -> Model<Part<P>, D> {
        let log_likelihood = self.log_likelihood.clone().map(|call| -> LogLikelihood<Part<P>, D> {
            Arc::new(move |part: Part<P>, data| call(part.into_whole(), data))
        });
        let prior = |call: LogPrior<P>| -> LogPrior<Part<P>> { Arc::new(move |part: Part<P>| call(part.into_whole())) };
        let observation =
            self.observation.clone().map(|inner| -> Arc<dyn Observation<Part<P>, D>> { Arc::new(OfWhole { inner }) });
        let draw_prior = self.draw_prior.clone().map(|draw| -> super::DrawPrior<Part<P>> {
            Arc::new(move |like: &Part<P>, rng: &mut dyn Rng| like.with_parameters(&draw(like.whole(), rng)))
        });
        // The layout has the constraints of fields and those of the model.
        let constraints = layout.blocks().iter().filter(|block| is_free(&block.name));
        Model {
            log_likelihood,
            log_prior: self.log_prior.clone().map(prior),
            factor: self.factor.clone().map(prior),
            draw_prior,
            observation,
            quantities: self.quantities.iter().map(super::Quantity::of_whole).collect(),
            power: self.power,
            prior_power: self.prior_power,
            shapes: Vec::new(),
            constraints: constraints.filter_map(|block| Some((block.name.clone(), block.constraint?))).collect(),
        }
    }
}

/// Returns whether `path` is `name`, or a tree that contains it.
fn selects(path: &str, name: &str) -> bool {
    name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The distribution of observations given all parameters.
struct OfWhole<P, D> {
    inner: Arc<dyn Observation<P, D>>,
}

impl<P: TensorTree, D: TensorTree> Observation<Part<P>, D> for OfWhole<P, D> {
    fn terms(&self, params: Part<P>, data: D) -> Tensor<1> {
        self.inner.terms(params.into_whole(), data)
    }

    fn draw(&self, params: Part<P>, data: D, rng: &mut dyn Rng) -> Vec<Vec<f64>> {
        self.inner.draw(params.into_whole(), data, rng)
    }

    fn mean(&self, params: Part<P>, data: D) -> Option<Vec<f64>> {
        self.inner.mean(params.into_whole(), data)
    }

    fn observed(&self, data: D) -> Vec<Vec<f64>> {
        self.inner.observed(data)
    }
}
