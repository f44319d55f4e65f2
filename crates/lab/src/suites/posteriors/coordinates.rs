//! A problem as a target with one vector of parameters: the coordinates θ of the model, or coordinates u with θ = c + F
//! u.
//!
//! If c is the mode and F Fᵀ the inverse Hessian at the mode, the Laplace approximation of the posterior of u is the
//! standard normal distribution. All directions have curvature one, so a method without a matrix can use one step size.

use sgmcmc::TreeLayout;
use sgmcmc::default_device;
use std::fmt;
use std::sync::Arc;

use sgmcmc::Layout;
use sgmcmc::data::{Precision, Rows};
use sgmcmc::gradient::Result;
use sgmcmc::gradient::{Evaluator, Target};
use sgmcmc::numerics::vector;
use sgmcmc::prelude::*;

use super::problem::Problem;

/// The affine map θ = c + F u.
#[derive(Debug)]
pub(crate) struct Affine {
    /// The center c.
    pub(crate) center: Vec<f64>,
    /// The upper triangular matrix F, row-major.
    pub(crate) matrix: Vec<f64>,
}

impl Affine {
    /// Writes θ to `theta`.
    pub(crate) fn apply(&self, u: &[f64], theta: &mut [f64]) {
        let rows = self.matrix.chunks_exact(u.len().max(1)).enumerate();
        for ((theta, center), (i, row)) in theta.iter_mut().zip(&self.center).zip(rows) {
            *theta = center + vector::dot(&row[i..], &u[i..]);
        }
    }

    /// Adds Fᵀ g to `out`.
    fn add_transposed(&self, g: &[f64], out: &mut [f64]) {
        let rows = self.matrix.chunks_exact(g.len().max(1)).enumerate();
        g.iter().zip(rows).for_each(|(g, (i, row))| vector::add_scaled(&mut out[i..], *g, &row[i..]));
    }
}

/// A problem in the coordinates of the model or in affine coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Coordinates {
    problem: Arc<Problem>,
    affine: Option<Arc<Affine>>,
}

impl Coordinates {
    /// Creates the target in the coordinates of the model.
    pub(crate) fn model(problem: &Arc<Problem>) -> Self {
        Self { problem: problem.clone(), affine: None }
    }

    /// Creates the target in the coordinates u.
    pub(crate) fn whitened(problem: &Arc<Problem>, affine: &Arc<Affine>) -> Self {
        Self { problem: problem.clone(), affine: Some(affine.clone()) }
    }

    /// Returns the coordinates of the model at `position`.
    pub(crate) fn to_model(&self, position: &[f64]) -> Vec<f64> {
        let mut theta = position.to_vec();
        if let Some(affine) = &self.affine {
            affine.apply(position, &mut theta);
        }
        theta
    }

    /// Returns `position` as a tensor.
    pub(crate) fn start(position: &[f64]) -> Result<Tensor<1>> {
        array(position.to_vec(), [position.len()])
    }

    /// Returns an evaluator in these coordinates.
    pub(crate) fn evaluator(&self) -> Result<Box<dyn Evaluator>> {
        Target::evaluator(self, &zeros([self.problem.start.len()]))
    }
}

impl Target for Coordinates {
    type Params = Tensor<1>;

    fn evaluator(&self, start: &Tensor<1>) -> Result<Box<dyn Evaluator>> {
        transformed(self.problem.evaluator()?, Layout::from_tree(start)?, self.affine.clone())
    }

    fn layout(&self, params: &Tensor<1>) -> Result<Layout> {
        Layout::from_tree(params)
    }

    fn flatten(&self, layout: &Layout, params: &Tensor<1>) -> Result<Vec<f64>> {
        TreeLayout::flatten(layout, params)
    }

    fn unflatten(&self, layout: &Layout, like: &Tensor<1>, theta: &[f64]) -> Result<Tensor<1>> {
        TreeLayout::unflatten(layout, like, theta, &default_device())
    }
}

/// Returns the evaluator `inner` in the coordinates `layout`, which are affine or those of `inner`.
///
/// # Errors
///
/// Returns an error if `layout` does not have the dimension of `inner`.
pub(crate) fn transformed(
    inner: Box<dyn Evaluator>,
    layout: Layout,
    affine: Option<Arc<Affine>>,
) -> Result<Box<dyn Evaluator>> {
    let (theta, gradient) = (vec![0.0; inner.dim()], vec![0.0; inner.dim()]);
    layout.check_length(&theta)?;
    Ok(Box::new(Transformed { inner, layout, affine, theta, gradient, rows: Vec::new() }))
}

/// The evaluator of a model in other, unconstrained coordinates.
struct Transformed {
    inner: Box<dyn Evaluator>,
    layout: Layout,
    affine: Option<Arc<Affine>>,
    theta: Vec<f64>,
    gradient: Vec<f64>,
    /// Gradients of single observations, in the coordinates of the model.
    rows: Vec<f64>,
}

impl fmt::Debug for Transformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transformed").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl Transformed {
    /// Sets θ to the point `u`.
    fn set_point(&mut self, u: &[f64]) -> Result<()> {
        self.layout.check_length(u)?;
        match &self.affine {
            Some(affine) => affine.apply(u, &mut self.theta),
            None => self.theta.copy_from_slice(u),
        }
        Ok(())
    }

    /// Evaluates `value` and adds its gradient in these coordinates to `grad`.
    fn with_gradient(
        &mut self,
        u: &[f64],
        grad: &mut [f64],
        value: impl FnOnce(&mut dyn Evaluator, &[f64], &mut [f64]) -> Result<f64>,
    ) -> Result<f64> {
        self.set_point(u)?;
        let Some(affine) = &self.affine else { return value(self.inner.as_mut(), &self.theta, grad) };
        self.gradient.fill(0.0);
        let value = value(self.inner.as_mut(), &self.theta, &mut self.gradient)?;
        affine.add_transposed(&self.gradient, grad);
        Ok(value)
    }
}

impl Evaluator for Transformed {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn observations(&self) -> usize {
        self.inner.observations()
    }

    fn prior(&mut self, theta: &[f64], grad: &mut [f64]) -> Result<f64> {
        self.with_gradient(theta, grad, |inner, theta, grad| inner.prior(theta, grad))
    }

    fn likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        self.with_gradient(theta, grad, |inner, theta, grad| inner.likelihood(theta, rows, grad))
    }

    fn posterior(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        self.with_gradient(theta, grad, |inner, theta, grad| inner.posterior(theta, rows, grad))
    }

    fn log_density(&mut self, theta: &[f64], rows: Rows<'_>) -> Result<f64> {
        self.set_point(theta)?;
        self.inner.log_density(&self.theta, rows)
    }

    fn log_likelihood_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.set_point(theta)?;
        self.inner.log_likelihood_per_observation(&self.theta, rows, out)
    }

    fn gradient_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.set_point(theta)?;
        let Some(affine) = &self.affine else { return self.inner.gradient_per_observation(&self.theta, rows, out) };
        self.rows.resize(out.len(), 0.0);
        self.inner.gradient_per_observation(&self.theta, rows, &mut self.rows)?;
        out.fill(0.0);
        let dim = theta.len().max(1);
        let pairs = self.rows.chunks_exact(dim).zip(out.chunks_exact_mut(dim));
        pairs.for_each(|(gradient, out)| affine.add_transposed(gradient, out));
        Ok(())
    }

    fn precision(&self) -> Precision {
        self.inner.precision()
    }

    fn set_threads(&mut self, threads: usize) {
        self.inner.set_threads(threads);
    }

    fn allocate_on_this_thread(&mut self) -> Result<()> {
        self.inner.allocate_on_this_thread()
    }
}
