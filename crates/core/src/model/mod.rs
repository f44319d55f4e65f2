//! Models: a log-likelihood and a log-prior, written as closures over tensors.

mod closure;
mod quiet;

use std::fmt;
use std::sync::Arc;

use burn_tensor::Tensor;

pub(crate) use closure::guarded;
use closure::{AnyRank, rank_one};
pub(crate) use quiet::quietly;

use crate::constraint::Constraint;
use crate::data::Dataset;
use crate::engine::Posterior;
use crate::error::{Closure, Error, Result};
use crate::layout::Layout;
use crate::tree::TensorTree;

type LogLikelihood<P, D> = Arc<dyn Fn(P, D) -> AnyRank + Send + Sync>;
type LogPrior<P> = Arc<dyn Fn(P) -> AnyRank + Send + Sync>;

/// A log-likelihood and a log-prior over parameters `P` and observations `D`. Cheap to clone.
///
/// Closures take their arguments by value, because Burn's operators consume tensors. The log-likelihood returns one entry
/// per observation (shape `[n]`), or their sum (shape `[1]`), which does for plain minibatches but not for what needs
/// the terms one by one. Everything must be built from the arguments, so that the closure runs unchanged on plain,
/// autodiff and capture devices.
///
/// ```
/// use burn_tensor::Tensor;
/// use sgmcmc_core::{Dataset, Model, array, zeros};
///
/// // xᵢ ~ N(θ, 1), θ ~ N(0, 10²)
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5)
///     .prior(|theta: Tensor<1>| theta.square() * -0.005);
/// let data = Dataset::new(array(vec![0.9, 1.1, 1.3], [3])?)?;
/// let mut evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let mut gradient = [0.0_f64];
/// evaluator.posterior(&[1.0], sgmcmc_core::Rows::range(0..3), &mut gradient)?;
/// assert!((gradient[0] - (0.3 - 0.01)).abs() < 1e-12);
/// # Ok::<(), sgmcmc_core::Error>(())
/// ```
pub struct Model<P, D = ()> {
    log_likelihood: Option<LogLikelihood<P, D>>,
    log_prior: Option<LogPrior<P>>,
    /// The power of the whole density: one over the temperature.
    power: f64,
    /// The power of the prior alone.
    prior_power: f64,
    shapes: Vec<(String, Vec<usize>)>,
    constraints: Vec<(String, Constraint)>,
}

impl<P, D> Clone for Model<P, D> {
    fn clone(&self) -> Self {
        Self {
            log_likelihood: self.log_likelihood.clone(),
            log_prior: self.log_prior.clone(),
            power: self.power,
            prior_power: self.prior_power,
            shapes: self.shapes.clone(),
            constraints: self.constraints.clone(),
        }
    }
}

impl<P, D> fmt::Debug for Model<P, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("log_likelihood", &self.log_likelihood.is_some())
            .field("log_prior", &self.log_prior.is_some())
            .field("power", &self.power)
            .field("prior_power", &self.prior_power)
            .field("shapes", &self.shapes)
            .field("constraints", &self.constraints)
            .finish()
    }
}

impl<P: TensorTree> Model<P> {
    /// A model without data: a log density alone.
    pub fn density<const R: usize>(log_density: impl Fn(P) -> Tensor<R> + Send + Sync + 'static) -> Self {
        Self::bare().prior(log_density)
    }
}

impl<P: TensorTree, D: TensorTree> Model<P, D> {
    /// A model with this log-likelihood and a flat prior.
    pub fn new<const R: usize>(log_likelihood: impl Fn(P, D) -> Tensor<R> + Send + Sync + 'static) -> Self {
        let log_likelihood: LogLikelihood<P, D> = Arc::new(move |params, rows| rank_one(log_likelihood(params, rows)));
        Self { log_likelihood: Some(log_likelihood), ..Self::bare() }
    }

    /// The same model with this log-prior, which returns one number (shape `[1]`).
    #[must_use]
    pub fn prior<const R: usize>(self, log_prior: impl Fn(P) -> Tensor<R> + Send + Sync + 'static) -> Self {
        Self { log_prior: Some(Arc::new(move |params| rank_one(log_prior(params)))), ..self }
    }

    /// The same model at temperature T: the target becomes p(θ|x)^{1/T}, prior and likelihood alike. The Jacobian of constraints is not
    /// tempered. A run at temperature S on this model samples p(θ|x)^{1/(ST)}.
    ///
    /// # Errors
    ///
    /// If the temperature is not a positive number.
    pub fn temperature(self, temperature: f64) -> Result<Self> {
        Ok(Self { power: 1.0 / positive("temperature", temperature)?, ..self })
    }

    /// The same model with the prior raised to `power`, as the shards of a divided data set need.
    ///
    /// # Errors
    ///
    /// If the power is not a positive number.
    pub fn prior_power(self, power: f64) -> Result<Self> {
        Ok(Self { prior_power: positive("prior power", power)?, ..self })
    }

    /// Declares the shape of the parameter at `path`; start values are checked against it.
    #[must_use]
    pub fn shape(mut self, path: impl Into<String>, shape: impl Into<Vec<usize>>) -> Self {
        self.shapes.push((path.into(), shape.into()));
        self
    }

    /// Constrains the values of the parameter at `path`, as `#[tree(positive)]` and its like do on a field.
    #[must_use]
    pub fn constrain(mut self, path: impl Into<String>, constraint: Constraint) -> Self {
        self.constraints.push((path.into(), constraint));
        self
    }

    /// The posterior given `data`: what samplers and optimisers are pointed at.
    pub fn with(&self, data: &Dataset<D>) -> Posterior<P, D> {
        Posterior::new(self.clone(), data.clone())
    }

    /// Whether there is a log-likelihood.
    pub fn has_likelihood(&self) -> bool {
        self.log_likelihood.is_some()
    }

    /// Whether there is a log-prior.
    pub fn has_prior(&self) -> bool {
        self.log_prior.is_some()
    }

    /// Calls the log-likelihood closure on tensors of any device; `n` is the number of rows in `rows`.
    ///
    /// The answer has shape `[n]` or `[1]`; it is not tempered.
    ///
    /// # Errors
    ///
    /// If the closure panics or returns another shape. A model without likelihood answers zero per row.
    pub fn log_likelihood(&self, params: P, rows: D, n: usize) -> Result<Option<Tensor<1>>> {
        let Some(log_likelihood) = &self.log_likelihood else { return Ok(None) };
        match guarded(Closure::LogLikelihood, || log_likelihood(params, rows))? {
            Ok(tensor) if [1, n].contains(&tensor.dims()[0]) => Ok(Some(tensor)),
            Ok(tensor) => Err(Error::LikelihoodShape { shape: tensor.dims().to_vec(), rows: n }),
            Err(shape) => Err(Error::LikelihoodShape { shape, rows: n }),
        }
    }

    /// Calls the log-prior closure on tensors of any device. The answer has shape `[1]`; it is not tempered.
    ///
    /// # Errors
    ///
    /// If the closure panics or returns another shape.
    pub fn log_prior(&self, params: P) -> Result<Option<Tensor<1>>> {
        let Some(log_prior) = &self.log_prior else { return Ok(None) };
        match guarded(Closure::LogPrior, || log_prior(params))? {
            Ok(tensor) if tensor.dims() == [1] => Ok(Some(tensor)),
            Ok(tensor) => Err(Error::PriorShape { shape: tensor.dims().to_vec() }),
            Err(shape) => Err(Error::PriorShape { shape }),
        }
    }

    /// The powers of the likelihood and of the prior in the target.
    pub(crate) fn powers(&self) -> (f64, f64) {
        (self.power, self.power * self.prior_power)
    }

    /// The layout of parameters shaped as `start`, with the shapes and constraints declared here.
    ///
    /// # Errors
    ///
    /// If `start` has other shapes than declared, or a declaration is about a parameter that is not there.
    pub fn layout(&self, start: &P) -> Result<Layout> {
        let mut layout = Layout::of(start)?;
        for (name, declared) in &self.shapes {
            let block = layout.block(name)?;
            if block.shape != *declared {
                let (parameter, declared, found) = (name.clone(), declared.clone(), block.shape.clone());
                return Err(Error::ParameterShape { parameter, declared, found });
            }
        }
        for (name, constraint) in &self.constraints {
            layout = layout.constrained(name, *constraint)?;
        }
        Ok(layout)
    }

    fn bare() -> Self {
        Self {
            log_likelihood: None,
            log_prior: None,
            power: 1.0,
            prior_power: 1.0,
            shapes: vec![],
            constraints: vec![],
        }
    }
}

fn positive(name: &'static str, value: f64) -> Result<f64> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(Error::Setting { name, value: value.to_string(), expected: "it must be a positive number" })
    }
}
