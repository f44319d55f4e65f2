//! Chains whose steps are followed by updates.

use std::fmt;

use serde_bytes::ByteBuf;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Error, Evaluator, Layout, Minibatch, Result};

use super::{Update, UpdateContext};
use crate::chain::{Chain, Cost, GradientChain, StepInfo};
use crate::prediction::PredictionPlan;
use sgmcmc_fit::Bias;
use sgmcmc_fit::codec::{decode, encode};

/// The updates of a chain, in scan order.
pub(crate) type Updates = Vec<Box<dyn Update>>;

/// A chain whose steps are followed by updates.
pub(crate) struct Composed {
    inner: Box<dyn GradientChain>,
    /// The updates of each interleaved chain. Latent variables of one chain must not enter another.
    updates: Vec<Updates>,
    layout: Layout,
    theta: Vec<f64>,
    values: Vec<f64>,
    batch: Minibatch,
    scratch: Vec<f64>,
    /// The number of statistics of `inner`.
    inner_stats: usize,
}

impl Composed {
    /// Adds the updates of each interleaved chain to `inner`.
    pub(crate) fn new(inner: Box<dyn GradientChain>, updates: Vec<Updates>) -> Self {
        let layout = inner.layout().clone();
        let (theta, values) = (inner.position().to_vec(), vec![0.0; layout.value_count()]);
        let (batch, scratch, inner_stats) = (Minibatch::default(), theta.clone(), inner.stat_names().len());
        Self { inner, updates, layout, theta, values, batch, scratch, inner_stats }
    }

    /// Returns the names of the statistics of `updates`. A name that occurs again gets a number.
    pub(crate) fn stat_names(updates: &[Box<dyn Update>]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in updates.iter().flat_map(|update| update.stat_names()) {
            let same =
                |known: &String| *known == name || known.strip_prefix(&*name).is_some_and(|end| end.starts_with('#'));
            let count = names.iter().filter(|known| same(known)).count();
            names.push(if count == 0 { name } else { format!("{name}#{}", count + 1) });
        }
        names
    }

    /// Returns the index of the interleaved chain that moved last.
    fn current(&self) -> usize {
        let chains = self.updates.len().max(1) as u64;
        ((self.inner.info().iterations + chains - 1) % chains) as usize
    }
}

impl fmt::Debug for Composed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Composed").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl Chain for Composed {
    fn step(&mut self) -> Result<()> {
        self.inner.step()?;
        let current = self.current();
        let Self { inner, updates, layout, theta, values, batch, scratch, .. } = self;
        theta.copy_from_slice(inner.position());
        layout.values_into(theta, values)?;
        batch.clone_from(inner.minibatch());
        for update in updates.get_mut(current).into_iter().flatten() {
            let chain = inner.as_mut();
            update.update(&mut UpdateContext { chain, layout, theta, values, batch, scratch })?;
        }
        // Algorithms keep gradients and densities at their position. One evaluation after the scan renews them.
        let changed = theta.iter().zip(inner.position()).any(|(new, old)| new.to_bits() != old.to_bits());
        if changed { inner.relocate(theta) } else { Ok(()) }
    }

    fn position(&self) -> &[f64] {
        self.inner.position()
    }

    fn info(&self) -> StepInfo {
        self.inner.info()
    }

    fn interleaved_chains(&self) -> usize {
        self.inner.interleaved_chains()
    }

    fn stat_names(&self) -> Vec<String> {
        let mut names = self.inner.stat_names();
        names.extend(self.updates.first().map_or_else(Vec::new, |updates| Self::stat_names(updates)));
        names
    }

    fn stats(&self, out: &mut [f64]) {
        let (inner, mut rest) = out.split_at_mut(self.inner_stats.min(out.len()));
        self.inner.stats(inner);
        for update in self.updates.get(self.current()).into_iter().flatten() {
            let count = update.stat_names().len().min(rest.len());
            let (own, others) = rest.split_at_mut(count);
            update.stats(own);
            rest = others;
        }
    }

    fn cost(&self) -> Cost {
        self.inner.cost()
    }

    fn layout(&self) -> &Layout {
        self.inner.layout()
    }

    fn observations(&self) -> usize {
        self.inner.observations()
    }

    fn noise_ratio(&mut self, observations: usize) -> Result<f64> {
        self.inner.noise_ratio(observations)
    }

    fn is_exact(&self) -> bool {
        self.inner.is_exact() && self.updates.iter().flatten().all(|update| update.is_exact())
    }

    fn predict_bias(&mut self, plan: &PredictionPlan) -> Result<Bias> {
        if self.inner.is_exact() && !self.is_exact() {
            return Ok(Bias::NotExamined("an update is not exact, and its bias is not known".into()));
        }
        self.inner.predict_bias(plan)
    }

    fn save(&self) -> Result<Vec<u8>> {
        let updates: Result<Vec<ByteBuf>> =
            self.updates.iter().flatten().map(|u| u.save().map(ByteBuf::from)).collect();
        encode(&(ByteBuf::from(self.inner.save()?), updates?))
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let (inner, updates): (ByteBuf, Vec<ByteBuf>) = decode(saved)?;
        let expected = self.updates.iter().flatten().count();
        if updates.len() != expected {
            let reason = format!("it has the states of {} updates, but this run has {expected}", updates.len());
            return Err(Error::Checkpoint { reason });
        }
        self.inner.restore(&inner)?;
        self.updates.iter_mut().flatten().zip(&updates).try_for_each(|(update, saved)| update.restore(saved))
    }
}

impl GradientChain for Composed {
    fn relocate(&mut self, theta: &[f64]) -> Result<()> {
        self.inner.relocate(theta)
    }

    fn step_sizes(&self, h: &mut [f64]) {
        self.inner.step_sizes(h);
    }

    fn evaluator(&mut self) -> &mut dyn Evaluator {
        self.inner.evaluator()
    }

    fn noise(&mut self) -> &mut StreamRng {
        self.inner.noise()
    }

    fn minibatch(&self) -> &Minibatch {
        self.inner.minibatch()
    }
}
