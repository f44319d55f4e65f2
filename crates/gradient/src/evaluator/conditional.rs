//! The density of some parameters given the others.

use super::{Evaluator, ModelIdentity};
use crate::data::{Precision, Rows};
use crate::error::Result;
use crate::layout::{Layout, Split};

/// The density of the free parameters of a [`Split`] given the held ones, up to a constant.
#[derive(Debug)]
pub(crate) struct Conditional {
    /// The evaluator of all parameters.
    pub(crate) model: Box<dyn Evaluator>,
    pub(crate) split: Split,
    /// All coordinates. The held ones are current, the free ones those of the last evaluation.
    pub(crate) theta: Vec<f64>,
    /// A gradient with respect to all coordinates.
    pub(crate) gradient: Vec<f64>,
}

impl Conditional {
    pub(crate) fn new(model: Box<dyn Evaluator>, split: Split, theta: &[f64]) -> Self {
        Self { model, split, theta: theta.to_vec(), gradient: vec![0.0; theta.len()] }
    }

    /// Evaluates the model with the free coordinates `theta`, and adds the gradient of the free ones to `grad`.
    fn evaluate(
        &mut self,
        theta: &[f64],
        grad: &mut [f64],
        call: impl FnOnce(&mut dyn Evaluator, &[f64], &mut [f64]) -> Result<f64>,
    ) -> Result<f64> {
        let Self { model, split, theta: full, gradient } = self;
        split.layout().check_length(theta)?;
        split.layout().check_length(grad)?;
        split.set_free(theta, full);
        gradient.fill(0.0);
        let value = call(model.as_mut(), full, gradient)?;
        split.for_each_free(gradient, grad, |full, free| *free += *full);
        Ok(value)
    }
}

impl Evaluator for Conditional {
    fn layout(&self) -> &Layout {
        self.split.layout()
    }

    fn observations(&self) -> usize {
        self.model.observations()
    }

    fn prior(&mut self, theta: &[f64], grad: &mut [f64]) -> Result<f64> {
        self.evaluate(theta, grad, |model, theta, grad| model.prior(theta, grad))
    }

    fn likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        self.evaluate(theta, grad, |model, theta, grad| model.likelihood(theta, rows, grad))
    }

    fn posterior(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        self.evaluate(theta, grad, |model, theta, grad| model.posterior(theta, rows, grad))
    }

    fn log_density(&mut self, theta: &[f64], rows: Rows<'_>) -> Result<f64> {
        self.split.layout().check_length(theta)?;
        self.split.set_free(theta, &mut self.theta);
        self.model.log_density(&self.theta, rows)
    }

    fn log_likelihood_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.split.layout().check_length(theta)?;
        self.split.set_free(theta, &mut self.theta);
        self.model.log_likelihood_per_observation(&self.theta, rows, out)
    }

    fn gradient_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let Self { model, split, theta: full, .. } = self;
        split.layout().check_length(theta)?;
        let (all, free) = (full.len(), theta.len());
        super::check_output("the matrix of gradients", rows.len() * free, out.len())?;
        split.set_free(theta, full);
        let mut gradients = vec![0.0; rows.len() * all];
        model.gradient_per_observation(full, rows, &mut gradients)?;
        for (full, free) in gradients.chunks_exact_mut(all.max(1)).zip(out.chunks_exact_mut(free.max(1))) {
            split.for_each_free(full, free, |full, free| *free = *full);
        }
        Ok(())
    }

    fn identity(&mut self, theta: &[f64]) -> Result<ModelIdentity> {
        self.split.layout().check_length(theta)?;
        self.split.set_free(theta, &mut self.theta);
        self.model.identity(&self.theta)
    }

    fn precision(&self) -> Precision {
        self.model.precision()
    }

    fn set_threads(&mut self, threads: usize) {
        self.model.set_threads(threads);
    }

    fn allocate_on_this_thread(&mut self) -> Result<()> {
        self.model.allocate_on_this_thread()
    }
}
