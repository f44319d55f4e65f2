//! Selection of the parameters that are shown with plots.

use sgmcmc_diagnostics::{Description, mean, standard_deviation};
use sgmcmc_fit::{Fit, Summary, Thresholds};

use crate::plotter::variable;

/// The number of parameters of the pair plot.
const PAIRED: usize = 4;
/// The number of draws per chain that correlations are computed from.
const DRAWS: usize = 400;

/// Returns at most `limit` row indices of the summary in increasing order: all, or those with the worst R-hat and ESS.
pub(super) fn worst(summary: &Summary, chains: usize, limit: usize) -> Vec<usize> {
    let rows = summary.rows();
    let mut selected: Vec<usize> = (0..rows.len()).collect();
    if selected.len() > limit {
        let excess = |index: usize| threshold_ratio(&rows[index], chains);
        selected.sort_by(|a, b| excess(*b).total_cmp(&excess(*a)));
        selected.truncate(limit);
        selected.sort_unstable();
    }
    selected
}

/// Returns the larger of the ratios of R-hat − 1 and 1/ESS to their thresholds. Above 1, a threshold is exceeded.
/// Undefined ratios, for instance of constants, are ignored.
pub(super) fn threshold_ratio(row: &Description, chains: usize) -> f64 {
    let thresholds = Thresholds::default();
    let r_hat = (row.r_hat - 1.0) / (thresholds.r_hat - 1.0);
    let ess = thresholds.ess_per_chain * chains as f64 / row.ess_bulk.min(row.ess_tail);
    [r_hat, ess].into_iter().filter(|ratio| !ratio.is_nan()).fold(0.5, f64::max)
}

/// Returns the row indices of a pair plot: of the `selected` parameters, the worst one above a threshold and the most
/// correlated ones.
pub(super) fn pairs(fit: &Fit, summary: &Summary, selected: &[usize]) -> Vec<usize> {
    let rows = summary.rows();
    let excess = |index: &usize| threshold_ratio(&rows[*index], fit.chains().len());
    let mut paired: Vec<usize> = selected
        .iter()
        .copied()
        .filter(|index| excess(index) > 1.0)
        .max_by(|a, b| excess(a).total_cmp(&excess(b)))
        .into_iter()
        .collect();
    let columns: Vec<(usize, Vec<f64>)> = selected.iter().map(|&index| (index, standardized(fit, index))).collect();
    let columns: Vec<_> = columns.into_iter().filter(|column| column.1.iter().all(|v| v.is_finite())).collect();
    let mut correlations = Vec::new();
    for (i, (a, x)) in columns.iter().enumerate() {
        for (b, y) in &columns[..i] {
            correlations.push((x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>().abs(), *a, *b));
        }
    }
    correlations.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (_, a, b) in correlations {
        for index in [a, b] {
            if paired.len() < PAIRED && !paired.contains(&index) {
                paired.push(index);
            }
        }
        if paired.len() == PAIRED {
            break;
        }
    }
    paired.sort_unstable();
    paired
}

/// Returns evenly spaced draws of all chains, standardized to mean 0 and standard deviation 1.
fn standardized(fit: &Fit, index: usize) -> Vec<f64> {
    let chains = variable(fit, index).chains;
    let thinned =
        |chain: &Vec<f64>| chain.iter().copied().step_by(chain.len().div_ceil(DRAWS).max(1)).collect::<Vec<_>>();
    let draws: Vec<f64> = chains.iter().flat_map(thinned).collect();
    let weights = vec![1.0; draws.len()];
    let (center, sd) = (mean(&draws, &weights), standard_deviation(&draws, &weights));
    draws.iter().map(|x| (x - center) / sd).collect()
}
