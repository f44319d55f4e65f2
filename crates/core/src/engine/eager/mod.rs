//! The eager engine: it runs the closures on Burn tensors of any device, and differentiates them with Burn's autodiff.
//!
//! Only the parameters are tracked, so that the tape contains only operations that depend on them. Values without
//! gradients are computed on plain tensors, without a tape.

mod leaves;
mod probe;

use std::fmt;

use burn_tensor::Tensor;

use self::leaves::{TensorOptions, TrackedLeaf, Unpacked, copy, read_into, scalar, unpack};
use sgmcmc_gradient::Evaluator;
use sgmcmc_gradient::evaluator::{check_arguments, check_output};

use super::Posterior;
use crate::array::dtype;
use crate::closure::guarded;
use crate::data::Dataset;
use crate::tree::{TensorTree, TreeLayout, to_device};
use sgmcmc_gradient::data::{Precision, Rows, Selection, Weights};
use sgmcmc_gradient::error::{Closure, Error, Result};
use sgmcmc_gradient::layout::Layout;

/// Evaluates a [`Posterior`] with Burn's autodiff.
pub(super) struct Eager<P, D> {
    posterior: Posterior<P, D>,
    /// Parameters with the structure that the closures take.
    template: P,
    layout: Layout,
    /// The coordinates of the initial parameters.
    start: Vec<f64>,
    precision: Precision,
    /// True if the closure returns the sum of the log-likelihood over the observations.
    summed: bool,
    /// True if the term of an observation depends on other observations.
    mixes: bool,
}

impl<P, D> fmt::Debug for Eager<P, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eager")
            .field("posterior", &self.posterior)
            .field("layout", &self.layout)
            .field("precision", &self.precision)
            .field("summed", &self.summed)
            .finish_non_exhaustive()
    }
}

impl<P: TensorTree, D: TensorTree> Eager<P, D> {
    /// Creates an evaluator and calls the closures once at `start`.
    ///
    /// # Errors
    ///
    /// Returns an error if the model has no closures, if `start` does not match the model, or if a closure fails at
    /// `start`.
    pub(super) fn new(posterior: &Posterior<P, D>, start: &P) -> Result<Self> {
        let model = posterior.model();
        let has_likelihood = model.has_likelihood() && posterior.data().observations() > 0;
        if !has_likelihood && !model.has_prior() {
            return Err(Error::EmptyModel);
        }
        let layout = model.layout(start)?;
        let theta = TreeLayout::flatten(&layout, start)?;
        let precision = posterior.data().precision().or_else(|| leaves::precision(start)).unwrap_or(Precision::Double);
        let mut evaluator = Self {
            posterior: posterior.clone(),
            template: to_device(start, posterior.eager_device()),
            layout,
            start: theta.clone(),
            precision,
            summed: false,
            mixes: false,
        };
        evaluator.probe(&theta)?;
        Ok(evaluator)
    }

    /// Returns this evaluator with other data and another precision.
    pub(super) fn with_data(&self, posterior: &Posterior<P, D>, data: Dataset<D>, precision: Precision) -> Self {
        Self {
            posterior: posterior.with_data(data),
            template: copy(&self.template),
            layout: self.layout.clone(),
            start: self.start.clone(),
            precision,
            summed: self.summed,
            mixes: self.mixes,
        }
    }

    /// Returns parameters with the structure that the closures take.
    pub(super) fn template(&self) -> &P {
        &self.template
    }

    /// Returns the coordinates of the initial parameters.
    pub(super) fn coordinates(&self) -> &[f64] {
        &self.start
    }

    /// Returns the maximum number of observations per call of the closure.
    ///
    /// # Errors
    ///
    /// Returns an error if the terms depend on other observations and `rows` does not select all observations in order.
    fn chunk(&self, rows: Rows<'_>) -> Result<usize> {
        if !self.mixes {
            return Ok(self.posterior.chunk());
        }
        let in_order = match rows.selection() {
            Selection::Range { start, .. } => start == 0,
            Selection::List(list) => list.iter().enumerate().all(|(position, row)| position == *row),
        };
        let all = rows.is_empty() || (rows.len() == self.observations() && in_order);
        if all {
            Ok(rows.len().max(1))
        } else {
            Err(Error::MixedRows { rows: rows.len(), observations: self.observations() })
        }
    }

    /// Calls the closures once at `theta` with two observations, to detect errors before a long run.
    fn probe(&mut self, theta: &[f64]) -> Result<()> {
        let n = self.observations().min(2);
        let params = self.unpack(theta).params;
        if let Some(prior) = self.posterior.model().log_prior(copy(&params))? {
            finite(Closure::LogPrior, scalar(&prior))?;
        }
        let rows = self.batch(Rows::range(0..n))?;
        if let Some(terms) = self.posterior.model().log_likelihood(params, rows, n)? {
            self.summed = n > 1 && terms.dims() == [1];
            finite(Closure::LogLikelihood, scalar(&terms.sum()))?;
        }
        Ok(())
    }

    /// Returns untracked parameters.
    fn unpack(&self, theta: &[f64]) -> Unpacked<P> {
        unpack(&self.template, &self.layout, theta, self.tensor_options(), None)
    }

    /// Returns the device and type of new tensors.
    fn tensor_options(&self) -> TensorOptions<'_> {
        TensorOptions { device: self.posterior.eager_device(), dtype: dtype(self.precision) }
    }

    /// Copies the selected observations to the device.
    fn batch(&self, rows: Rows<'_>) -> Result<D> {
        self.posterior.data().batch(rows, self.posterior.eager_device())
    }

    /// Returns c log p(θ) + log |∂x/∂y|, where c is the power of the prior, or `None` if the model has neither a prior
    /// nor a constraint.
    fn prior_term(&self, Unpacked { params, log_jacobian }: Unpacked<P>) -> Result<Option<Tensor<1>>> {
        let power = self.posterior.model().powers().prior;
        let prior = self.posterior.model().log_prior(params)?.map(|value| times(value, power));
        Ok(sum(prior, log_jacobian))
    }

    /// Returns c Σ wᵢ log p(xᵢ|θ), where c is the power of the likelihood, or `None` if there is no likelihood or no
    /// observation.
    fn likelihood_term(&self, params: P, rows: Rows<'_>) -> Result<Option<Tensor<1>>> {
        if rows.is_empty() {
            return Ok(None);
        }
        let power = self.posterior.model().powers().likelihood;
        let Some(terms) = self.posterior.model().log_likelihood(params, self.batch(rows)?, rows.len())? else {
            return Ok(None);
        };
        match rows.weights() {
            Weights::Same(weight) if terms.dims() == [1] => Ok(Some(times(terms, weight * power))),
            Weights::Same(weight) => Ok(Some(times(terms.sum(), weight * power))),
            Weights::Each(weights) => {
                if self.summed {
                    return Err(Error::SummedLikelihood { what: "weighted subsampling" });
                }
                let weights = leaves::vector(weights, self.posterior.eager_device(), dtype(self.precision));
                Ok(Some(times((terms * weights).sum(), power)))
            }
        }
    }

    /// Returns the value of the term that `build` computes from tracked parameters, and adds its gradient to `grad`.
    fn differentiate(
        &self,
        theta: &[f64],
        grad: &mut [f64],
        build: impl FnOnce(Unpacked<P>) -> Result<Option<Tensor<1>>>,
    ) -> Result<f64> {
        let mut tracked: Vec<Box<dyn TrackedLeaf>> = Vec::with_capacity(self.layout.blocks().len());
        let unpacked = unpack(&self.template, &self.layout, theta, self.tensor_options(), Some(&mut tracked));
        let term = match build(unpacked) {
            Ok(Some(term)) => term,
            Ok(None) => return Ok(0.0),
            Err(error) => {
                drop(tracked);
                leaves::free_tape(self.tensor_options());
                return Err(error);
            }
        };
        let value = scalar(&term);
        // A term that does not depend on a parameter has neither a tape nor a gradient.
        if term.is_tracked() {
            let mut gradients = guarded(Closure::LogLikelihood, || term.backward())?;
            for (leaf, block) in tracked.iter().zip(self.layout.blocks()) {
                if let Some(gradient) = leaf.take_gradient(&mut gradients) {
                    read_into(&gradient, &mut grad[block.range.clone()], |sum, value| *sum += value);
                }
            }
        }
        Ok(value)
    }

    /// Checks that the closure returns one term per observation, which `what` requires.
    fn require_terms(&self, what: &'static str) -> Result<()> {
        if self.summed { Err(Error::SummedLikelihood { what }) } else { Ok(()) }
    }
}

impl<P: TensorTree, D: TensorTree> Evaluator for Eager<P, D> {
    fn precision(&self) -> Precision {
        self.precision
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn observations(&self) -> usize {
        self.posterior.data().observations()
    }

    fn prior(&mut self, theta: &[f64], grad: &mut [f64]) -> Result<f64> {
        check_arguments(&self.layout, 0, theta, grad, Rows::range(0..0))?;
        self.differentiate(theta, grad, |unpacked| self.prior_term(unpacked))
    }

    fn likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        check_arguments(&self.layout, self.observations(), theta, grad, rows)?;
        rows.chunks(self.chunk(rows)?)
            .map(|chunk| self.differentiate(theta, grad, |unpacked| self.likelihood_term(unpacked.params, chunk)))
            .sum()
    }

    fn posterior(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        if rows.len() > self.chunk(rows)? {
            return Ok(self.prior(theta, grad)? + self.likelihood(theta, rows, grad)?);
        }
        check_arguments(&self.layout, self.observations(), theta, grad, rows)?;
        // Both closures share a tape, because a second backward pass would cost as much as the first.
        self.differentiate(theta, grad, |Unpacked { params, log_jacobian }| {
            let prior = self.prior_term(Unpacked { params: copy(&params), log_jacobian })?;
            Ok(sum(self.likelihood_term(params, rows)?, prior))
        })
    }

    fn log_density(&mut self, theta: &[f64], rows: Rows<'_>) -> Result<f64> {
        self.layout.check_length(theta)?;
        rows.check(self.observations())?;
        let mut total = self.prior_term(self.unpack(theta))?.map_or(0.0, |term| scalar(&term));
        for chunk in rows.chunks(self.chunk(rows)?) {
            total += self.likelihood_term(self.unpack(theta).params, chunk)?.map_or(0.0, |term| scalar(&term));
        }
        Ok(total)
    }

    fn log_likelihood_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.layout.check_length(theta)?;
        check_output("the output for the log-likelihood of each row", rows.len(), out.len())?;
        self.require_terms("the pointwise log-likelihood")?;
        let mut done = 0;
        for chunk in rows.chunks(self.chunk(rows)?) {
            let out = &mut out[done..done + chunk.len()];
            match self.posterior.model().log_likelihood(self.unpack(theta).params, self.batch(chunk)?, chunk.len())? {
                Some(terms) => read_into(&terms.into_data(), out, |slot, value| *slot = value),
                None => out.fill(0.0),
            }
            done += chunk.len();
        }
        Ok(())
    }

    fn gradient_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let dim = self.dim();
        self.layout.check_length(theta)?;
        rows.check(self.observations())?;
        check_output("the output for the gradient of each row", rows.len() * dim, out.len())?;
        self.require_terms("the gradient of each observation")?;
        // A backward pass of Burn computes one gradient, so each observation needs its own pass.
        out.fill(0.0);
        for (position, gradient) in out.chunks_exact_mut(dim.max(1)).enumerate() {
            let row = rows.row(position);
            self.likelihood(theta, Rows::range(row..row + 1), gradient)?;
        }
        Ok(())
    }
}

/// Returns `tensor` · `factor`.
fn times(tensor: Tensor<1>, factor: f64) -> Tensor<1> {
    #[expect(clippy::float_cmp, reason = "exactly one is the common case and needs no operation")]
    if factor == 1.0 { tensor } else { tensor * factor }
}

/// Returns the sum of the terms that exist.
fn sum(a: Option<Tensor<1>>, b: Option<Tensor<1>>) -> Option<Tensor<1>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (either, None) | (None, either) => either,
    }
}

/// Checks that the value of a closure is finite.
fn finite(closure: Closure, value: f64) -> Result<()> {
    if value.is_finite() { Ok(()) } else { Err(Error::DensityNotFinite { closure, value }) }
}
