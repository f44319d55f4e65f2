//! The columns, the order and the length of a summary.

use sgmcmc_gradient::{Error, Result};

/// The kind of the interval of a summary.
///
/// # Examples
///
/// See [`SummaryOptions`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IntervalKind {
    /// The interval between two quantiles that leaves the same probability on both sides.
    #[default]
    EqualTailed,
    /// The shortest interval; see [`highest_density`](sgmcmc_diagnostics::highest_density).
    HighestDensity,
}

impl IntervalKind {
    /// Returns the name in columns, as in ArviZ.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::EqualTailed => "eti",
            Self::HighestDensity => "hdi",
        }
    }
}

/// The order of the rows of a summary.
///
/// # Examples
///
/// See [`SummaryOptions`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummaryOrder {
    /// The order of the parameters.
    #[default]
    Declared,
    /// The largest R-hat first.
    RHat,
    /// The smallest effective sample size of the bulk first.
    EssBulk,
    /// The smallest effective sample size of the tails first.
    EssTail,
    /// The largest Monte Carlo error of the mean relative to the standard deviation first.
    MonteCarloError,
    /// The largest mean first.
    Mean,
    /// The largest standard deviation first.
    StandardDeviation,
    /// The names in alphabetic order.
    Name,
}

/// The columns, the order and the length of a summary.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::{IntervalKind, SummaryOptions, SummaryOrder};
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.025).seed(1).chains(2).sample(&zeros([5]), 200)?;
/// let options = SummaryOptions {
///     interval: IntervalKind::HighestDensity,
///     probability: 0.5,
///     quantiles: vec![0.05, 0.5, 0.95],
///     order: SummaryOrder::EssBulk,
///     top: Some(2),
///     ..SummaryOptions::default()
/// };
/// let summary = fit.summary_with(&options)?;
/// assert!(summary.to_csv().starts_with(",mean,sd,q5,q50,q95,hdi50_lb,hdi50_ub,ess_bulk"));
/// assert_eq!(summary.rows().len(), 2);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryOptions {
    /// The kind of the interval.
    pub interval: IntervalKind,
    /// The probability of the interval.
    pub probability: f64,
    /// True if there is a column with the median.
    pub median: bool,
    /// The probabilities of the quantiles that have a column each.
    pub quantiles: Vec<f64>,
    /// The number of significant digits of the standard deviation in the table; Monte Carlo errors have one fewer, and
    /// R-hat has as many decimals. The default is 3. CSV and JSON have all digits.
    pub digits: Option<usize>,
    /// The order of the rows.
    pub order: SummaryOrder,
    /// The largest number of rows. `None` keeps all.
    pub top: Option<usize>,
    /// True if there is a column with the effective sample size of the bulk per second of the run time of all chains.
    pub ess_per_second: bool,
}

impl Default for SummaryOptions {
    fn default() -> Self {
        Self {
            interval: IntervalKind::EqualTailed,
            probability: 0.89,
            median: false,
            quantiles: Vec::new(),
            digits: None,
            order: SummaryOrder::Declared,
            top: None,
            ess_per_second: false,
        }
    }
}

impl SummaryOptions {
    /// Checks the probabilities.
    pub(super) fn check(&self) -> Result<()> {
        let invalid = |name, value: f64, expected| Err(Error::Setting { name, value: value.to_string(), expected });
        if !(self.probability > 0.0 && self.probability < 1.0) {
            return invalid("the probability of the interval", self.probability, "a number between 0 and 1");
        }
        match self.quantiles.iter().find(|p| !(0.0..=1.0).contains(*p)) {
            Some(p) => invalid("the probability of a quantile", *p, "a number from 0 to 1"),
            None => Ok(()),
        }
    }

    /// Returns the first part of the names of the columns of the interval, such as `eti89`.
    pub(super) fn interval_name(&self) -> String {
        format!("{}{}", self.interval.name(), percent(self.probability))
    }
}

/// Formats a probability in percent without trailing zeros.
pub(super) fn percent(p: f64) -> String {
    // Rounded, because 100 · 0.07 is not 7 in floating point.
    format!("{}", (1e8 * p).round() / 1e6)
}
