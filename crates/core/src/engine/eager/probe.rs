//! What is asked of the closures once, when an evaluator is made.

use super::Eager;
use super::leaves::{TrackedLeaf, scalar, tracked};
use crate::data::{Dataset, Rows};
use crate::engine::mixing;
use crate::error::{Closure, Result};
use crate::model::guarded;
use crate::tree::TensorTree;

impl<P: TensorTree, D: TensorTree> Eager<P, D> {
    /// The observations.
    pub(in crate::engine) fn data(&self) -> &Dataset<D> {
        self.posterior.data()
    }

    /// Whether the likelihood comes as a sum over the rows.
    pub(in crate::engine) fn is_summed(&self) -> bool {
        self.summed
    }

    /// Looks whether the term of a row depends on other rows. Then only all observations can be evaluated, in one piece.
    #[must_use]
    pub(in crate::engine) fn with_mixing(mut self) -> Self {
        self.mixes = self.posterior.model().has_likelihood() && mixing::mixes_rows(&self);
        self
    }

    /// Most rows the closure is given at once.
    pub(in crate::engine) fn chunk_rows(&self) -> usize {
        self.posterior.chunk()
    }

    /// The gradient of the log-likelihood of `rows`, which are given to the closure together.
    pub(in crate::engine) fn gradient_of(&self, theta: &[f64], rows: Rows<'_>) -> Result<Vec<f64>> {
        let mut gradient = vec![0.0; theta.len()];
        self.differentiate(theta, &mut gradient, |unpacked| self.likelihood_term(unpacked.params, rows))?;
        Ok(gradient)
    }

    /// The log-likelihood of a row, and its derivative to each number of each leaf of the data; none for leaves that are not floats.
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

    /// The terms of `rows`, which are given to the closure together; one number if it returns their sum.
    pub(in crate::engine) fn terms(&self, theta: &[f64], rows: Rows<'_>) -> Result<Vec<f64>> {
        let params = self.unpack(theta).params;
        let terms = self.posterior.model().log_likelihood(params, self.batch(rows)?, rows.len())?;
        Ok(terms.map_or_else(Vec::new, |terms| terms.into_data().iter::<f64>().collect()))
    }
}
