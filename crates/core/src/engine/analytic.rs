//! The analytic engine: value and gradient written by hand on slices. For simple models, and to test the others against.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::{Evaluator, Target, check_call, check_output};
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::tree::TensorTree;

/// A model whose author knows its gradient.
///
/// Gradients are *added* to `grad`, times `weight` where there is one; values are returned without the weight.
pub trait AnalyticModel: Send + Sync + 'static {
    /// The number of observations, N.
    fn observations(&self) -> usize;

    /// The length of the parameter vector.
    fn dim(&self) -> usize;

    /// log p(x_row|θ); adds `weight` times its gradient to `grad`.
    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64;

    /// log p(θ); adds its gradient to `grad`. Flat unless given.
    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        let (_, _) = (theta, grad);
        0.0
    }
}

/// An [`AnalyticModel`] as something to sample, with typed parameters `P` whose flat form the model works on.
///
/// ```
/// use burn_tensor::Tensor;
/// use sgmcmc_core::{Rows, zeros};
/// use sgmcmc_core::engine::{Analytic, AnalyticModel, Evaluator, Target};
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
/// let target = Analytic::<Tensor<1>>::new(NormalMean(vec![1.0, 2.0, 4.0]));
/// let mut evaluator = target.evaluator(&zeros([1]))?;
/// let mut gradient = [0.0];
/// evaluator.posterior(&[2.0], Rows::range(0..3), &mut gradient)?;
/// assert_eq!(gradient, [1.0]);
/// # Ok::<(), sgmcmc_core::Error>(())
/// ```
pub struct Analytic<P> {
    model: Arc<dyn AnalyticModel>,
    params: PhantomData<fn() -> P>,
}

impl<P> Clone for Analytic<P> {
    fn clone(&self) -> Self {
        Self { model: self.model.clone(), params: PhantomData }
    }
}

impl<P> fmt::Debug for Analytic<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (observations, dim) = (self.model.observations(), self.model.dim());
        f.debug_struct("Analytic").field("observations", &observations).field("dim", &dim).finish_non_exhaustive()
    }
}

impl<P: TensorTree> Analytic<P> {
    /// The target of this model.
    pub fn new(model: impl AnalyticModel) -> Self {
        Self { model: Arc::new(model), params: PhantomData }
    }
}

impl<P: TensorTree> Target for Analytic<P> {
    type Params = P;

    fn evaluator(&self, start: &P) -> Result<Box<dyn Evaluator>> {
        let layout = Layout::of(start)?;
        if layout.dim() != self.model.dim() {
            let (expected, found) = (self.model.dim(), layout.dim());
            return Err(Error::Length { what: "the parameter vector of the analytic model", expected, found });
        }
        layout.flatten(start)?;
        let scratch = vec![0.0; layout.dim()];
        Ok(Box::new(AnalyticEvaluator { model: self.model.clone(), layout, scratch }))
    }
}

struct AnalyticEvaluator {
    model: Arc<dyn AnalyticModel>,
    layout: Layout,
    /// Takes the gradients nobody asked for.
    scratch: Vec<f64>,
}

impl fmt::Debug for AnalyticEvaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnalyticEvaluator").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl Evaluator for AnalyticEvaluator {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn observations(&self) -> usize {
        self.model.observations()
    }

    fn prior(&mut self, theta: &[f64], grad: &mut [f64]) -> Result<f64> {
        check_call(&self.layout, 0, theta, grad, Rows::range(0..0))?;
        Ok(self.model.prior(theta, grad))
    }

    fn likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        check_call(&self.layout, self.observations(), theta, grad, rows)?;
        Ok(rows.iter().map(|(row, weight)| weight * self.model.observation(theta, row, weight, grad)).sum())
    }

    fn log_density(&mut self, theta: &[f64], rows: Rows<'_>) -> Result<f64> {
        check_call(&self.layout, self.observations(), theta, &self.scratch, rows)?;
        let Self { model, scratch, .. } = self;
        let prior = model.prior(theta, scratch);
        let likelihood: f64 = rows.iter().map(|(row, w)| w * model.observation(theta, row, 0.0, scratch)).sum();
        Ok(prior + likelihood)
    }

    fn pointwise(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        check_call(&self.layout, self.observations(), theta, &self.scratch, rows)?;
        check_output("the output for the log-likelihood of each row", rows.len(), out.len())?;
        for (place, (row, _)) in out.iter_mut().zip(rows.iter()) {
            *place = self.model.observation(theta, row, 0.0, &mut self.scratch);
        }
        Ok(())
    }

    fn per_datum(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let dim = self.dim();
        check_call(&self.layout, self.observations(), theta, &self.scratch, rows)?;
        check_output("the output for the gradient of each row", rows.len() * dim, out.len())?;
        out.fill(0.0);
        for (gradient, (row, _)) in out.chunks_exact_mut(dim.max(1)).zip(rows.iter()) {
            self.model.observation(theta, row, 1.0, gradient);
        }
        Ok(())
    }
}
