//! Models: a log-likelihood and a log-prior, written as closures over tensors.

mod observation;
mod part;
mod prior;
mod quantity;
mod simulate;

use std::fmt;
use std::sync::Arc;

use burn_tensor::Tensor;

use observation::Observation;
pub(crate) use observation::leaf_names;
pub use part::Conditioned;
use prior::DrawPrior;
use quantity::Quantity;

use crate::closure::{RankOne, guarded, rank_one};
use crate::tree::{TensorTree, TreeLayout};
use sgmcmc_gradient::Constraint;
use sgmcmc_gradient::error::{Closure, Error, Result};
use sgmcmc_gradient::layout::Layout;

type LogLikelihood<P, D> = Arc<dyn Fn(P, D) -> RankOne + Send + Sync>;
type LogPrior<P> = Arc<dyn Fn(P) -> RankOne + Send + Sync>;

/// Combines two optional terms of shape `[1]`.
fn sum(a: Option<Tensor<1>>, b: Option<Tensor<1>>) -> Option<Tensor<1>> {
    crate::tree::prior::sum(a, b)
}

/// A log-likelihood and a log-prior over parameters `P` and observations `D`.
///
/// A model is created from a log-likelihood ([`new`](Self::new)), from a distribution of the observations
/// ([`observe`](Self::observe)), which can also be drawn, or from a log density without data
/// ([`density`](Model::density)). The prior is declared beside the fields of the parameters, `#[tree(prior = …)]`, or is
/// a closure ([`prior`](Self::prior)).
///
/// Closures take their arguments by value, because Burn's operators consume tensors. The log-likelihood returns one
/// entry per observation (shape `[n]`), or their sum (shape `[1]`). The sum is enough for minibatches of equal weights,
/// but not for methods that need the term of each observation. Closures must create all tensors from their arguments,
/// so that they run unchanged on plain, autodiff and capture devices.
///
/// A panic in a closure is returned as an error and is not printed. To this end, the first evaluation of a model installs
/// a process-wide panic hook. It ignores panics of threads that are running a closure of a model, and forwards all other
/// panics to the hook that was installed before.
///
/// Cloning a model is cheap: the closures are shared.
///
/// # Examples
///
/// ```
/// use sgmcmc::data::Rows;
/// use sgmcmc::prelude::*;
///
/// // xᵢ ~ N(θ, 1), θ ~ N(0, 10²)
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5)
///     .prior(|theta: Tensor<1>| theta.square() * -0.005);
/// let data = Dataset::new(array(vec![0.9, 1.1, 1.3], [3])?)?;
/// let mut evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let mut gradient = [0.0];
/// evaluator.posterior(&[1.0], Rows::range(0..3), &mut gradient)?;
/// assert!((gradient[0] - (0.3 - 0.01)).abs() < 1e-12);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub struct Model<P, D = ()> {
    log_likelihood: Option<LogLikelihood<P, D>>,
    log_prior: Option<LogPrior<P>>,
    /// A term of the log density besides the priors of the fields.
    factor: Option<LogPrior<P>>,
    /// Draws parameters from the prior.
    draw_prior: Option<DrawPrior<P>>,
    /// The distribution of the observations.
    observation: Option<Arc<dyn Observation<P, D>>>,
    /// The generated quantities.
    quantities: Vec<Quantity<P>>,
    /// The power of the whole density, the inverse of the temperature.
    power: f64,
    /// The power of the prior.
    prior_power: f64,
    /// The declared shapes of parameters, by path.
    shapes: Vec<(String, Vec<usize>)>,
    /// The declared constraints of parameters, by path.
    constraints: Vec<(String, Constraint)>,
}

impl<P, D> Clone for Model<P, D> {
    fn clone(&self) -> Self {
        Self {
            log_likelihood: self.log_likelihood.clone(),
            log_prior: self.log_prior.clone(),
            factor: self.factor.clone(),
            draw_prior: self.draw_prior.clone(),
            observation: self.observation.clone(),
            quantities: self.quantities.clone(),
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
            .field("factor", &self.factor.is_some())
            .field("observation", &self.observation.is_some())
            .field("quantities", &self.quantities)
            .field("power", &self.power)
            .field("prior_power", &self.prior_power)
            .field("shapes", &self.shapes)
            .field("constraints", &self.constraints)
            .finish()
    }
}

impl<P: TensorTree> Model<P> {
    /// Creates a model without data from a log density.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::data::Rows;
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let mut evaluator = model.with(&Dataset::none()).evaluator(&zeros([2]))?;
    /// assert_eq!(evaluator.log_density(&[1.0, 2.0], Rows::range(0..0))?, -2.5);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn density<const R: usize>(log_density: impl Fn(P) -> Tensor<R> + Send + Sync + 'static) -> Self {
        Self::empty().prior(log_density)
    }
}

impl<P: TensorTree, D: TensorTree> Model<P, D> {
    /// Creates a model with this log-likelihood and a flat prior.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributions::*;
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
    /// assert!(model.has_likelihood() && !model.has_prior());
    /// ```
    pub fn new<const R: usize>(log_likelihood: impl Fn(P, D) -> Tensor<R> + Send + Sync + 'static) -> Self {
        let log_likelihood: LogLikelihood<P, D> = Arc::new(move |params, data| rank_one(log_likelihood(params, data)));
        Self { log_likelihood: Some(log_likelihood), ..Self::empty() }
    }

    /// Returns this model with the log-prior `log_prior`, which returns one number (shape `[1]`).
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributions::*;
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x))
    ///     .prior(|mean: Tensor<1>| Normal::new(0.0, 10.0).log_prob(mean).sum());
    /// assert!(model.has_prior());
    /// ```
    #[must_use]
    pub fn prior<const R: usize>(self, log_prior: impl Fn(P) -> Tensor<R> + Send + Sync + 'static) -> Self {
        Self { log_prior: Some(Arc::new(move |params| rank_one(log_prior(params)))), ..self }
    }

    /// Returns this model at temperature T. Its target is p(θ|x)^{1/T}.
    ///
    /// Both the prior and the likelihood are tempered; the Jacobian of constraints is not. A run at temperature S on
    /// this model samples p(θ|x)^{1/(ST)}.
    ///
    /// # Errors
    ///
    /// Returns an error if the temperature is not a positive number.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::data::Rows;
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5).temperature(2.0)?;
    /// let mut evaluator = model.with(&Dataset::none()).evaluator(&zeros([1]))?;
    /// assert_eq!(evaluator.log_density(&[2.0], Rows::range(0..0))?, -1.0);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn temperature(self, temperature: f64) -> Result<Self> {
        Ok(Self { power: 1.0 / positive("temperature", temperature)?, ..self })
    }

    /// Returns this model with the prior raised to `power`.
    ///
    /// Methods that divide a data set into K shards and sample each with a model of its own raise the prior to the
    /// power 1/K.
    ///
    /// # Errors
    ///
    /// Returns an error if the power is not a positive number.
    pub fn prior_power(self, power: f64) -> Result<Self> {
        Ok(Self { prior_power: positive("prior power", power)?, ..self })
    }

    /// Declares the shape of the parameter at `path`. Initial values are checked against it.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5).shape("theta", [3]);
    /// assert!(model.layout(&zeros([3])).is_ok());
    /// assert!(model.layout(&zeros([2])).is_err());
    /// ```
    #[must_use]
    pub fn shape(mut self, path: impl Into<String>, shape: impl Into<Vec<usize>>) -> Self {
        self.shapes.push((path.into(), shape.into()));
        self
    }

    /// Constrains the values of the parameter at `path`. Attributes such as `#[tree(positive)]` do the same for a
    /// field.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|rate: Tensor<1>| rate.sum().neg()).constrain("theta", Constraint::Positive);
    /// let layout = model.layout(&ones([1]))?;
    /// assert_eq!(layout.blocks()[0].constraint, Some(Constraint::Positive));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    #[must_use]
    pub fn constrain(mut self, path: impl Into<String>, constraint: Constraint) -> Self {
        self.constraints.push((path.into(), constraint));
        self
    }

    /// Returns whether the model has a log-likelihood.
    pub fn has_likelihood(&self) -> bool {
        self.log_likelihood.is_some()
    }

    /// Returns whether the model has a log-prior: a closure, or priors on the fields of the parameters.
    pub fn has_prior(&self) -> bool {
        self.log_prior.is_some() || self.factor.is_some() || P::HAS_PRIOR
    }

    /// Calls the log-likelihood closure on tensors of any device. `n` is the number of observations in `data`.
    ///
    /// The result has shape `[n]` or `[1]` and is not tempered. It is `None` if the model has no log-likelihood.
    ///
    /// # Errors
    ///
    /// Returns an error if the closure panics or returns another shape.
    pub fn log_likelihood(&self, params: P, data: D, n: usize) -> Result<Option<Tensor<1>>> {
        let Some(log_likelihood) = &self.log_likelihood else { return Ok(None) };
        match guarded(Closure::LogLikelihood, || log_likelihood(params, data))? {
            Ok(tensor) if [1, n].contains(&tensor.dims()[0]) => Ok(Some(tensor)),
            Ok(tensor) => Err(Error::LikelihoodShape { shape: tensor.dims().to_vec(), rows: n }),
            Err(shape) => Err(Error::LikelihoodShape { shape, rows: n }),
        }
    }

    /// Returns the powers of the likelihood and of the prior in the target.
    pub(crate) fn powers(&self) -> Powers {
        Powers { likelihood: self.power, prior: self.power * self.prior_power }
    }

    /// Returns the layout of parameters with the structure of `start`, and with the constraints declared on this model.
    ///
    /// # Errors
    ///
    /// Returns an error if `start` has other shapes than declared, or if a declaration names a parameter that does not
    /// exist.
    pub fn layout(&self, start: &P) -> Result<Layout> {
        let mut layout = Layout::from_tree(start)?;
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

    /// Creates a model without closures.
    fn empty() -> Self {
        Self {
            log_likelihood: None,
            log_prior: None,
            factor: None,
            draw_prior: None,
            observation: None,
            quantities: vec![],
            power: 1.0,
            prior_power: 1.0,
            shapes: vec![],
            constraints: vec![],
        }
    }
}

/// The powers of the likelihood and of the prior in the target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Powers {
    /// The power of the likelihood.
    pub(crate) likelihood: f64,
    /// The power of the prior.
    pub(crate) prior: f64,
}

/// Checks that a setting is a positive number and returns it.
fn positive(name: &'static str, value: f64) -> Result<f64> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(Error::Setting { name, value: value.to_string(), expected: "it must be a positive number" })
    }
}
