//! Draws and stored arrays of a fit in the form that plots take.

use sgmcmc_fit::{ChainDraws, Fit, Variable};

use crate::error::{Error, Result};
use crate::plot;

/// Returns the draws of the prior of a value that are stored with the fit.
pub(crate) fn stored_prior(fit: &Fit, index: usize) -> Option<Vec<f64>> {
    let block = fit.layout().blocks().iter().find(|block| block.values.contains(&index))?;
    let prior = fit.group("prior")?.variable(&block.name)?;
    let width = block.values.len();
    let first = index - block.values.start;
    (prior.width() == width).then(|| prior.values.iter().skip(first).step_by(width).copied().collect())
}

/// Returns the observed data of a variable and the data sets drawn at evenly spaced draws.
pub(crate) fn predictive<'f>(fit: &'f Fit, name: &str) -> Result<(&'f Variable, Vec<Vec<f64>>)> {
    let (observed, drawn) = checked(fit, name, "predictive check")?;
    let lengths: Vec<usize> = fit.chains().iter().map(|chain| chain.len()).collect();
    let rows: Vec<&[f64]> = lengths
        .iter()
        .enumerate()
        .flat_map(|(chain, length)| (0..*length).map(move |draw| drawn.row(chain, draw)))
        .collect();
    Ok((observed, plot::spread(rows.len(), 40).map(|index| rows[index].to_vec()).collect()))
}

/// Returns the observed data of a variable and its predictive draws, which have the same number of values.
fn checked<'f>(fit: &'f Fit, name: &str, plot: &'static str) -> Result<(&'f Variable, &'f Variable)> {
    let find = |group: &str| fit.group(group).and_then(|group| group.variable(name));
    let missing = |what: &str, remedy: &str| Error::Input {
        plot,
        reason: format!("the fit has no {what} of `{name}`; add them with `fit.{remedy}`"),
    };
    let observed = find("observed_data").ok_or_else(|| missing("observed data", "with_observed_data"))?;
    let drawn =
        find("posterior_predictive").filter(|drawn| drawn.has_draws() && drawn.width() == observed.values.len());
    let drawn = drawn.ok_or_else(|| missing("predictive draws of this shape", "with_posterior_predictive"))?;
    Ok((observed, drawn))
}

/// Predicted probabilities of a variable with the values 0 and 1, and its observed values.
#[derive(Clone, Debug)]
pub(crate) struct Probabilities<'f> {
    /// The weighted means of the predictive draws.
    pub(crate) predicted: Vec<f64>,
    pub(crate) outcomes: &'f [f64],
}

impl<'f> Probabilities<'f> {
    /// Returns the probabilities of the variable `name`.
    pub(crate) fn new(fit: &'f Fit, name: &str) -> Result<Self> {
        let (observed, drawn) = checked(fit, name, "reliability plot")?;
        let is_binary = |values: &[f64]| values.iter().all(|y| matches!(*y, 0.0 | 1.0));
        if !is_binary(&observed.values) {
            let reason = format!("the observed values of `{name}` are not all 0 or 1");
            return Err(Error::Input { plot: "reliability plot", reason });
        }
        let (mut predicted, mut total) = (vec![0.0; observed.values.len()], 0.0);
        for (number, chain) in fit.chains().iter().enumerate() {
            for (draw, weight) in chain.weights().iter().enumerate() {
                let row = drawn.row(number, draw);
                predicted.iter_mut().zip(row).for_each(|(sum, y)| *sum += weight * y);
                total += weight;
            }
        }
        predicted.iter_mut().for_each(|sum| *sum /= total);
        // Draws may be probabilities in place of outcomes.
        if predicted.iter().any(|p| !(-1e-9..=1.0 + 1e-9).contains(p)) {
            let reason = format!("the mean of the predictive draws of `{name}` is not a probability");
            return Err(Error::Input { plot: "reliability plot", reason });
        }
        predicted.iter_mut().for_each(|p| *p = p.clamp(0.0, 1.0));
        Ok(Self { predicted, outcomes: &observed.values })
    }
}

/// Returns whether each draw of each chain was made by a divergent transition. Empty if no chain recorded it.
pub(crate) fn divergent(fit: &Fit) -> Vec<Vec<bool>> {
    let flags = |chain: &ChainDraws| -> Vec<bool> {
        chain.stat("diverging").map_or_else(|| vec![false; chain.len()], |stat| stat.iter().map(|x| *x > 0.0).collect())
    };
    if fit.chains().iter().all(|chain| chain.stat("diverging").is_none()) {
        return Vec::new();
    }
    fit.chains().iter().map(flags).collect()
}
