//! Mixtures that a run keeps.

use std::sync::{Arc, Mutex, PoisonError};

use super::draw::MixtureDraw;

/// The iterations whose mixtures are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RecordPlan {
    pub(super) burn_in: u64,
    /// The number of iterations per mixture; 0 keeps none.
    pub(super) every: u64,
    /// True if the allocations of all observations are kept too.
    pub(super) allocations: bool,
}

impl RecordPlan {
    /// The plan of a sampler outside a run.
    pub(super) const NONE: Self = Self { burn_in: 0, every: 0, allocations: false };

    /// Returns `true` if the mixture after `iterations` steps is kept.
    pub(super) fn includes(&self, iterations: u64) -> bool {
        self.every > 0 && iterations > self.burn_in && (iterations - self.burn_in).is_multiple_of(self.every)
    }
}

/// The mixtures of a chain. The run keeps a second handle, because it takes its chains and returns only their draws.
#[derive(Debug)]
pub(super) struct Record<P> {
    draws: Arc<Mutex<Vec<MixtureDraw<P>>>>,
}

impl<P> Clone for Record<P> {
    fn clone(&self) -> Self {
        Self { draws: self.draws.clone() }
    }
}

impl<P> Default for Record<P> {
    fn default() -> Self {
        Self { draws: Arc::default() }
    }
}

impl<P: Clone> Record<P> {
    pub(super) fn push(&self, draw: MixtureDraw<P>) {
        self.with(|draws| draws.push(draw));
    }

    /// Replaces the mixtures by those of a checkpoint.
    pub(super) fn replace(&self, restored: Vec<MixtureDraw<P>>) {
        self.with(|draws| *draws = restored);
    }

    /// Returns the mixtures.
    pub(super) fn draws(&self) -> Vec<MixtureDraw<P>> {
        self.with(|draws| draws.clone())
    }

    /// Calls `f` with the mixtures. A panic of another thread leaves them as they are.
    fn with<T>(&self, f: impl FnOnce(&mut Vec<MixtureDraw<P>>) -> T) -> T {
        f(&mut self.draws.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
