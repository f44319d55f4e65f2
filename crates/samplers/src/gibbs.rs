//! Gibbs steps: a user's update of some parameters, or of latent variables, alternates with the sampler's own steps.
//!
//! An update draws some parameters from their conditional distribution given all others; the chain then leaves the posterior
//! alone as far as each of its parts does. What the update changes is written back through the layout, so that constraints
//! hold.

use std::fmt;
use std::sync::Arc;

use sgmcmc_core::rng::StreamRng;
use sgmcmc_core::{Block, Error, Evaluator, Layout, Result};

use crate::fit::Bias;
use crate::kernel::{Cost, Kernel, StepInfo};
use crate::prediction::PredictionPlan;

/// The values of all parameters, to be read and changed by name.
#[derive(Debug)]
pub struct Values<'a> {
    layout: &'a Layout,
    values: &'a mut [f64],
}

impl Values<'_> {
    /// The values of the parameter `name`, row-major.
    pub fn get(&self, name: &str) -> Result<&[f64]> {
        Ok(&self.values[self.layout.block(name)?.values.clone()])
    }

    /// Changes the values of the parameter `name`.
    ///
    /// # Errors
    ///
    /// If there is no such parameter or it has another size. Whether values keep their constraint is checked when the update ends.
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

/// A user's update. What it remembers between calls (latent variables) can go into checkpoints.
pub trait GibbsUpdate: Send {
    /// Draws some parameters anew, given the others.
    fn update(&mut self, values: &mut Values<'_>, rng: &mut StreamRng) -> Result<()>;

    /// What the update remembers, as bytes.
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Goes on from what [`save`](Self::save) gave.
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

/// Makes the update of each chain from the number of the chain.
#[derive(Clone)]
pub(crate) struct GibbsFactory(Arc<dyn Fn(usize) -> Box<dyn GibbsUpdate> + Send + Sync>);

impl GibbsFactory {
    pub(crate) fn new<U: GibbsUpdate + 'static>(make: impl Fn(usize) -> U + Send + Sync + 'static) -> Self {
        Self(Arc::new(move |chain| Box::new(make(chain))))
    }

    pub(crate) fn wrap(&self, kernel: Box<dyn Kernel>, chain: usize) -> Box<dyn Kernel> {
        let layout = kernel.layout().clone();
        let values = vec![0.0; layout.value_count()];
        Box::new(Gibbs { inner: kernel, update: (self.0)(chain), layout, before: values.clone(), values })
    }
}

impl fmt::Debug for GibbsFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GibbsFactory")
    }
}

/// A kernel made of a kernel and an update.
struct Gibbs {
    inner: Box<dyn Kernel>,
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

impl Kernel for Gibbs {
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
        // The way from values to coordinates and back rounds, so that parameters the update left alone keep their coordinates.
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
        crate::run::encode(&parts)
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let (inner, update): (serde_bytes::ByteBuf, serde_bytes::ByteBuf) = crate::run::decode(saved)?;
        self.inner.restore(&inner)?;
        self.update.restore(&update)
    }
}
