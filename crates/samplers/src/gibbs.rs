//! Gibbs updates: an update of some parameters or latent variables after every step of the sampler.
//!
//! An update draws some parameters from their conditional distribution given all others. The chain leaves the posterior
//! invariant if the sampler and the update both do. Changed values are written back through the layout, so that
//! constraints hold.

use std::fmt;
use std::sync::Arc;

use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Block, Error, Evaluator, Layout, Result};

use crate::chain::{Chain, Cost, StepInfo};
use crate::prediction::PredictionPlan;
use sgmcmc_fit::Bias;

/// The values of all parameters, accessible by name, for a [`GibbsUpdate`].
#[derive(Debug)]
pub struct Values<'a> {
    layout: &'a Layout,
    values: &'a mut [f64],
}

impl Values<'_> {
    /// Returns the values of the parameter `name`, in row-major order.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no parameter of this name.
    pub fn get(&self, name: &str) -> Result<&[f64]> {
        Ok(&self.values[self.layout.block(name)?.values.clone()])
    }

    /// Sets the values of the parameter `name`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no parameter of this name or it has another size. Constraints are checked after the
    /// update.
    pub fn set(&mut self, name: &str, values: &[f64]) -> Result<()> {
        let range = self.layout.block(name)?.values.clone();
        if range.len() != values.len() {
            let (expected, found) = (range.len(), values.len());
            return Err(Error::Length { what: "the values of a Gibbs step", expected, found });
        }
        self.values[range].copy_from_slice(values);
        Ok(())
    }
}

/// An update of some parameters that follows every step of the sampler.
///
/// State between calls, such as latent variables, can be part of checkpoints. Closures
/// `FnMut(&mut Values, &mut StreamRng) -> Result<()>` implement this trait.
///
/// # Examples
///
/// The second parameter is drawn from its conditional distribution, a standard normal:
///
/// ```
/// use rand::RngExt;
/// use rand_distr::StandardNormal;
/// use sgmcmc::algorithms::Values;
/// use sgmcmc::prelude::*;
/// use sgmcmc::rng::StreamRng;
///
/// let model = Model::density(|(a, b): (Tensor<1>, Tensor<1>)| (a.square() + b.square()) * -0.5);
/// let fit = ula(&model, &Dataset::none(), 0.1)
///     .gibbs(|_chain| |values: &mut Values<'_>, rng: &mut StreamRng| values.set("1", &[rng.sample(StandardNormal)]))
///     .sample(&(zeros([1]), zeros([1])), 100)?;
/// assert_eq!(fit.chains()[0].len(), 100);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait GibbsUpdate: Send {
    /// Draws some parameters from their conditional distribution given the others.
    ///
    /// # Errors
    ///
    /// Returns an error if the update fails. The chain then ends.
    fn update(&mut self, values: &mut Values<'_>, rng: &mut StreamRng) -> Result<()>;

    /// Serializes the state of the update.
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Restores the state that [`save`](Self::save) returned.
    ///
    /// # Errors
    ///
    /// Returns an error if `saved` is not a state of this update.
    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let _ = saved;
        Ok(())
    }
}

impl<F: FnMut(&mut Values<'_>, &mut StreamRng) -> Result<()> + Send> GibbsUpdate for F {
    fn update(&mut self, values: &mut Values<'_>, rng: &mut StreamRng) -> Result<()> {
        self(values, rng)
    }
}

/// Creates the update of each chain from the index of the chain.
#[derive(Clone)]
pub(crate) struct GibbsFactory(Arc<dyn Fn(usize) -> Box<dyn GibbsUpdate> + Send + Sync>);

impl GibbsFactory {
    pub(crate) fn new<U: GibbsUpdate + 'static>(make: impl Fn(usize) -> U + Send + Sync + 'static) -> Self {
        Self(Arc::new(move |chain| Box::new(make(chain))))
    }

    /// Adds the update of chain number `index` to `chain`.
    pub(crate) fn wrap(&self, chain: Box<dyn Chain>, index: usize) -> Box<dyn Chain> {
        let layout = chain.layout().clone();
        let values = vec![0.0; layout.value_count()];
        Box::new(Gibbs { inner: chain, update: (self.0)(index), layout, before: values.clone(), values })
    }
}

impl fmt::Debug for GibbsFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GibbsFactory")
    }
}

/// A chain whose steps are followed by an update.
struct Gibbs {
    inner: Box<dyn Chain>,
    update: Box<dyn GibbsUpdate>,
    layout: Layout,
    values: Vec<f64>,
    /// The values before the update.
    before: Vec<f64>,
}

impl fmt::Debug for Gibbs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gibbs").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl Chain for Gibbs {
    fn step(&mut self) -> Result<()> {
        self.inner.step()?;
        let Self { inner, update, layout, values, before } = self;
        layout.values_into(inner.position(), values)?;
        before.copy_from_slice(values);
        update.update(&mut Values { layout, values }, inner.noise())?;
        let changed = |block: &Block| {
            let pairs = values[block.values.clone()].iter().zip(&before[block.values.clone()]);
            pairs.clone().any(|(new, old)| new.to_bits() != old.to_bits())
        };
        if !layout.blocks().iter().any(changed) {
            return Ok(());
        }
        // The conversion between values and coordinates rounds. Unchanged parameters therefore keep their coordinates.
        let mut theta = layout.coordinates(values)?;
        for block in layout.blocks().iter().filter(|block| !changed(block)) {
            theta[block.range.clone()].copy_from_slice(&inner.position()[block.range.clone()]);
        }
        inner.relocate(&theta)
    }

    fn position(&self) -> &[f64] {
        self.inner.position()
    }

    fn relocate(&mut self, theta: &[f64]) -> Result<()> {
        self.inner.relocate(theta)
    }

    fn info(&self) -> StepInfo {
        self.inner.info()
    }

    fn interleaved_chains(&self) -> usize {
        self.inner.interleaved_chains()
    }

    fn step_sizes(&self, h: &mut [f64]) {
        self.inner.step_sizes(h);
    }

    fn stat_names(&self) -> Vec<String> {
        self.inner.stat_names()
    }

    fn stats(&self, out: &mut [f64]) {
        self.inner.stats(out);
    }

    fn cost(&self) -> Cost {
        self.inner.cost()
    }

    fn layout(&self) -> &Layout {
        self.inner.layout()
    }

    fn evaluator(&mut self) -> &mut dyn Evaluator {
        self.inner.evaluator()
    }

    fn noise(&mut self) -> &mut StreamRng {
        self.inner.noise()
    }

    fn noise_ratio(&mut self, observations: usize) -> Result<f64> {
        self.inner.noise_ratio(observations)
    }

    fn is_exact(&self) -> bool {
        self.inner.is_exact()
    }

    fn predict_bias(&mut self, plan: &PredictionPlan) -> Result<Bias> {
        self.inner.predict_bias(plan)
    }

    fn save(&self) -> Result<Vec<u8>> {
        let parts = (serde_bytes::ByteBuf::from(self.inner.save()?), serde_bytes::ByteBuf::from(self.update.save()));
        sgmcmc_fit::codec::encode(&parts)
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let (inner, update): (serde_bytes::ByteBuf, serde_bytes::ByteBuf) = sgmcmc_fit::codec::decode(saved)?;
        self.inner.restore(&inner)?;
        self.update.restore(&update)
    }
}
