//! Analytic models with typed parameters.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use sgmcmc_gradient::evaluator::AnalyticEvaluator;
use sgmcmc_gradient::{AnalyticModel, Evaluator, Layout, Result, Target};

use crate::array::default_device;
use crate::tree::{TensorTree, TreeLayout};

/// The target of an [`AnalyticModel`] whose parameters are a tree of tensors of type `P`.
///
/// # Examples
///
/// ```
/// use sgmcmc::AnalyticTree;
/// use sgmcmc::data::Rows;
/// use sgmcmc::gradient::{AnalyticModel, Target};
/// use sgmcmc::prelude::*;
///
/// /// xᵢ ~ N(θ, 1)
/// struct NormalMean(Vec<f64>);
///
/// impl AnalyticModel for NormalMean {
///     fn observations(&self) -> usize { self.0.len() }
///     fn dim(&self) -> usize { 1 }
///     fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
///         let residual = self.0[row] - theta[0];
///         grad[0] += weight * residual;
///         -0.5 * residual * residual
///     }
/// }
///
/// let target = AnalyticTree::<Tensor<1>>::new(NormalMean(vec![1.0, 2.0, 4.0]));
/// let mut evaluator = target.evaluator(&zeros([1]))?;
/// let mut gradient = [0.0];
/// evaluator.posterior(&[2.0], Rows::range(0..3), &mut gradient)?;
/// assert_eq!(gradient, [1.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub struct AnalyticTree<P> {
    model: Arc<dyn AnalyticModel>,
    params: PhantomData<fn() -> P>,
}

impl<P> Clone for AnalyticTree<P> {
    fn clone(&self) -> Self {
        Self { model: self.model.clone(), params: PhantomData }
    }
}

impl<P> fmt::Debug for AnalyticTree<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (observations, dim) = (self.model.observations(), self.model.dim());
        f.debug_struct("AnalyticTree").field("observations", &observations).field("dim", &dim).finish_non_exhaustive()
    }
}

impl<P: TensorTree> AnalyticTree<P> {
    /// Creates the target of `model`.
    pub fn new(model: impl AnalyticModel) -> Self {
        Self { model: Arc::new(model), params: PhantomData }
    }
}

impl<P: TensorTree> Target for AnalyticTree<P> {
    type Params = P;

    fn evaluator(&self, start: &P) -> Result<Box<dyn Evaluator>> {
        let layout = Layout::from_tree(start)?;
        layout.flatten(start)?;
        Ok(Box::new(AnalyticEvaluator::new(self.model.clone(), layout)?))
    }

    fn layout(&self, params: &P) -> Result<Layout> {
        Layout::from_tree(params)
    }

    fn flatten(&self, layout: &Layout, params: &P) -> Result<Vec<f64>> {
        TreeLayout::flatten(layout, params)
    }

    fn unflatten(&self, layout: &Layout, like: &P, theta: &[f64]) -> Result<P> {
        TreeLayout::unflatten(layout, like, theta, &default_device())
    }
}
