//! A model and its data.

use std::fmt;
use std::sync::{Arc, OnceLock};

use burn_tensor::Device;

use super::compiled::{self, CompilationCache};
use super::eager::Eager;
use super::{Engine, support};
use crate::array::default_device;
use crate::data::Dataset;
use crate::model::Model;
use crate::sequence::{briefly, is_brief};
use crate::tree::{TensorTree, TreeLayout};
use sgmcmc_gradient::data::{Rows, fingerprint};
use sgmcmc_gradient::error::{Closure, Error, Result};
use sgmcmc_gradient::fingerprint::Fingerprint;
use sgmcmc_gradient::{ConditionOn, Evaluator, Layout, Target};

/// The default number of observations per call of a closure. It is large enough to amortize Burn's overhead per
/// operation, and small enough for intermediate results to fit in the cache.
const CHUNK_ROWS: usize = 8192;

/// A model conditioned on data: the target density of samplers.
///
/// | setting | default | meaning |
/// |---|---|---|
/// | [`engine`](Self::engine) | [`Engine::Auto`] | engine that evaluates the closures |
/// | [`device`](Self::device) | [`default_device`] | device of the eager engine |
/// | [`chunk_rows`](Self::chunk_rows) | 8192 | maximum number of observations per call; bounds memory use |
///
/// # Examples
///
/// ```
/// use sgmcmc::data::Rows;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let posterior = model.with(&Dataset::new(array(vec![1.0, 3.0], [2])?)?);
/// let mut evaluator = posterior.evaluator(&zeros([1]))?;
/// assert_eq!(evaluator.log_density(&[2.0], Rows::range(0..2))?, -1.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub struct Posterior<P, D> {
    model: Model<P, D>,
    data: Dataset<D>,
    engine: Engine,
    device: Device,
    chunk_rows: usize,
    /// The results of compilation, shared by all chains.
    compiled: Arc<CompilationCache>,
    /// The result of the check that the data are in the support of their distributions.
    supported: Arc<OnceLock<Result<()>>>,
}

impl<P, D> Clone for Posterior<P, D> {
    fn clone(&self) -> Self {
        Self {
            model: self.model.clone(),
            data: self.data.clone(),
            engine: self.engine,
            device: self.device.clone(),
            chunk_rows: self.chunk_rows,
            compiled: self.compiled.clone(),
            supported: self.supported.clone(),
        }
    }
}

impl<P, D> fmt::Debug for Posterior<P, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Posterior")
            .field("model", &self.model)
            .field("data", &self.data)
            .field("engine", &self.engine)
            .field("device", &self.device)
            .field("chunk_rows", &self.chunk_rows)
            .finish_non_exhaustive()
    }
}

impl<P, D> Posterior<P, D> {
    /// Returns the observations.
    pub fn data(&self) -> &Dataset<D> {
        &self.data
    }

    /// Returns the model.
    pub fn model(&self) -> &Model<P, D> {
        &self.model
    }

    /// Returns the device of the eager engine.
    pub(super) fn eager_device(&self) -> &Device {
        &self.device
    }

    /// Returns the maximum number of observations per call of a closure.
    pub(super) fn chunk(&self) -> usize {
        self.chunk_rows
    }

    /// Returns the cache of compilations of this posterior.
    pub(super) fn compiled(&self) -> &CompilationCache {
        &self.compiled
    }
}

impl<P: TensorTree, D: TensorTree> Posterior<P, D> {
    /// Creates the posterior of `model` given `data`, with default settings.
    pub(crate) fn new(model: Model<P, D>, data: Dataset<D>) -> Self {
        let (engine, device) = (Engine::default(), default_device());
        Self {
            model,
            data,
            engine,
            device,
            chunk_rows: CHUNK_ROWS,
            compiled: Arc::default(),
            supported: Arc::default(),
        }
    }

    /// Sets the engine that evaluates the closures.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::Engine;
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let posterior = model.with(&Dataset::none()).engine(Engine::Eager);
    /// assert!(posterior.explain(&zeros([1]))?.starts_with("eager"));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    #[must_use]
    pub fn engine(self, engine: Engine) -> Self {
        Self { engine, ..self }
    }

    /// Sets the device of the eager engine. The compiled engine runs only on the default device.
    #[must_use]
    pub fn device(self, device: Device) -> Self {
        Self { device, ..self }
    }

    /// Sets the maximum number of observations per call of a closure.
    #[must_use]
    pub fn chunk_rows(self, rows: usize) -> Self {
        Self { chunk_rows: rows.max(1), ..self }
    }

    /// Returns this posterior given other data.
    pub(super) fn with_data(&self, data: Dataset<D>) -> Self {
        Self { data, compiled: Arc::default(), supported: Arc::default(), ..self.clone() }
    }

    /// Describes the compiled program for parameters with the structure of `start`: the number of operations before and
    /// after simplification, and the number and size of buffers. If the closures are not compiled, returns the reason.
    ///
    /// # Errors
    ///
    /// Returns an error under the same conditions as [`evaluator`](Self::evaluator), except if the closures cannot be
    /// compiled.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
    /// let posterior = model.with(&Dataset::new(array(vec![1.0, 3.0], [2])?)?);
    /// assert!(posterior.explain(&zeros([1]))?.starts_with("compiled, f64"));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn explain(&self, start: &P) -> Result<String> {
        briefly(|| self.description(start)).0
    }

    fn description(&self, start: &P) -> Result<String> {
        let eager = Eager::new(self, start)?;
        Ok(match self.engine {
            Engine::Eager => "eager: requested\n".into(),
            Engine::Auto if self.device != default_device() => format!("eager: on {:?}\n", self.device),
            Engine::Auto | Engine::Compiled => compiled::explain(self, &eager),
        })
    }

    /// Creates an evaluator for parameters with the structure of `start`.
    ///
    /// # Errors
    ///
    /// Returns an error
    ///
    /// - if a closure panics, returns a wrong shape, or is not finite at `start`;
    /// - if data are outside the support of their distribution;
    /// - if `start` does not have the declared shapes, or violates a constraint;
    /// - if the model has neither a likelihood nor a prior;
    /// - if the closures cannot be compiled and the engine is [`Engine::Compiled`].
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::data::Rows;
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
    /// let posterior = model.with(&Dataset::new(array(vec![1.0, 3.0], [2])?)?);
    /// let mut evaluator = posterior.evaluator(&zeros([1]))?;
    /// let mut terms = [0.0; 2];
    /// evaluator.log_likelihood_per_observation(&[1.0], Rows::range(0..2), &mut terms)?;
    /// assert_eq!(terms, [0.0, -2.0]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn evaluator(&self, start: &P) -> Result<Box<dyn Evaluator>> {
        // The checks execute the first steps of long loops only. All steps are executed once afterwards.
        let (made, cut) = briefly(|| self.checked_evaluator(start));
        let mut made = made?;
        if cut && !is_brief() {
            made.check_all_steps(start)?;
        }
        Ok(made.evaluator)
    }

    fn checked_evaluator(&self, start: &P) -> Result<Made> {
        let eager = Eager::new(self, start)?;
        self.supported.get_or_init(|| support::check(&eager)).clone()?;
        match self.engine {
            Engine::Eager => Ok(Made::eager(eager)),
            Engine::Auto if self.device != default_device() => Ok(Made::eager(eager)),
            Engine::Auto => match compiled::evaluator(self, eager) {
                Ok(evaluator) => Ok(Made { evaluator, is_compiled: true }),
                Err(error) => {
                    error.warn_once();
                    Ok(Made::eager(Eager::new(self, start)?))
                }
            },
            Engine::Compiled => match compiled::evaluator(self, eager) {
                Ok(evaluator) => Ok(Made { evaluator, is_compiled: true }),
                Err(error) => Err(Error::NotCompiled { reason: error.to_string() }),
            },
        }
    }
}

/// A new evaluator.
struct Made {
    evaluator: Box<dyn Evaluator>,
    is_compiled: bool,
}

impl Made {
    fn eager<P: TensorTree, D: TensorTree>(eager: Eager<P, D>) -> Self {
        Self { evaluator: Box::new(eager.with_mixing()), is_compiled: false }
    }

    /// Checks that the log density is finite at `start`, where the other checks executed the first steps of long loops.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not.
    fn check_all_steps<P: TensorTree>(&mut self, start: &P) -> Result<()> {
        let Self { evaluator, is_compiled } = self;
        let theta = TreeLayout::flatten(evaluator.layout(), start)?;
        let rows = Rows::range(0..evaluator.observations().min(2));
        // A compiled gradient costs little more than the value, and its program exists already.
        let value = if *is_compiled {
            evaluator.posterior(&theta, rows, &mut vec![0.0; theta.len()])
        } else {
            evaluator.log_density(&theta, rows)
        };
        match value {
            Ok(value) if value.is_finite() => Ok(()),
            Ok(value) => Err(Error::DensityNotFinite { closure: Closure::LogLikelihood, value }),
            // Observations that depend on each other are evaluated together, not two of them.
            Err(Error::MixedRows { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl<P: TensorTree, D: TensorTree> Model<P, D> {
    /// Returns the posterior given `data`.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
    /// let posterior = model.with(&Dataset::new(array(vec![1.0, 2.0], [2])?)?);
    /// assert_eq!(posterior.data().observations(), 2);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn with(&self, data: &Dataset<D>) -> Posterior<P, D> {
        Posterior::new(self.clone(), data.clone())
    }
}

impl<P: TensorTree, D: TensorTree> ConditionOn<Dataset<D>> for Model<P, D> {
    type Target = Posterior<P, D>;

    fn condition_on(&self, data: &Dataset<D>) -> Posterior<P, D> {
        self.with(data)
    }
}

impl<P: TensorTree, D: TensorTree> Target for Posterior<P, D> {
    type Params = P;

    fn evaluator(&self, start: &P) -> Result<Box<dyn Evaluator>> {
        Self::evaluator(self, start)
    }

    fn layout(&self, params: &P) -> Result<Layout> {
        self.model.layout(params)
    }

    fn flatten(&self, layout: &Layout, params: &P) -> Result<Vec<f64>> {
        TreeLayout::flatten(layout, params)
    }

    fn unflatten(&self, layout: &Layout, like: &P, theta: &[f64]) -> Result<P> {
        TreeLayout::unflatten(layout, like, theta, &default_device())
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        Some(fingerprint(self.data.columns()))
    }
}
