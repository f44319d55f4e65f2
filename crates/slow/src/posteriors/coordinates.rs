//! A problem as a target whose parameters are one vector: the coordinates of the model, or coordinates u with θ = c + F u.
//!
//! With c the mode and F Fᵀ the inverse Hessian there, the Laplace approximation of the posterior of u is the standard normal
//! distribution: all directions have the curvature one, so that a method without a matrix can take one step size for all.

use std::fmt;
use std::sync::Arc;

use sgmcmc::linalg::vector;
use sgmcmc::prelude::*;
use sgmcmc::{Layout, Result};

use super::problem::Problem;

/// θ = c + F u.
#[derive(Debug)]
pub(crate) struct Affine {
    /// c.
    pub(crate) centre: Vec<f64>,
    /// F, upper triangular, row by row.
    pub(crate) matrix: Vec<f64>,
}

impl Affine {
    /// Writes θ into `theta`.
    fn apply(&self, u: &[f64], theta: &mut [f64]) {
        let rows = self.matrix.chunks_exact(u.len().max(1)).enumerate();
        for ((theta, centre), (i, row)) in theta.iter_mut().zip(&self.centre).zip(rows) {
            *theta = centre + vector::dot(&row[i..], &u[i..]);
        }
    }

    /// Adds Fᵀ g to `out`.
    fn add_transposed(&self, g: &[f64], out: &mut [f64]) {
        let rows = self.matrix.chunks_exact(g.len().max(1)).enumerate();
        g.iter().zip(rows).for_each(|(g, (i, row))| vector::add_scaled(&mut out[i..], *g, &row[i..]));
    }
}

/// A problem in its own coordinates, or in others.
#[derive(Clone, Debug)]
pub(crate) struct Coordinates {
    problem: Arc<Problem>,
    affine: Option<Arc<Affine>>,
}

impl Coordinates {
    /// The coordinates of the model.
    pub(crate) fn of_model(problem: &Arc<Problem>) -> Self {
        Self { problem: problem.clone(), affine: None }
    }

    /// The coordinates u.
    pub(crate) fn whitened(problem: &Arc<Problem>, affine: &Arc<Affine>) -> Self {
        Self { problem: problem.clone(), affine: Some(affine.clone()) }
    }

    /// The coordinates of the model at `position`.
    pub(crate) fn to_model(&self, position: &[f64]) -> Vec<f64> {
        let mut theta = position.to_vec();
        if let Some(affine) = &self.affine {
            affine.apply(position, &mut theta);
        }
        theta
    }

    /// A start at `position`.
    pub(crate) fn start(position: &[f64]) -> Result<Tensor<1>> {
        array(position.to_vec(), [position.len()])
    }

    /// An evaluator in these coordinates.
    pub(crate) fn evaluator(&self) -> Result<Box<dyn Evaluator>> {
        Target::evaluator(self, &zeros([self.problem.start.len()]))
    }
}

impl Target for Coordinates {
    type Params = Tensor<1>;

    fn evaluator(&self, start: &Tensor<1>) -> Result<Box<dyn Evaluator>> {
        let (inner, layout) = (self.problem.evaluator()?, Layout::of(start)?);
        let dim = inner.dim();
        layout.check_length(&vec![0.0; dim])?;
        let (theta, gradient) = (vec![0.0; dim], vec![0.0; dim]);
        Ok(Box::new(Transformed { inner, layout, affine: self.affine.clone(), theta, gradient, rows: Vec::new() }))
    }
}

/// The evaluator of a model, in other coordinates and without its constraints.
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
    /// Moves θ to `u`.
    fn locate(&mut self, u: &[f64]) -> Result<()> {
        self.layout.check_length(u)?;
        match &self.affine {
            Some(affine) => affine.apply(u, &mut self.theta),
            None => self.theta.copy_from_slice(u),
        }
        Ok(())
    }

    /// Evaluates `value`, and adds its gradient, in these coordinates, to `grad`.
    fn with_gradient(
        &mut self,
        u: &[f64],
        grad: &mut [f64],
        value: impl FnOnce(&mut dyn Evaluator, &[f64], &mut [f64]) -> Result<f64>,
    ) -> Result<f64> {
        self.locate(u)?;
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
        self.locate(theta)?;
        self.inner.log_density(&self.theta, rows)
    }

    fn pointwise(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.locate(theta)?;
        self.inner.pointwise(&self.theta, rows, out)
    }

    fn per_datum(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.locate(theta)?;
        let Some(affine) = &self.affine else { return self.inner.per_datum(&self.theta, rows, out) };
        self.rows.resize(out.len(), 0.0);
        self.inner.per_datum(&self.theta, rows, &mut self.rows)?;
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

    fn settle(&mut self) -> Result<()> {
        self.inner.settle()
    }
}
