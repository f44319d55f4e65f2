//! Evaluations for the checks that run when an evaluator is created.

use super::Eager;
use super::leaves::{TrackedLeaf, scalar, tracked};
use crate::closure::guarded;
use crate::data::Dataset;
use crate::engine::mixing;
use crate::tree::TensorTree;
use sgmcmc_gradient::data::Rows;
use sgmcmc_gradient::error::{Closure, Result};

impl<P: TensorTree, D: TensorTree> Eager<P, D> {
    /// Returns the observations.
    pub(in crate::engine) fn data(&self) -> &Dataset<D> {
        self.posterior.data()
    }

    /// Returns whether the closure returns the sum of the log-likelihood over the observations.
    pub(in crate::engine) fn is_summed(&self) -> bool {
        self.summed
    }

    /// Determines whether the term of an observation depends on other observations. If it does, the evaluator rejects
    /// subsets of the observations and passes all of them to the closure at once.
    #[must_use]
    pub(in crate::engine) fn with_mixing(mut self) -> Self {
        self.mixes = self.posterior.model().has_likelihood() && mixing::mixes_rows(&self);
        self
    }

    /// Returns the maximum number of observations per call of the closure.
    pub(in crate::engine) fn chunk_rows(&self) -> usize {
        self.posterior.chunk()
    }

    /// Returns the gradient of the log-likelihood of `rows` from a single call of the closure.
    pub(in crate::engine) fn gradient_of(&self, theta: &[f64], rows: Rows<'_>) -> Result<Vec<f64>> {
        let mut gradient = vec![0.0; theta.len()];
        self.differentiate(theta, &mut gradient, |unpacked| self.likelihood_term(unpacked.params, rows))?;
        Ok(gradient)
    }

    /// Returns the log-likelihood of an observation, and its derivatives with respect to the values of each leaf of the
    /// data. The list of derivatives is empty for leaves that are not floats.
    pub(in crate::engine) fn slopes(&self, theta: &[f64], row: usize) -> Result<(f64, Vec<Vec<f64>>)> {
        let (data, leaves) = tracked(&self.batch(Rows::range(row..row + 1))?);
        let Some(term) = self.posterior.model().log_likelihood(self.unpack(theta).params, data, 1)? else {
            return Ok((0.0, vec![]));
        };
        let value = scalar(&term);
        if !term.is_tracked() {
            return Ok((value, vec![]));
        }
        let mut gradients = guarded(Closure::LogLikelihood, || term.backward())?;
        let slope = |leaf: &Option<Box<dyn TrackedLeaf>>| {
            let gradient = leaf.as_ref().and_then(|leaf| leaf.take_gradient(&mut gradients));
            gradient.map_or_else(Vec::new, |gradient| gradient.iter::<f64>().collect())
        };
        Ok((value, leaves.iter().map(slope).collect()))
    }

    /// Returns the terms of `rows`, or their sum if the closure returns the sum, from a single call of the closure.
    pub(in crate::engine) fn terms(&self, theta: &[f64], rows: Rows<'_>) -> Result<Vec<f64>> {
        let params = self.unpack(theta).params;
        let terms = self.posterior.model().log_likelihood(params, self.batch(rows)?, rows.len())?;
        Ok(terms.map_or_else(Vec::new, |terms| terms.into_data().iter::<f64>().collect()))
    }
}
