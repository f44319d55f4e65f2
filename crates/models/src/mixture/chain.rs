//! The slice sampler as a chain of a run.

use sgmcmc_fit::codec::{decode, encode};
use sgmcmc_gradient::{Error, Layout, Result};
use sgmcmc_samplers::chain::{Chain, Cost, StepInfo};

use super::data::Observations;
use super::draw::MixtureDraw;
use super::family::Family;
use super::sampler::{SliceSampler, State};
use super::update::Update;

/// The serialized state of a chain: the state of the sampler with its allocations, and the mixtures that it kept.
type Saved<P, S> = (State<P, S>, Vec<MixtureDraw<P>>);

impl<F: Family> Chain for SliceSampler<F> {
    fn step(&mut self) -> Result<()> {
        Self::step(self)
    }

    fn position(&self) -> &[f64] {
        &self.position
    }

    /// Returns information about the last step. The log posterior is the log-likelihood of the observations given
    /// their components, estimated from the minibatch.
    fn info(&self) -> StepInfo {
        StepInfo { log_posterior: self.state.log_likelihood, ..StepInfo::new(self.state.iterations) }
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn observations(&self) -> usize {
        self.data.observations()
    }

    fn cost(&self) -> Cost {
        let minibatch = if self.settings.minibatch.is_some() { self.batch.rows.len() } else { 0 };
        Cost { gradients: self.state.iterations, minibatch }
    }

    fn is_exact(&self) -> bool {
        let estimates = [self.settings.sticks, self.settings.components];
        estimates.iter().all(|update| match update {
            Update::Gibbs => true,
            Update::Scir(_) => self.settings.minibatch.is_none(),
            Update::Sgrld(_) => false,
        })
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&(&self.state, self.record.draws()))
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let (state, draws): Saved<F::Parameters, F::Statistics> = decode(saved)?;
        let lengths = [state.sticks.len(), state.components.len(), state.statistics.len()];
        let clusters = state.counts.len();
        let valid = state.allocations.len() == self.data.observations()
            && lengths.iter().all(|length| *length == clusters)
            && state.allocations.iter().all(|z| (*z as usize) < clusters)
            && state.scheme.is_some() == self.settings.minibatch.is_some();
        if !valid {
            return Err(Error::Checkpoint { reason: "its allocations do not belong to these data".into() });
        }
        self.state = state;
        self.record.replace(draws);
        self.locate();
        Ok(())
    }
}
