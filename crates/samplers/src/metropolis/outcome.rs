//! The Metropolis decision of Langevin proposals.

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::rng::StreamRng;

use super::point::Point;
use super::proposal::{Acceptance, accept};
use super::step::{DualAveraging, StepSizeAdaptation};
use crate::step_size::StepContext;

/// The step-size adaptation and the result of the last proposal.
// Renamed fields have their old names in checkpoints.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Outcome {
    #[serde(rename = "scale")]
    pub(super) adaptation: StepSizeAdaptation,
    /// True if the last proposal was part of the adaptation.
    #[serde(rename = "searching")]
    pub(super) adapting: bool,
    acceptance_rate: f64,
    step_size: f64,
}

/// A proposal that is to be accepted or rejected.
pub(super) struct Proposal<'a> {
    /// The current point.
    pub(super) start: &'a mut Point,
    /// The proposed point.
    pub(super) end: &'a mut Point,
    /// The logarithm of the Metropolis ratio.
    pub(super) log_ratio: f64,
}

impl Outcome {
    /// Accepts or rejects `proposal`, and updates the adaptation. If it is accepted, its start becomes the proposed
    /// point.
    pub(super) fn decide(
        &mut self,
        adapt: Option<DualAveraging>,
        proposal: Proposal<'_>,
        context: StepContext<'_>,
        rng: &mut StreamRng,
    ) {
        let Acceptance { accepted, rate } = accept(proposal.log_ratio, rng);
        if accepted {
            std::mem::swap(proposal.start, proposal.end);
        }
        (self.acceptance_rate, self.step_size) = (rate, self.adaptation.scale() * context.h.sqrt());
        self.adapting = self.adaptation.is_adapting(adapt);
        self.adaptation.update(adapt, rate);
    }

    /// Returns the names of the statistics.
    pub(super) fn names() -> Vec<String> {
        ["acceptance_rate", "step_size"].map(String::from).to_vec()
    }

    /// Writes the statistics into `out`.
    pub(super) fn write(&self, out: &mut [f64]) {
        out.iter_mut().zip([self.acceptance_rate, self.step_size]).for_each(|(out, number)| *out = number);
    }
}
