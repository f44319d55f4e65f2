//! The result of a run.

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{Axis, Error, Layout, Mode, Result};

use crate::draws::ChainDraws;
use crate::group::Group;
use crate::info::RunInfo;
use crate::outcome::ChainOutcome;
use crate::text::count;

/// The result of a run: the draws and the outcome of every chain, the posterior mode, and the settings of the run.
///
/// A fit has the names and shapes of the parameters but not the model. It can be written to a file, read and analyzed
/// without the model.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.025).seed(1).chains(2).sample(&zeros([2]), 200)?;
/// assert_eq!(fit.chains().len(), 2);
/// assert_eq!(fit.element("theta[1]")?[0].len(), 200);
/// assert_eq!(fit.describe_chains(), "2 chains");
/// # Ok::<(), sgmcmc::Error>(())
/// ```
///
/// Readers of files build a fit from its chains:
///
/// ```
/// use sgmcmc::fit::ChainDraws;
/// use sgmcmc::sink::Draw;
/// use sgmcmc::{Fit, Layout};
///
/// let mut chain = ChainDraws::new(1, vec![]);
/// for (iteration, x) in (1..).zip([0.5, 1.5, 1.0]) {
///     chain.push(&Draw { iteration, values: &[x], weight: 1.0, log_posterior: 0.0, stats: &[] })?;
/// }
/// let fit = Fit::new(Layout::vector("theta", 1), vec![chain])?;
/// assert_eq!(fit.mean_values(), [1.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Fit {
    pub(crate) layout: Layout,
    pub(crate) chains: Vec<ChainDraws>,
    #[serde(rename = "endings")]
    pub(crate) outcomes: Vec<ChainOutcome>,
    pub(crate) mode: Option<Mode>,
    pub(crate) info: RunInfo,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) groups: Vec<Group>,
}

impl Fit {
    /// Creates a fit of complete chains whose values are laid out by `layout`.
    ///
    /// # Errors
    ///
    /// Returns an error if the draws of a chain do not have as many values as `layout`.
    pub fn new(layout: Layout, chains: Vec<ChainDraws>) -> Result<Self> {
        let expected = layout.value_count();
        if let Some(chain) = chains.iter().find(|chain| chain.width() != expected) {
            return Err(Error::Length { what: "a draw of a chain", expected, found: chain.width() });
        }
        let outcomes = vec![ChainOutcome::Complete; chains.len()];
        Ok(Self { layout, chains, outcomes, mode: None, info: RunInfo::default(), groups: Vec::new() })
    }

    /// Returns this fit with the given outcomes of its chains.
    ///
    /// # Errors
    ///
    /// Returns an error if there is not one outcome per chain.
    pub fn with_outcomes(self, outcomes: Vec<ChainOutcome>) -> Result<Self> {
        let (expected, found) = (self.chains.len(), outcomes.len());
        if expected != found {
            return Err(Error::Length { what: "the list of outcomes (one per chain)", expected, found });
        }
        Ok(Self { outcomes, ..self })
    }

    /// Returns this fit with the given posterior mode.
    #[must_use]
    pub fn with_mode(self, mode: Option<Mode>) -> Self {
        Self { mode, ..self }
    }

    /// Returns this fit with the given settings of the run.
    #[must_use]
    pub fn with_info(self, info: RunInfo) -> Self {
        Self { info, ..self }
    }

    /// Returns this fit with names of the dimensions of the parameter `name`, and of the positions along them. They stand in
    /// tables, plots and files, as in `beta[age]`, and select values.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such parameter, or if the axes do not fit its shape.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::Axis;
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<2>| theta.square().sum() * -0.5);
    /// let fit = hmc(&model, &Dataset::none(), 0.5).sample(&zeros([2, 2]), 50)?;
    /// let county = Axis::new("county").labels(["Aitkin", "Cook"]);
    /// let fit = fit.with_axes("theta", [county, Axis::new("year")])?;
    /// assert_eq!(fit.layout().value_names()[3], "theta[Cook,1]");
    /// assert_eq!(fit.select(&["theta[Cook,*]"])?.layout().value_names(), ["theta[Cook,0]", "theta[Cook,1]"]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn with_axes(self, name: &str, axes: impl IntoIterator<Item = Axis>) -> Result<Self> {
        Ok(Self { layout: self.layout.with_axes(name, axes)?, ..self })
    }

    /// Returns this fit with labels of the positions of the parameter `name`, which has one dimension. A name of the
    /// dimension that is declared with `#[tree(dims = "…")]` is kept.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such parameter, if it does not have one dimension, or if there is not one label for
    /// each of its values.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let fit = hmc(&model, &Dataset::none(), 0.5).sample(&zeros([2]), 50)?;
    /// let fit = fit.with_labels("theta", ["age", "income"])?;
    /// assert_eq!(fit.element("theta[age]")?[0].len(), 50);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn with_labels<L: Into<String>>(self, name: &str, labels: impl IntoIterator<Item = L>) -> Result<Self> {
        Ok(Self { layout: self.layout.with_labels(name, labels)?, ..self })
    }

    /// Returns the names, shapes and ranges of the parameters.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the draws of each chain.
    pub fn chains(&self) -> &[ChainDraws] {
        &self.chains
    }

    /// Returns the outcome of each chain.
    pub fn outcomes(&self) -> &[ChainOutcome] {
        &self.outcomes
    }

    /// Returns the posterior mode at which the chains started, or `None` if no mode was searched.
    pub fn mode(&self) -> Option<&Mode> {
        self.mode.as_ref()
    }

    /// Returns the settings and the cost of the run.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// Returns the number of chains in words: "4 chains", or "12 chains (4 runs of 3 interleaved chains)".
    pub fn describe_chains(&self) -> String {
        let chains = count(self.chains.len(), "chain");
        let interleaved = self.info.interleaved;
        if interleaved <= 1 || !self.chains.len().is_multiple_of(interleaved) {
            return chains;
        }
        format!("{chains} ({} of {interleaved} interleaved chains)", count(self.chains.len() / interleaved, "run"))
    }

    /// Returns the draws of the value `name`, such as `beta[3]`, one vector per chain.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no value with this name.
    pub fn element(&self, name: &str) -> Result<Vec<Vec<f64>>> {
        let index = self.layout.index(name)?;
        Ok(self.chains.iter().map(|chain| chain.element(index)).collect())
    }

    /// Returns whether the draws have different weights.
    pub fn is_weighted(&self) -> bool {
        let mut weights = self.chains.iter().flat_map(|chain| chain.weights());
        let first = weights.next().copied().unwrap_or(1.0);
        weights.any(|weight| (weight - first).abs() > 1e-12 * first.abs())
    }

    /// Returns the mean of the statistic `name` over all draws, or `None` if no chain recorded it.
    pub(crate) fn stat_mean(&self, name: &str) -> Option<f64> {
        let values: Vec<f64> = self.chains.iter().filter_map(|chain| chain.stat(name)).flatten().copied().collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}

/// A deserialized fit whose parts may be inconsistent.
#[derive(Deserialize)]
struct Unchecked {
    layout: Layout,
    chains: Vec<ChainDraws>,
    #[serde(rename = "endings")]
    outcomes: Vec<ChainOutcome>,
    mode: Option<Mode>,
    info: RunInfo,
    #[serde(default)]
    groups: Vec<Group>,
}

impl TryFrom<Unchecked> for Fit {
    type Error = Error;

    fn try_from(read: Unchecked) -> Result<Self> {
        let Unchecked { layout, chains, outcomes, mode, info, groups } = read;
        let fit = Self::new(layout, chains)?.with_outcomes(outcomes)?.with_mode(mode).with_info(info);
        groups.into_iter().try_fold(fit, Self::with_group)
    }
}
