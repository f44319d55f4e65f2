//! A table of a fit, a line per value.

use std::fmt;

use sgmcmc_diagnostics::{effective_sample_size, mean, quantiles, standard_deviation};

use sgmcmc_core::mode;

use super::{Ending, Fit};

/// One line of a [`Summary`].
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryRow {
    /// The name of the value.
    pub name: String,
    /// The weighted mean.
    pub mean: f64,
    /// The weighted standard deviation.
    pub sd: f64,
    /// The weighted quantile at 5 %.
    pub q5: f64,
    /// The weighted median.
    pub median: f64,
    /// The weighted quantile at 95 %.
    pub q95: f64,
    /// The effective sample size, over all chains.
    pub ess: f64,
}

/// What the draws say of every value, over all chains.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    rows: Vec<SummaryRow>,
    draws: usize,
    chains: usize,
    warnings: Vec<String>,
}

impl Summary {
    pub(super) fn of(fit: &Fit) -> Self {
        let weights: Vec<f64> = fit.chains.iter().flat_map(|chain| chain.weights().iter().copied()).collect();
        let row = |(index, name): (usize, String)| {
            let chains: Vec<Vec<f64>> = fit.chains.iter().map(|chain| chain.element(index)).collect();
            let draws = chains.concat();
            let q = quantiles(&draws, &weights, &[0.05, 0.5, 0.95]);
            let sizes = chains.iter().zip(&fit.chains).map(|(x, chain)| effective_sample_size(x, chain.weights()));
            let ess = sizes.sum();
            let (mean, sd) = (mean(&draws, &weights), standard_deviation(&draws, &weights));
            SummaryRow { name, mean, sd, q5: q[0], median: q[1], q95: q[2], ess }
        };
        let unfinished = fit.mode.as_ref().filter(|mode| mode.ending == mode::Ending::IterationLimit);
        let search = unfinished.map(|mode| format!("the mode search {mode}"));
        let failures = fit.endings.iter().enumerate().filter_map(|(chain, ending)| match ending {
            Ending::Complete => None,
            Ending::Stopped => Some(format!("chain {chain} was stopped after {} draws", fit.chains[chain].len())),
            Ending::Failed(error) => {
                Some(format!("chain {chain} ended after {} draws: {error}", fit.chains[chain].len()))
            }
        });
        Self {
            rows: fit.layout.elements().into_iter().enumerate().map(row).collect(),
            draws: weights.len(),
            chains: fit.chains.len(),
            warnings: search.into_iter().chain(failures).collect(),
        }
    }

    /// What went wrong: chains that ended early, a mode search that ran out of iterations.
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
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|row| row.name.len()).max().unwrap_or(0).max("value".len());
        writeln!(
            f,
            "{:<width$} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8}",
            "value", "mean", "sd", "5 %", "median", "95 %", "ess"
        )?;
        for SummaryRow { name, mean, sd, q5, median, q95, ess } in &self.rows {
            writeln!(f, "{name:<width$} {mean:>10.4} {sd:>10.4} {q5:>10.4} {median:>10.4} {q95:>10.4} {ess:>8.0}")?;
        }
        write!(f, "{} draws of {} chain(s)", self.draws, self.chains)?;
        self.warnings.iter().try_for_each(|warning| write!(f, "\n{warning}"))
    }
}
