//! The evaluator of models whose observations are entries of a matrix.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use sgmcmc_gradient::evaluator::{Evaluator, check_arguments, check_output};
use sgmcmc_gradient::{Layout, Result, Rows};

/// The density of the factors given all other variables of a model.
pub(super) trait EntryModel: Send + Sync + fmt::Debug + 'static {
    /// Returns the number of observed entries.
    fn observations(&self) -> usize;

    /// Returns log p(θ) given the hyperparameters, and adds its gradient to `grad`.
    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64;

    /// Returns the log-likelihood of one entry, and adds `weight` times its gradient to `grad`. Only the coordinates of
    /// its row and column change.
    fn entry(&self, theta: &[f64], index: usize, weight: f64, grad: &mut [f64]) -> f64;
}

/// A model whose hyperparameters and latent variables change between the steps of a kernel.
///
/// The evaluator of the kernel and the sampler that updates the other variables own it together. They never use it at
/// the same time, so that the lock is free.
pub(super) struct Shared<M>(Arc<RwLock<M>>);

impl<M> Shared<M> {
    /// Creates a shared model.
    pub(super) fn new(model: M) -> Self {
        Self(Arc::new(RwLock::new(model)))
    }

    /// Returns the model.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, M> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the model for modification.
    pub(super) fn write(&self) -> RwLockWriteGuard<'_, M> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M> Clone for Shared<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: fmt::Debug> fmt::Debug for Shared<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.read(), f)
    }
}

/// The evaluator of a shared model.
#[derive(Debug)]
pub(super) struct EntryEvaluator<M> {
    model: Shared<M>,
    layout: Layout,
    /// Memory for gradients that are not returned.
    scratch: Vec<f64>,
}

impl<M> EntryEvaluator<M> {
    /// Creates an evaluator of `model` with the parameters of `layout`.
    pub(super) fn new(model: Shared<M>, layout: Layout) -> Self {
        let scratch = vec![0.0; layout.dim()];
        Self { model, layout, scratch }
    }
}

impl<M: EntryModel> Evaluator for EntryEvaluator<M> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn observations(&self) -> usize {
        self.model.read().observations()
    }

    fn prior(&mut self, theta: &[f64], grad: &mut [f64]) -> Result<f64> {
        check_arguments(&self.layout, 0, theta, grad, Rows::range(0..0))?;
        Ok(self.model.read().prior(theta, grad))
    }

    fn likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        let model = self.model.read();
        check_arguments(&self.layout, model.observations(), theta, grad, rows)?;
        Ok(rows.iter().map(|(index, weight)| weight * model.entry(theta, index, weight, grad)).sum())
    }

    fn log_density(&mut self, theta: &[f64], rows: Rows<'_>) -> Result<f64> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let value = self.posterior(theta, rows, &mut scratch);
        self.scratch = scratch;
        value
    }

    fn log_likelihood_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let model = self.model.read();
        check_arguments(&self.layout, model.observations(), theta, &self.scratch, rows)?;
        check_output("the log-likelihood of the observations", rows.len(), out.len())?;
        for (out, (index, _)) in out.iter_mut().zip(rows.iter()) {
            *out = model.entry(theta, index, 0.0, &mut self.scratch);
        }
        Ok(())
    }

    fn gradient_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let model = self.model.read();
        check_arguments(&self.layout, model.observations(), theta, &self.scratch, rows)?;
        check_output("the gradient of the observations", rows.len() * theta.len(), out.len())?;
        out.fill(0.0);
        for (out, (index, _)) in out.chunks_exact_mut(theta.len()).zip(rows.iter()) {
            model.entry(theta, index, 1.0, out);
        }
        Ok(())
    }
}
