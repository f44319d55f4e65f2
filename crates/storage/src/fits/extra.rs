//! Metadata of a fit that the columns of a format do not have.

use std::path::Path;

use serde::{Deserialize, Serialize};
#[cfg(any(feature = "arrow", feature = "parquet", feature = "zarr"))]
use sgmcmc_fit::ChainDraws;
use sgmcmc_fit::sink::Schema;
use sgmcmc_fit::{ChainOutcome, Fit, RunInfo};
use sgmcmc_gradient::Layout;

use super::table::Planned;
#[cfg(any(feature = "arrow", feature = "parquet", feature = "zarr"))]
use super::table::stat_names;
use crate::error::{Error, Result};

/// Metadata that only this library reads, stored in the metadata section of a format.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Extra {
    pub(super) layout: Layout,
    /// The names of the statistics that come with each draw.
    #[serde(default)]
    pub(super) stats: Vec<String>,
    #[serde(default)]
    pub(super) info: Option<RunInfo>,
    /// The outcomes of the chains, if they are known.
    #[serde(default)]
    pub(super) outcomes: Vec<ChainOutcome>,
    /// The number of draws that each chain was to make.
    #[serde(default)]
    pub(super) planned: Planned,
    /// The number of chains of the run, or 0 if it is unknown.
    #[serde(default)]
    pub(super) chains: usize,
}

impl Extra {
    pub(super) fn to_json(&self) -> String {
        // Names, numbers and lists always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(super) fn from_json(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Adds the run information and the outcomes to a fit. A chain with fewer draws than planned stays stopped.
    pub(super) fn apply_to(self, file: &Path, fit: Fit) -> Result<Fit> {
        let mut info = self.info.unwrap_or_default();
        let planned = self.planned.values().copied().max();
        info.planned =
            info.planned.or(planned.filter(|planned| fit.chains().iter().any(|chain| chain.len() < *planned)));
        let fit = fit.with_info(info);
        if self.outcomes.len() != fit.chains().len() {
            return Ok(fit);
        }
        let merged = |(found, recorded): (&ChainOutcome, ChainOutcome)| match (found, recorded) {
            (ChainOutcome::Stopped, ChainOutcome::Complete) => ChainOutcome::Stopped,
            (_, recorded) => recorded,
        };
        let outcomes = fit.outcomes().iter().zip(self.outcomes).map(merged).collect();
        fit.with_outcomes(outcomes).map_err(Error::content(file))
    }

    /// Creates the metadata of a chain that begins.
    pub(super) fn from_schema(schema: &Schema, info: Option<RunInfo>) -> Self {
        let planned = [(schema.chain, schema.draws)].into();
        let (layout, stats) = (schema.layout.clone(), schema.stats.clone());
        Self { layout, stats, info, outcomes: Vec::new(), planned, chains: schema.chains }
    }

    #[cfg(any(feature = "arrow", feature = "parquet", feature = "zarr"))]
    /// Creates the metadata of a whole fit.
    pub(super) fn from_fit(fit: &Fit) -> Self {
        Self {
            layout: fit.layout().clone(),
            stats: stat_names(fit),
            info: Some(fit.info().clone()),
            outcomes: fit.outcomes().to_vec(),
            planned: fit.chains().iter().map(ChainDraws::len).enumerate().collect(),
            chains: fit.chains().len(),
        }
    }
}

/// Returns settings and cost of a run in words, as attributes that every reader can show.
pub(super) fn attributes(info: &RunInfo) -> Vec<(&'static str, serde_json::Value)> {
    let text = |value: String| Some(value).filter(|value| !value.is_empty()).map(Into::into);
    let positive = |value: u64| Some(value).filter(|value| *value > 0).map(Into::into);
    let seconds = info.longest_run();
    let lp = info.minibatch.map(|size| format!("estimated from minibatches of {size} observations"));
    let rows: [(&'static str, Option<serde_json::Value>); 10] = [
        ("sampling_time", Some(seconds).filter(|seconds| *seconds > 0.0).map(Into::into)),
        ("algorithm", text(info.describe_algorithm())),
        ("gradient", text(info.describe_gradient())),
        ("step_size", text(info.describe_step_size())),
        ("observations", positive(info.observations as u64)),
        ("minibatch", info.minibatch.map(Into::into)),
        ("lp", lp.map(Into::into)),
        ("tuning_steps", positive(info.burn_in)),
        ("thinning", positive(info.thin)),
        ("seed", (!info.iterations.is_empty()).then(|| info.seed.into())),
    ];
    rows.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimated_log_posteriors_are_named() {
        let lp = |minibatch| {
            let all = attributes(&RunInfo { minibatch, ..RunInfo::default() });
            all.into_iter().find(|(name, _)| *name == "lp").map(|(_, value)| value)
        };
        assert_eq!(lp(Some(500.0)), Some("estimated from minibatches of 500 observations".into()));
        assert_eq!(lp(None), None);
    }
}
