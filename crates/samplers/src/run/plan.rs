//! Run settings that do not depend on the algorithm: see [`Plan`].

use std::ops::Range;

use sgmcmc_gradient::{Error, Layout, Result, settings};

use super::checkpoint::Checkpoints;
use super::progress::ProgressOption;
use super::stop::StopSignal;
use crate::compose::UpdateFactory;
use crate::threshold::SamplingThreshold;
use sgmcmc_fit::sink::Memory;

/// The labels of the positions of a parameter of one dimension.
#[derive(Clone, Debug)]
pub(crate) struct Labels {
    pub(crate) parameter: String,
    pub(crate) labels: Vec<String>,
}

impl Labels {
    pub(crate) fn new<L: Into<String>>(parameter: impl Into<String>, labels: impl IntoIterator<Item = L>) -> Self {
        Self { parameter: parameter.into(), labels: labels.into_iter().map(Into::into).collect() }
    }

    /// Returns `layout` with the labels of several parameters.
    pub(crate) fn add_all(all: &[Self], layout: Layout) -> Result<Layout> {
        all.iter().try_fold(layout, |layout, Self { parameter, labels }| {
            layout.with_labels(parameter, labels.iter().cloned())
        })
    }
}

/// Run settings that do not depend on the algorithm.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) chains: usize,
    /// The chains of this process, if others run the rest.
    pub(super) chain_range: Option<Range<usize>>,
    pub(super) burn_in: u64,
    pub(super) thin: u64,
    pub(super) jitter: f64,
    pub(super) memory_limit: usize,
    pub(super) non_finite_limit: u64,
    pub(super) progress: ProgressOption,
    pub(super) stop: StopSignal,
    pub(super) checkpoints: Option<Checkpoints>,
    /// The updates after each step, in scan order.
    pub(super) updates: Vec<UpdateFactory>,
    /// The names of the parameters that the dynamics do not move.
    pub(super) held: Vec<String>,
    /// The labels of the positions of parameters.
    pub(super) labels: Vec<Labels>,
    pub(super) threshold: Option<SamplingThreshold>,
    /// True if the bias of chains is predicted when they end.
    pub(super) predicts_bias: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            seed: 0,
            chains: 1,
            chain_range: None,
            burn_in: 0,
            thin: 1,
            jitter: 10.0,
            memory_limit: 4 << 30,
            non_finite_limit: 100,
            progress: ProgressOption::Off,
            stop: StopSignal::new(),
            checkpoints: None,
            updates: Vec::new(),
            held: Vec::new(),
            labels: Vec::new(),
            threshold: None,
            predicts_bias: true,
        }
    }
}

impl Plan {
    /// Checks the settings.
    pub(super) fn check(&self) -> Result<()> {
        settings::at_least("the number of chains", self.chains, 1, "run at least 1 chain")?;
        if let Some(range) = self.chain_range.as_ref().filter(|range| range.is_empty() || range.end > self.chains) {
            let expected = "it has at least one chain, and no chain beyond the number of chains of the run";
            return Err(Error::Setting { name: "the range of chains", value: format!("{range:?}"), expected });
        }
        settings::at_least("thin", self.thin, 1, "take at least 1 iteration per draw")?;
        settings::non_negative("jitter", self.jitter)?;
        self.threshold.map_or(Ok(()), |threshold| threshold.check())
    }

    /// Returns the indices of the chains that this process runs.
    pub(super) fn chain_indices(&self) -> Range<usize> {
        self.chain_range.clone().unwrap_or(0..self.chains)
    }

    /// Checks that `draws` draws of `values` values and `stats` statistics in every chain do not exceed the memory
    /// limit.
    pub(super) fn check_memory(&self, draws: usize, values: usize, stats: usize) -> Result<()> {
        let needed = Memory::bytes(draws, values, stats).saturating_mul(self.chain_indices().len());
        if needed <= self.memory_limit {
            return Ok(());
        }
        Err(Error::memory(
            format!("storing {draws} draws of {values} values"),
            needed,
            self.memory_limit,
            "use `thin`, or `sample_into` with `Moments` or `TestFunction`, which keep a few numbers; or raise `memory_limit`",
        ))
    }

    /// Returns the number of iterations of a chain of `draws` draws.
    pub(super) fn iterations(&self, draws: usize) -> u64 {
        self.burn_in.saturating_add(self.thin.saturating_mul(draws as u64))
    }
}
