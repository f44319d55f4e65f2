//! The settings that a run must share with a checkpoint from which it resumes.

use std::fmt;

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{Error, Fingerprint, Layout, ModelIdentity, Result};

use crate::schedule::{ScheduleIdentity, SharedSchedule};
use crate::step_size::StepSize;

/// Everything that the draws of a chain depend on. A run and a checkpoint from which it resumes must agree in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::run) struct RunFingerprint {
    pub(in crate::run) version: String,
    pub(in crate::run) layout: Layout,
    pub(in crate::run) observations: usize,
    /// The fingerprint of the data, if the target has any.
    pub(in crate::run) data: Option<Fingerprint>,
    pub(in crate::run) model: ModelIdentity,
    pub(in crate::run) algorithm: String,
    /// The fingerprint of the functions among the settings of the algorithm, if it has any.
    pub(in crate::run) functions: Option<Fingerprint>,
    pub(in crate::run) gradient: String,
    pub(in crate::run) schedules: Schedules,
    /// The fingerprint of the coordinates of the start.
    pub(in crate::run) start: Fingerprint,
    pub(in crate::run) seed: u64,
    pub(in crate::run) chain: usize,
    pub(in crate::run) burn_in: u64,
    pub(in crate::run) thin: u64,
    pub(in crate::run) threshold: String,
    /// The settings of the updates, in scan order.
    pub(in crate::run) updates: Vec<String>,
}

/// The schedules of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::run) struct Schedules {
    /// The names of the parameters with their own step sizes.
    names: Vec<String>,
    /// The common step size, then those of the named parameters.
    step_sizes: Vec<ScheduleIdentity>,
    temperature: ScheduleIdentity,
}

impl Schedules {
    /// Returns the identities of the schedules up to iteration `end`.
    pub(in crate::run) fn new(step_size: &StepSize, temperature: &SharedSchedule, end: u64) -> Self {
        Self {
            names: step_size.names().map(str::to_owned).collect(),
            step_sizes: step_size.values().map(|schedule| schedule.identity(end)).collect(),
            temperature: temperature.identity(end),
        }
    }
}

impl RunFingerprint {
    /// Returns an error that names the first difference between `self`, of the run, and `saved`, of the checkpoint.
    pub(super) fn check(&self, saved: &Self) -> Result<()> {
        let differ = |what: &str, run: &dyn fmt::Debug, saved: &dyn fmt::Debug| {
            let reason = format!("its {what} is {saved:?}, but that of this run is {run:?}");
            Err(Error::Checkpoint { reason })
        };
        let other = |what: &str| Err(Error::Checkpoint { reason: format!("its {what} is not that of this run") });
        macro_rules! same {
            ($($field:ident $what:literal),+) => {
                $(if self.$field != saved.$field {
                    return differ($what, &self.$field, &saved.$field);
                })+
            };
        }
        same!(version "version of the library", observations "number of observations", data "fingerprint of the data");
        let names =
            |layout: &Layout| layout.blocks().iter().map(|b| (b.name.clone(), b.shape.clone())).collect::<Vec<_>>();
        // Names of dimensions and positions do not change the draws.
        if self.layout.clone().without_axes() != saved.layout.clone().without_axes() {
            return differ("layout of the parameters", &names(&self.layout), &names(&saved.layout));
        }
        if !self.model.is_same(&saved.model) {
            return other("model (likelihood, prior, their temperature, or the engine)");
        }
        same!(algorithm "algorithm", gradient "gradient estimator");
        if self.functions != saved.functions {
            return other("metric, or another function of the algorithm,");
        }
        let (run, old) = (&self.schedules, &saved.schedules);
        if run.names != old.names {
            return differ("list of parameters with step sizes of their own", &run.names, &old.names);
        }
        let pairs = run.step_sizes.iter().zip(&old.step_sizes).map(|pair| ("step size", pair));
        for (what, (run, old)) in pairs.chain([("temperature", (&run.temperature, &old.temperature))]) {
            if let Some(difference) = run.difference(old) {
                return Err(Error::Checkpoint { reason: format!("its {what} {difference}") });
            }
        }
        same!(seed "seed", chain "chain number", burn_in "burn-in", thin "thinning", threshold "sampling threshold");
        if self.updates.is_empty() != saved.updates.is_empty() {
            let with = |updates: &[String]| if updates.is_empty() { "without" } else { "with" };
            let (run, old) = (with(&self.updates), with(&saved.updates));
            let reason = format!("it was made {old} updates, but this run is {run} them");
            return Err(Error::Checkpoint { reason });
        }
        same!(updates "list of updates");
        if self.start != saved.start {
            return other("start");
        }
        Ok(())
    }
}
