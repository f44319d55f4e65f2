//! What becomes of a Langevin proposal: accepted or not, and what the search for the step size learns from it.

use serde::{Deserialize, Serialize};
use sgmcmc_core::rng::StreamRng;

use super::point::Point;
use super::proposal::accepts;
use super::step::{DualAveraging, Scale};
use crate::step_size::Tick;

/// The search for the step size, and how the last proposal went.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Outcome {
    pub(super) scale: Scale,
    /// Whether the last proposal was part of the search.
    pub(super) searching: bool,
    acceptance_rate: f64,
    step_size: f64,
}

impl Outcome {
    /// Moves from `point` to `end` if the proposal is accepted, which a log ratio of 0 or more always is.
    pub(super) fn decide(
        &mut self,
        adapt: Option<DualAveraging>,
        log_ratio: f64,
        (point, end): (&mut Point, &mut Point),
        tick: Tick<'_>,
        noise: &mut StreamRng,
    ) {
        let (accepted, acceptance_rate) = accepts(log_ratio, noise);
        if accepted {
            std::mem::swap(point, end);
        }
        (self.acceptance_rate, self.step_size) = (acceptance_rate, self.scale.value() * tick.h.sqrt());
        self.searching = self.scale.is_searching(adapt);
        self.scale.learn(adapt, acceptance_rate);
    }

    /// The names of what [`write`](Self::write) writes.
    pub(super) fn names() -> Vec<String> {
        ["acceptance_rate", "step_size"].map(String::from).to_vec()
    }

    pub(super) fn write(&self, out: &mut [f64]) {
        out.iter_mut().zip([self.acceptance_rate, self.step_size]).for_each(|(out, number)| *out = number);
    }
}
