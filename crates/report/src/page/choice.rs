//! Which parameters deserve a look.

use sgmcmc_diagnostics::{mean, standard_deviation};
use sgmcmc_samplers::{Fit, Summary, SummaryRow};

use crate::plotter::variable;

/// Parameters of a pair plot.
const PAIRED: usize = 4;
/// Draws of each chain that correlations are computed from.
const DRAWS: usize = 400;

/// At most `limit` places in the summary, in its order: all, or those with the worst R-hat and ESS.
pub(super) fn worst(summary: &Summary, chains: usize, limit: usize) -> Vec<usize> {
    let rows = summary.rows();
    let mut places: Vec<usize> = (0..rows.len()).collect();
    if places.len() > limit {
        let doubt = |place: usize| doubt(&rows[place], chains);
        places.sort_by(|a, b| doubt(*b).total_cmp(&doubt(*a)));
        places.truncate(limit);
        places.sort_unstable();
    }
    places
}

/// How far a parameter is beyond the thresholds of R-hat (1.01) and ESS (100 per chain); above 1 is beyond. What is undefined counts
/// little: constants say nothing.
pub(super) fn doubt(row: &SummaryRow, chains: usize) -> f64 {
    let apart = (row.r_hat - 1.0) / 0.01;
    let few = 100.0 * chains as f64 / row.ess_bulk.min(row.ess_tail);
    [apart, few].into_iter().filter(|doubt| !doubt.is_nan()).fold(0.5, f64::max)
}

/// A few of the `chosen` places for a pair plot: the most doubtful one and those that are most correlated.
pub(super) fn pairs(fit: &Fit, summary: &Summary, chosen: &[usize]) -> Vec<usize> {
    let rows = summary.rows();
    let doubt = |place: &usize| doubt(&rows[*place], fit.chains().len());
    let mut paired: Vec<usize> = chosen
        .iter()
        .copied()
        .filter(|p| doubt(p) > 1.0)
        .max_by(|a, b| doubt(a).total_cmp(&doubt(b)))
        .into_iter()
        .collect();
    let columns: Vec<(usize, Vec<f64>)> = chosen.iter().map(|&place| (place, standardised(fit, place))).collect();
    let columns: Vec<_> = columns.into_iter().filter(|column| column.1.iter().all(|v| v.is_finite())).collect();
    let mut correlations = Vec::new();
    for (i, (a, x)) in columns.iter().enumerate() {
        for (b, y) in &columns[..i] {
            correlations.push((x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>().abs(), *a, *b));
        }
    }
    correlations.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (_, a, b) in correlations {
        for place in [a, b] {
            if paired.len() < PAIRED && !paired.contains(&place) {
                paired.push(place);
            }
        }
        if paired.len() == PAIRED {
            break;
        }
    }
    paired.sort_unstable();
    paired
}

/// Evenly spread draws of all chains, less their mean, over their standard deviation.
fn standardised(fit: &Fit, place: usize) -> Vec<f64> {
    let chains = variable(fit, place).chains;
    let thinned =
        |chain: &Vec<f64>| chain.iter().copied().step_by(chain.len().div_ceil(DRAWS).max(1)).collect::<Vec<_>>();
    let draws: Vec<f64> = chains.iter().flat_map(thinned).collect();
    let weights = vec![1.0; draws.len()];
    let (centre, sd) = (mean(&draws, &weights), standard_deviation(&draws, &weights));
    draws.iter().map(|x| (x - centre) / sd).collect()
}
