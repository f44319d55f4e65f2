//! What the columns of a format do not tell, as metadata.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sgmcmc_core::Layout;
#[cfg(any(feature = "parquet", feature = "zarr"))]
use sgmcmc_samplers::run::ChainDraws;
use sgmcmc_samplers::run::{Ending, Fit, RunInfo};
use sgmcmc_samplers::sink::Schema;

use super::table::Planned;
#[cfg(any(feature = "parquet", feature = "zarr"))]
use super::table::stat_names;
use crate::error::{Error, Result};

/// What only this library knows of a fit, kept in the metadata of formats that have a place for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Extra {
    pub(super) layout: Layout,
    #[serde(default)]
    pub(super) stats: Vec<String>,
    #[serde(default)]
    pub(super) info: Option<RunInfo>,
    #[serde(default)]
    pub(super) endings: Vec<Ending>,
    #[serde(default)]
    pub(super) planned: Planned,
}

impl Extra {
    pub(super) fn to_json(&self) -> String {
        // Names, numbers and lists: nothing that JSON has no form for.
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(super) fn from_json(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

impl Extra {
    /// Puts back what the columns do not tell. A chain with fewer draws than planned stays stopped.
    pub(super) fn dress(self, file: &Path, fit: Fit) -> Result<Fit> {
        let fit = fit.with_info(self.info.unwrap_or_default());
        if self.endings.len() != fit.chains().len() {
            return Ok(fit);
        }
        let merged = |(found, told): (&Ending, Ending)| match (found, told) {
            (Ending::Stopped, Ending::Complete) => Ending::Stopped,
            (_, told) => told,
        };
        let endings = fit.endings().iter().zip(self.endings).map(merged).collect();
        fit.with_endings(endings).map_err(Error::content(file))
    }

    /// What a chain of a run knows when it begins.
    pub(super) fn streamed(schema: &Schema, info: Option<RunInfo>) -> Self {
        let planned = [(schema.chain, schema.draws)].into();
        Self { layout: schema.layout.clone(), stats: schema.stats.clone(), info, endings: Vec::new(), planned }
    }

    #[cfg(any(feature = "parquet", feature = "zarr"))]
    pub(super) fn of(fit: &Fit) -> Self {
        Self {
            layout: fit.layout().clone(),
            stats: stat_names(fit),
            info: Some(fit.info().clone()),
            endings: fit.endings().to_vec(),
            planned: fit.chains().iter().map(ChainDraws::len).enumerate().collect(),
        }
    }
}
