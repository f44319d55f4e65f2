//! Summaries of fits: a table with one row per value and the columns of ArviZ's `summary`.

mod columns;
mod export;
mod html;
mod options;
mod table;

use std::ops::Range;

use sgmcmc_diagnostics::{Description, Sample, describe_all};
use sgmcmc_gradient::{Error, Result};

use self::columns::{Column, columns};
pub use self::options::{IntervalKind, SummaryOptions, SummaryOrder};
use super::{ChainOutcome, Fit};
use crate::text::count;

/// A summary of every value over all chains. If the weights of the draws differ, the statistics are weighted.
///
/// The columns are those of ArviZ 1.x. `ess_tail` is the smaller effective sample size of the quantiles at 11 % and 89 %;
/// Stan and ArviZ before 1.0 use 5 % and 95 %. For one chain, R-hat compares the halves of the chain.
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
    columns: Vec<Column>,
    /// The number of significant digits of a standard deviation in the table.
    digits: usize,
    /// The number of values of the fit.
    values: usize,
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
        Summary::new(self, &SummaryOptions::default())
    }

    /// Returns a summary with other columns, another order or fewer rows.
    ///
    /// # Errors
    ///
    /// Returns an error if a probability is out of range, or if rates are requested and the run times are not known.
    pub fn summary_with(&self, options: &SummaryOptions) -> Result<Summary> {
        options.check()?;
        if options.ess_per_second && self.info.seconds.iter().sum::<f64>() <= 0.0 {
            let reason =
                "its run times are not recorded, so that there is no effective sample size per second".to_owned();
            return Err(Error::Draws { reason });
        }
        Ok(Summary::new(self, options))
    }
}

impl Summary {
    /// Computes the summary of a fit.
    fn new(fit: &Fit, options: &SummaryOptions) -> Self {
        // The diagnostics truncate all chains to the shortest. A chain without draws must not count.
        let chains: Vec<_> = fit.chains.iter().filter(|chain| !chain.is_empty()).collect();
        let tables: Vec<&[f64]> = chains.iter().map(|chain| chain.values()).collect();
        let weights: Vec<&[f64]> = chains.iter().map(|chain| chain.weights()).collect();
        let weights = if fit.is_weighted() { Some(&weights[..]) } else { None };
        let mut names = fit.layout.value_names();
        let mut rows = describe_all(&tables, fit.layout.value_count(), weights);
        if let [chain] = chains[..] {
            for (index, row) in rows.iter_mut().enumerate() {
                let draws = [chain.element(index)];
                row.r_hat = match weights {
                    Some(weights) => Sample::weighted(&draws, weights).r_hat_of_halves(),
                    None => Sample::new(&draws).r_hat_of_halves(),
                };
            }
        }
        let values = rows.len();
        let mut indices: Vec<usize> = (0..values).collect();
        let mut blocks: Vec<_> =
            fit.layout.blocks().iter().map(|block| (block.name.clone(), block.values.clone())).collect();
        let (sorted, top) = (options.order != SummaryOrder::Declared, options.top.unwrap_or(usize::MAX));
        if sorted || top < values {
            sort(&mut indices, &names, &rows, options.order);
            indices.truncate(top);
            names = indices.iter().map(|index| names[*index].clone()).collect();
            rows = indices.iter().map(|index| rows[*index]).collect();
            blocks = vec![(String::new(), 0..rows.len())];
        }
        let columns = columns(fit, &rows, &indices, options);
        Self {
            names,
            rows,
            columns,
            digits: options.digits.unwrap_or(table::DIGITS).clamp(1, 17),
            values,
            blocks,
            draws: chains.iter().map(|chain| chain.len()).sum(),
            chains: fit.chains.len(),
            warnings: warnings(fit),
            folded: !sorted && top >= values,
        }
    }

    /// Returns the number of chains.
    pub fn chains(&self) -> usize {
        self.chains
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

/// Sorts the indices of values. Undefined numbers come last.
fn sort(indices: &mut [usize], names: &[String], rows: &[Description], order: SummaryOrder) {
    let key = |row: &Description| match order {
        SummaryOrder::Declared | SummaryOrder::Name => 0.0,
        SummaryOrder::RHat => -row.r_hat,
        SummaryOrder::EssBulk => row.ess_bulk,
        SummaryOrder::EssTail => row.ess_tail,
        SummaryOrder::MonteCarloError => -row.mcse_mean / row.sd,
        SummaryOrder::Mean => -row.mean,
        SummaryOrder::StandardDeviation => -row.sd,
    };
    if order == SummaryOrder::Name {
        indices.sort_by(|a, b| names[*a].cmp(&names[*b]));
    } else {
        // NaN of either sign is larger than all numbers here.
        let key = |index: &usize| Some(key(&rows[*index])).filter(|key| !key.is_nan()).unwrap_or(f64::INFINITY);
        indices.sort_by(|a, b| key(a).total_cmp(&key(b)));
    }
}

/// Returns the warnings of a summary.
fn warnings(fit: &Fit) -> Vec<String> {
    let unfinished = fit.mode.as_ref().filter(|mode| !mode.is_close());
    let search = unfinished.map(|mode| format!("the mode search {mode}"));
    let failures =
        fit.outcomes.iter().zip(&fit.chains).enumerate().filter_map(|(number, (outcome, chain))| match outcome {
            ChainOutcome::Complete | ChainOutcome::Stopped => None,
            ChainOutcome::Failed(error) => {
                Some(format!("chain {number} ended after {}: {error}", count(chain.len(), "draw")))
            }
        });
    search.into_iter().chain(failures).chain(fit.describe_stopped()).collect()
}
