//! A table of a fit, a line per value, with the columns and names of ArviZ's `summary`.

mod export;
mod table;

use std::ops::Range;

use serde::Serialize;
use sgmcmc_diagnostics::describe_all;

use super::{Ending, Fit};

/// One line of a [`Summary`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryRow {
    /// The name of the value.
    pub name: String,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
    /// The lower end of the equal-tailed interval that holds 89 %.
    pub eti89_lb: f64,
    /// Its upper end.
    pub eti89_ub: f64,
    /// The effective sample size of the bulk, over all chains.
    pub ess_bulk: f64,
    /// The effective sample size of the tails, over all chains.
    pub ess_tail: f64,
    /// Rank-normalised split R-hat.
    pub r_hat: f64,
    /// The Monte Carlo standard error of the mean.
    pub mcse_mean: f64,
    /// The Monte Carlo standard error of the standard deviation.
    pub mcse_sd: f64,
}

/// The names of the numbers of a [`SummaryRow`], in order.
const COLUMNS: [&str; 9] =
    ["mean", "sd", "eti89_lb", "eti89_ub", "ess_bulk", "ess_tail", "r_hat", "mcse_mean", "mcse_sd"];

impl SummaryRow {
    /// The numbers, in the order of [`COLUMNS`].
    fn numbers(&self) -> [f64; 9] {
        let Self { mean, sd, eti89_lb, eti89_ub, ess_bulk, ess_tail, r_hat, mcse_mean, mcse_sd, .. } = self;
        [*mean, *sd, *eti89_lb, *eti89_ub, *ess_bulk, *ess_tail, *r_hat, *mcse_mean, *mcse_sd]
    }
}

/// What the draws say of every value, over all chains. Draws count by their weights where these differ.
///
/// Printed, it is a table for a terminal; long tensors are folded, see [`unfolded`](Self::unfolded). NaN means undefined: too few draws,
/// or a value that does not vary.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    rows: Vec<SummaryRow>,
    /// The name and the rows of each parameter.
    blocks: Vec<(String, Range<usize>)>,
    draws: usize,
    chains: usize,
    warnings: Vec<String>,
    folded: bool,
}

impl Summary {
    pub(super) fn of(fit: &Fit) -> Self {
        // A chain that failed before its first draw says nothing, and must not cut the others to its length.
        let chains: Vec<_> = fit.chains.iter().filter(|chain| !chain.is_empty()).collect();
        let tables: Vec<&[f64]> = chains.iter().map(|chain| chain.values()).collect();
        let weights: Vec<&[f64]> = chains.iter().map(|chain| chain.weights()).collect();
        let weights = if fit.is_weighted() { Some(&weights[..]) } else { None };
        let described = describe_all(&tables, fit.layout.value_count(), weights);
        let row = |(name, d): (String, sgmcmc_diagnostics::Description)| SummaryRow {
            name,
            mean: d.mean,
            sd: d.sd,
            eti89_lb: d.eti89_lb,
            eti89_ub: d.eti89_ub,
            ess_bulk: d.ess_bulk,
            ess_tail: d.ess_tail,
            r_hat: d.r_hat,
            mcse_mean: d.mcse_mean,
            mcse_sd: d.mcse_sd,
        };
        Self {
            rows: fit.layout.elements().into_iter().zip(described).map(row).collect(),
            blocks: fit.layout.blocks().iter().map(|block| (block.name.clone(), block.values.clone())).collect(),
            draws: chains.iter().map(|chain| chain.len()).sum(),
            chains: fit.chains.len(),
            warnings: warnings(fit),
            folded: true,
        }
    }

    /// Chains that ended early, and a mode search that ended too far from the mode.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The lines.
    pub fn rows(&self) -> &[SummaryRow] {
        &self.rows
    }

    /// The line of the value `name`.
    pub fn row(&self, name: &str) -> Option<&SummaryRow> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// The same summary, printed with every line of long tensors.
    #[must_use]
    pub fn unfolded(self) -> Self {
        Self { folded: false, ..self }
    }
}

fn warnings(fit: &Fit) -> Vec<String> {
    let unfinished = fit.mode.as_ref().filter(|mode| !mode.is_close());
    let search = unfinished.map(|mode| format!("the mode search {mode}"));
    let failures =
        fit.endings.iter().zip(&fit.chains).enumerate().filter_map(|(number, (ending, chain))| match ending {
            Ending::Complete => None,
            Ending::Stopped => Some(format!("chain {number} was stopped after {} draws", chain.len())),
            Ending::Failed(error) => Some(format!("chain {number} ended after {} draws: {error}", chain.len())),
        });
    search.into_iter().chain(failures).collect()
}
