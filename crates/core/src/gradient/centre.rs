//! A point θ̂ with the exact gradient there: what control variates are built on.

use serde::{Deserialize, Serialize};

use crate::data::Rows;
use crate::engine::Evaluator;
use crate::error::Result;
use crate::minibatch::Minibatch;

/// A point θ̂, with log-likelihood and gradient over all observations.
///
/// The prior is left out: its gradient at θ is exact at no cost, so it needs no control variate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Centre {
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    #[serde(skip)]
    scratch: Vec<f64>,
}

impl Centre {
    /// The centre at `point`, by one pass over all observations.
    pub fn at(point: &[f64], evaluator: &mut dyn Evaluator) -> Result<Self> {
        let mut gradient = vec![0.0; point.len()];
        let value = evaluator.likelihood(point, evaluator.all_rows(), &mut gradient)?;
        Ok(Self { point: point.to_vec(), value, gradient, scratch: Vec::new() })
    }

    /// Moves the centre to `point`, by one pass over all observations.
    pub fn renew(&mut self, point: &[f64], evaluator: &mut dyn Evaluator) -> Result<()> {
        *self = Self::at(point, evaluator)?;
        Ok(())
    }

    /// θ̂.
    pub fn point(&self) -> &[f64] {
        &self.point
    }

    /// Writes ∇ᵢ(θ) − ∇ᵢ(θ̂) of each observation of `batch` into `out`.
    pub(super) fn terms(
        &self,
        theta: &[f64],
        evaluator: &mut dyn Evaluator,
        batch: &Minibatch,
        out: &mut Vec<f64>,
    ) -> Result<()> {
        let half = batch.rows.len() * theta.len();
        out.resize(2 * half, 0.0);
        let (here, there) = out.split_at_mut(half);
        let rows = Rows::list(&batch.rows);
        evaluator.per_datum(theta, rows, here)?;
        evaluator.per_datum(&self.point, rows, there)?;
        here.iter_mut().zip(there).for_each(|(here, there)| *here -= *there);
        out.truncate(half);
        Ok(())
    }

    /// Writes ∇ log p(θ) + G(θ̂) + Σ_{i∈S} wᵢ [∇ᵢ(θ) − ∇ᵢ(θ̂)] into `out`, G the gradient of the log-likelihood over all
    /// observations; returns the same combination of values.
    pub(super) fn estimate(
        &mut self,
        theta: &[f64],
        evaluator: &mut dyn Evaluator,
        batch: &Minibatch,
        out: &mut [f64],
    ) -> Result<f64> {
        let Self { point, value, gradient, scratch } = self;
        let rows = batch.as_rows()?;
        scratch.clear();
        scratch.resize(point.len(), 0.0);
        out.fill(0.0);
        // The two minibatch sums are subtracted before anything else is added: at θ = θ̂ they cancel exactly.
        let here = evaluator.likelihood(theta, rows, out)?;
        let there = evaluator.likelihood(point, rows, scratch)?;
        for ((out, there), full) in out.iter_mut().zip(scratch.iter()).zip(gradient.iter()) {
            *out = (*out - there) + full;
        }
        let prior = evaluator.prior(theta, out)?;
        Ok((here - there) + *value + prior)
    }
}
