//! The result of a run, and what can be asked of it.

mod bias;
mod check;
mod derive;
mod draws;
mod ending;
mod health;
mod info;
mod pointwise;
mod predict;
mod predictions;
mod stein;
mod subset;
mod summary;
mod typed;
mod zero_variance;

pub use bias::{Bias, DirectionBias, PredictedBias};
pub use check::{Check, Finding, Severity, Thresholds};
pub use draws::ChainDraws;
pub use ending::Ending;
pub use health::{BlockNoise, Efficiency, EstimatorNoise, Health, NoiseReport, Shift, StepHalving};
pub use info::RunInfo;
pub use pointwise::Pointwise;
pub use predictions::Predictions;
pub use stein::{BlockDiscrepancy, SteinDiscrepancies};
pub use summary::{Summary, SummaryRow};
pub use typed::BlockDraws;
pub use zero_variance::{CorrectedMean, ZeroVariance};

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, Layout, Mode, Result};

/// The result of a run: draws of every chain, how each ended, the mode they started at, and how the run was made.
///
/// It knows names and shapes but not the model, so that it can be written to a file and read without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Fit {
    layout: Layout,
    chains: Vec<ChainDraws>,
    endings: Vec<Ending>,
    mode: Option<Mode>,
    info: RunInfo,
}

impl Fit {
    /// A fit of `chains` whose values are laid out by `layout`, all complete.
    ///
    /// # Errors
    ///
    /// If the draws of a chain have another length than `layout` says.
    pub fn new(layout: Layout, chains: Vec<ChainDraws>) -> Result<Self> {
        let expected = layout.value_count();
        if let Some(chain) = chains.iter().find(|chain| chain.width() != expected) {
            return Err(Error::Length { what: "a draw of a chain", expected, found: chain.width() });
        }
        let endings = vec![Ending::Complete; chains.len()];
        Ok(Self { layout, chains, endings, mode: None, info: RunInfo::default() })
    }

    /// The same fit, its chains ended so.
    ///
    /// # Errors
    ///
    /// If there is not one ending per chain.
    pub fn with_endings(self, endings: Vec<Ending>) -> Result<Self> {
        let (expected, found) = (self.chains.len(), endings.len());
        if expected != found {
            return Err(Error::Length { what: "the list of endings (one per chain)", expected, found });
        }
        Ok(Self { endings, ..self })
    }

    /// The same fit, started at `mode`.
    #[must_use]
    pub fn with_mode(self, mode: Option<Mode>) -> Self {
        Self { mode, ..self }
    }

    /// The same fit, made so.
    #[must_use]
    pub fn with_info(self, info: RunInfo) -> Self {
        Self { info, ..self }
    }

    /// Names, shapes and places of the values.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The draws of each chain.
    pub fn chains(&self) -> &[ChainDraws] {
        &self.chains
    }

    /// How each chain ended.
    pub fn endings(&self) -> &[Ending] {
        &self.endings
    }

    /// The posterior mode the chains started at, if one was looked for.
    pub fn mode(&self) -> Option<&Mode> {
        self.mode.as_ref()
    }

    /// How the run was made, and what it cost.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// The draws of one value (`beta[3]`), chain after chain.
    ///
    /// # Errors
    ///
    /// If there is no such value.
    pub fn element(&self, name: &str) -> Result<Vec<Vec<f64>>> {
        let index = self.layout.index(name)?;
        Ok(self.chains.iter().map(|chain| chain.element(index)).collect())
    }

    /// Mean, standard deviation, interval, effective sample sizes, R-hat and Monte Carlo errors of every value.
    pub fn summary(&self) -> Summary {
        Summary::of(self)
    }

    /// Whether this fit can be trusted: findings in words, each with what to do about it.
    pub fn check(&self) -> Check {
        self.check_with(&Thresholds::default())
    }

    /// As [`check`](Self::check), with other thresholds.
    pub fn check_with(&self, thresholds: &Thresholds) -> Check {
        Check::of(self, &self.summary(), thresholds)
    }

    /// Whether draws differ in weight.
    pub fn is_weighted(&self) -> bool {
        let mut weights = self.chains.iter().flat_map(|chain| chain.weights());
        let first = weights.next().copied().unwrap_or(1.0);
        weights.any(|weight| (weight - first).abs() > 1e-12 * first.abs())
    }

    /// The mean of the number called `name` that came with the draws, where there is one.
    pub(crate) fn stat_mean(&self, name: &str) -> Option<f64> {
        let values: Vec<f64> = self.chains.iter().filter_map(|chain| chain.stat(name)).flatten().copied().collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}

/// What was read, before it is known to be consistent.
#[derive(Deserialize)]
struct Unchecked {
    layout: Layout,
    chains: Vec<ChainDraws>,
    endings: Vec<Ending>,
    mode: Option<Mode>,
    info: RunInfo,
}

impl TryFrom<Unchecked> for Fit {
    type Error = Error;

    fn try_from(read: Unchecked) -> Result<Self> {
        let Unchecked { layout, chains, endings, mode, info } = read;
        Ok(Self::new(layout, chains)?.with_endings(endings)?.with_mode(mode).with_info(info))
    }
}
