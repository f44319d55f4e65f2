//! The eager engine: closures run on Burn tensors of any device, and Burn differentiates.
//!
//! Data stay on the plain device and only the parameters are tracked, so that nothing but what depends on the parameters
//! enters the tape. Values without gradients are computed on plain tensors, which leave no tape behind.

mod leaves;
mod probe;

use std::fmt;

use burn_tensor::Tensor;

use self::leaves::{Place, TrackedLeaf, Unpacked, copy, read_into, scalar, unpack};
use super::{Evaluator, Posterior, check_call, check_output};
use crate::data::{Dataset, Precision, Rows, Selection, Weights};
use crate::error::{Closure, Error, Result};
use crate::layout::Layout;
use crate::model::guarded;
use crate::tree::{TensorTree, to_device};

/// Evaluates a [`Posterior`] with Burn's autodiff.
pub(super) struct Eager<P, D> {
    posterior: Posterior<P, D>,
    template: P,
    layout: Layout,
    /// The coordinates it was started with.
    start: Vec<f64>,
    precision: Precision,
    /// Whether the likelihood comes as a sum over the rows.
    summed: bool,
    /// Whether the term of a row depends on other rows.
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
    pub(super) fn new(posterior: &Posterior<P, D>, start: &P) -> Result<Self> {
        let model = posterior.model();
        let has_likelihood = model.has_likelihood() && posterior.data().observations() > 0;
        if !has_likelihood && !model.has_prior() {
            return Err(Error::EmptyModel);
        }
        let layout = model.layout(start)?;
        let theta = layout.flatten(start)?;
        let precision = posterior.data().precision().or_else(|| leaves::precision(start)).unwrap_or(Precision::Double);
        let mut evaluator = Self {
            posterior: posterior.clone(),
            template: to_device(start, posterior.place()),
            layout,
            start: theta.clone(),
            precision,
            summed: false,
            mixes: false,
        };
        evaluator.probe(&theta)?;
        Ok(evaluator)
    }

    /// The same evaluator on other data, in another precision.
    pub(super) fn on(&self, posterior: &Posterior<P, D>, data: Dataset<D>, precision: Precision) -> Self {
        Self {
            posterior: posterior.on(data),
            template: copy(&self.template),
            layout: self.layout.clone(),
            start: self.start.clone(),
            precision,
            summed: self.summed,
            mixes: self.mixes,
        }
    }

    /// Parameters shaped as those it evaluates.
    pub(super) fn template(&self) -> &P {
        &self.template
    }

    /// The coordinates it was started with.
    pub(super) fn coordinates(&self) -> &[f64] {
        &self.start
    }

    /// Most rows the closure is given at once.
    ///
    /// # Errors
    ///
    /// If the terms depend on other rows and `rows` are not all of them.
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

    /// Calls the closures once at `theta` on two rows, to see what they return before a long run depends on it.
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

    /// Untracked parameters.
    fn unpack(&self, theta: &[f64]) -> Unpacked<P> {
        unpack(&self.template, &self.layout, theta, self.place(), None)
    }

    fn place(&self) -> Place<'_> {
        Place { device: self.posterior.place(), dtype: self.precision.dtype() }
    }

    fn batch(&self, rows: Rows<'_>) -> Result<D> {
        self.posterior.data().batch(rows, self.posterior.place())
    }

    /// powerᵖ log p(θ) + log |∂x/∂y|, as far as there is a prior and a constraint.
    fn prior_term(&self, Unpacked { params, log_jacobian }: Unpacked<P>) -> Result<Option<Tensor<1>>> {
        let (_, power) = self.posterior.model().powers();
        let prior = self.posterior.model().log_prior(params)?.map(|value| times(value, power));
        Ok(sum(prior, log_jacobian))
    }

    /// power Σ wᵢ log p(xᵢ|θ), if there is a likelihood and a row.
    fn likelihood_term(&self, params: P, rows: Rows<'_>) -> Result<Option<Tensor<1>>> {
        if rows.is_empty() {
            return Ok(None);
        }
        let (power, _) = self.posterior.model().powers();
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
                let weights = leaves::vector(weights, self.posterior.place(), self.precision.dtype());
                Ok(Some(times((terms * weights).sum(), power)))
            }
        }
    }

    /// The value of the term that `build` makes from tracked parameters; adds its gradient to `grad`.
    fn differentiate(
        &self,
        theta: &[f64],
        grad: &mut [f64],
        build: impl FnOnce(Unpacked<P>) -> Result<Option<Tensor<1>>>,
    ) -> Result<f64> {
        let mut tracked: Vec<Box<dyn TrackedLeaf>> = Vec::with_capacity(self.layout.blocks().len());
        let unpacked = unpack(&self.template, &self.layout, theta, self.place(), Some(&mut tracked));
        let term = match build(unpacked) {
            Ok(Some(term)) => term,
            Ok(None) => return Ok(0.0),
            Err(error) => {
                drop(tracked);
                leaves::sweep(self.place());
                return Err(error);
            }
        };
        let value = scalar(&term);
        // A term that does not depend on any parameter has no tape and no gradient.
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
        check_call(&self.layout, 0, theta, grad, Rows::range(0..0))?;
        self.differentiate(theta, grad, |unpacked| self.prior_term(unpacked))
    }

    fn likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        check_call(&self.layout, self.observations(), theta, grad, rows)?;
        rows.chunks(self.chunk(rows)?)
            .map(|chunk| self.differentiate(theta, grad, |unpacked| self.likelihood_term(unpacked.params, chunk)))
            .sum()
    }

    fn posterior(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        if rows.len() > self.chunk(rows)? {
            return Ok(self.prior(theta, grad)? + self.likelihood(theta, rows, grad)?);
        }
        check_call(&self.layout, self.observations(), theta, grad, rows)?;
        // One tape for both closures: a second backward pass would cost as much as the first.
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

    fn pointwise(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.layout.check_length(theta)?;
        check_output("the output for the log-likelihood of each row", rows.len(), out.len())?;
        self.require_terms("the pointwise log-likelihood")?;
        let mut done = 0;
        for chunk in rows.chunks(self.chunk(rows)?) {
            let out = &mut out[done..done + chunk.len()];
            match self.posterior.model().log_likelihood(self.unpack(theta).params, self.batch(chunk)?, chunk.len())? {
                Some(terms) => read_into(&terms.into_data(), out, |place, value| *place = value),
                None => out.fill(0.0),
            }
            done += chunk.len();
        }
        Ok(())
    }

    fn per_datum(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let dim = self.dim();
        self.layout.check_length(theta)?;
        rows.check(self.observations())?;
        check_output("the output for the gradient of each row", rows.len() * dim, out.len())?;
        self.require_terms("the gradient of each observation")?;
        // Burn's tape gives one gradient per backward pass, so this is one pass per observation.
        out.fill(0.0);
        for (position, gradient) in out.chunks_exact_mut(dim.max(1)).enumerate() {
            let row = rows.row(position);
            self.likelihood(theta, Rows::range(row..row + 1), gradient)?;
        }
        Ok(())
    }
}

fn times(tensor: Tensor<1>, factor: f64) -> Tensor<1> {
    #[expect(clippy::float_cmp, reason = "exactly one is the common case and needs no operation")]
    if factor == 1.0 { tensor } else { tensor * factor }
}

fn sum(a: Option<Tensor<1>>, b: Option<Tensor<1>>) -> Option<Tensor<1>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (either, None) | (None, either) => either,
    }
}

fn finite(closure: Closure, value: f64) -> Result<()> {
    if value.is_finite() { Ok(()) } else { Err(Error::DensityNotFinite { closure, value }) }
}
