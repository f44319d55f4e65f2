//! Summaries of fits: a table with one row per value and the columns of ArviZ's `summary`.

mod export;
mod table;

use std::ops::Range;

use sgmcmc_diagnostics::{Description, describe_all};

use super::{ChainOutcome, Fit};
use crate::text::count;

/// The names of the columns, in order.
const COLUMNS: [&str; 9] =
    ["mean", "sd", "eti89_lb", "eti89_ub", "ess_bulk", "ess_tail", "r_hat", "mcse_mean", "mcse_sd"];

/// Returns the numbers of a row in the order of [`COLUMNS`].
fn numbers(row: &Description) -> [f64; 9] {
    let Description { mean, sd, eti89_lb, eti89_ub, ess_bulk, ess_tail, r_hat, mcse_mean, mcse_sd } = *row;
    [mean, sd, eti89_lb, eti89_ub, ess_bulk, ess_tail, r_hat, mcse_mean, mcse_sd]
}

/// A summary of every value over all chains. If the weights of the draws differ, the statistics are weighted.
///
/// `Display` prints a table for a terminal. Long tensors are folded, see [`unfolded`](Self::unfolded). NaN means that a
/// statistic is not defined, because there are too few draws or because the value is constant.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.025).seed(1).chains(2).sample(&zeros([2]), 500)?;
/// let summary = fit.summary();
/// assert!(summary.row("theta[0]").is_some_and(|row| row.mean.abs() < 1.0 && row.sd > 0.5));
/// assert!(summary.to_string().ends_with("1000 draws of 2 chains"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The name of each row.
    names: Vec<String>,
    rows: Vec<Description>,
    /// The name and the range of rows of each parameter.
    blocks: Vec<(String, Range<usize>)>,
    draws: usize,
    chains: usize,
    warnings: Vec<String>,
    folded: bool,
}

impl Fit {
    /// Returns the mean, standard deviation, interval, effective sample sizes, R-hat and Monte Carlo errors of every
    /// value.
    pub fn summary(&self) -> Summary {
        Summary::new(self)
    }
}

impl Summary {
    /// Computes the summary of a fit.
    pub(super) fn new(fit: &Fit) -> Self {
        // The diagnostics truncate all chains to the shortest. A chain without draws must not count.
        let chains: Vec<_> = fit.chains.iter().filter(|chain| !chain.is_empty()).collect();
        let tables: Vec<&[f64]> = chains.iter().map(|chain| chain.values()).collect();
        let weights: Vec<&[f64]> = chains.iter().map(|chain| chain.weights()).collect();
        let weights = if fit.is_weighted() { Some(&weights[..]) } else { None };
        Self {
            names: fit.layout.value_names(),
            rows: describe_all(&tables, fit.layout.value_count(), weights),
            blocks: fit.layout.blocks().iter().map(|block| (block.name.clone(), block.values.clone())).collect(),
            draws: chains.iter().map(|chain| chain.len()).sum(),
            chains: fit.chains.len(),
            warnings: warnings(fit),
            folded: true,
        }
    }

    /// Returns warnings about chains that are not complete, and about a mode search that did not converge.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the names of the values, in the order of the rows.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the rows, one per value.
    pub fn rows(&self) -> &[Description] {
        &self.rows
    }

    /// Returns the row of the value `name`, or `None` if there is no such value.
    pub fn row(&self, name: &str) -> Option<&Description> {
        self.named_rows().find_map(|(known, row)| (known == name).then_some(row))
    }

    /// Returns an iterator over the names and the rows.
    pub(crate) fn named_rows(&self) -> impl Iterator<Item = (&str, &Description)> {
        self.names.iter().map(String::as_str).zip(&self.rows)
    }

    /// Returns this summary without folding: `Display` prints every row of long tensors.
    #[must_use]
    pub fn unfolded(self) -> Self {
        Self { folded: false, ..self }
    }
}

/// Returns the warnings of a summary.
fn warnings(fit: &Fit) -> Vec<String> {
    let unfinished = fit.mode.as_ref().filter(|mode| !mode.is_close());
    let search = unfinished.map(|mode| format!("the mode search {mode}"));
    let failures =
        fit.outcomes.iter().zip(&fit.chains).enumerate().filter_map(|(number, (outcome, chain))| match outcome {
            ChainOutcome::Complete => None,
            ChainOutcome::Stopped => Some(format!("chain {number} was stopped after {}", count(chain.len(), "draw"))),
            ChainOutcome::Failed(error) => {
                Some(format!("chain {number} ended after {}: {error}", count(chain.len(), "draw")))
            }
        });
    search.into_iter().chain(failures).collect()
}
