//! A model and its data.

use std::fmt;
use std::sync::{Arc, OnceLock};

use burn_tensor::Device;

use super::compiled::{self, SheetCache};
use super::eager::Eager;
use super::{Engine, Evaluator, Target, fingerprint, support};
use crate::array::default_device;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::model::Model;
use crate::tree::TensorTree;

/// Rows evaluated at once by default: enough to hide Burn's cost per operation, few enough to stay in cache.
const CHUNK_ROWS: usize = 8192;

/// A model and its data: the density that samplers explore.
///
/// | setting | default | purpose |
/// |---|---|---|
/// | [`engine`](Self::engine) | [`Engine::Auto`] | how the closures are run |
/// | [`device`](Self::device) | [`default_device`] | where the eager engine runs them |
/// | [`chunk_rows`](Self::chunk_rows) | 8192 | most rows a closure is given at once; bounds the memory of a full pass |
pub struct Posterior<P, D> {
    model: Model<P, D>,
    data: Dataset<D>,
    engine: Engine,
    device: Device,
    chunk_rows: usize,
    compiled: Arc<SheetCache>,
    /// Whether the data are inside the support of their distributions; looked at once.
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
    /// The observations.
    pub fn data(&self) -> &Dataset<D> {
        &self.data
    }

    /// The model.
    pub fn model(&self) -> &Model<P, D> {
        &self.model
    }

    /// Where the eager engine runs the closures.
    pub(super) fn place(&self) -> &Device {
        &self.device
    }

    /// Most rows a closure is given at once.
    pub(super) fn chunk(&self) -> usize {
        self.chunk_rows
    }

    /// What was compiled for this posterior.
    pub(super) fn compiled(&self) -> &SheetCache {
        &self.compiled
    }
}

impl<P: TensorTree, D: TensorTree> Posterior<P, D> {
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

    /// Runs the closures with `engine`.
    #[must_use]
    pub fn engine(self, engine: Engine) -> Self {
        Self { engine, ..self }
    }

    /// Lets the eager engine run the closures on `device`. Only the default device has another engine.
    #[must_use]
    pub fn device(self, device: Device) -> Self {
        Self { device, ..self }
    }

    /// Evaluates at most `rows` observations at once.
    #[must_use]
    pub fn chunk_rows(self, rows: usize) -> Self {
        Self { chunk_rows: rows.max(1), ..self }
    }

    /// The same posterior given other data.
    pub(super) fn on(&self, data: Dataset<D>) -> Self {
        Self { data, compiled: Arc::default(), supported: Arc::default(), ..self.clone() }
    }

    /// What the engine makes of the closures for parameters shaped as `start`: operations before and after, buffers, bytes, or
    /// the reason why they are not compiled.
    ///
    /// # Errors
    ///
    /// As [`evaluator`](Self::evaluator).
    pub fn explain(&self, start: &P) -> Result<String> {
        let eager = Eager::new(self, start)?;
        Ok(match self.engine {
            Engine::Eager => "eager: asked for\n".into(),
            Engine::Auto if self.device != default_device() => format!("eager: on {:?}\n", self.device),
            Engine::Auto | Engine::Compiled => compiled::explain(self, &eager),
        })
    }

    /// An evaluator for parameters shaped as `start`.
    ///
    /// # Errors
    ///
    /// If the closures panic, return other shapes than they should or no finite number at `start`; if data are outside the support of
    /// their distribution; if `start` is not as declared; if there is neither a likelihood nor a prior; if the closures cannot be compiled and [`Engine::Compiled`] is
    /// asked for.
    pub fn evaluator(&self, start: &P) -> Result<Box<dyn Evaluator>> {
        let eager = Eager::new(self, start)?;
        self.supported.get_or_init(|| support::check(&eager)).clone()?;
        match self.engine {
            Engine::Eager => Ok(Box::new(eager.with_mixing())),
            Engine::Auto if self.device != default_device() => Ok(Box::new(eager.with_mixing())),
            Engine::Auto => match compiled::evaluator(self, eager) {
                Ok(evaluator) => Ok(evaluator),
                Err(reason) => {
                    reason.report();
                    Ok(Box::new(Eager::new(self, start)?.with_mixing()))
                }
            },
            Engine::Compiled => {
                compiled::evaluator(self, eager).map_err(|reason| Error::NotCompiled { reason: reason.to_string() })
            }
        }
    }
}

impl<P: TensorTree, D: TensorTree> Target for Posterior<P, D> {
    type Params = P;

    fn evaluator(&self, start: &P) -> Result<Box<dyn Evaluator>> {
        Self::evaluator(self, start)
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        Some(fingerprint::of(self.data.columns()))
    }
}
