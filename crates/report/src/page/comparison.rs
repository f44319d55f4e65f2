//! A page that compares several fits.

use std::collections::HashMap;

use sgmcmc_diagnostics::loo::{ModelEstimates, ModelWeights, compare};
use sgmcmc_fit::{Fit, count};

use super::Gallery;
use crate::error::Result;
use crate::plot::{self, Frame};
use crate::plotter::{ValueDraws, interval};

/// The largest number of common values with a density plot.
const DENSITIES: usize = 24;
/// The largest number of rows of the forest plot.
const ROWS: usize = 60;

/// The names of the colors of the palette, in order.
const COLORS: [&str; 8] = ["blue", "orange", "green", "pink", "ocher", "light blue", "brown", "violet"];

/// Creates a page that compares fits: their verdicts, their predictive accuracy if all have log-likelihoods of the same
/// observations, the differences to the first fit, and forest and density plots of the values that all have.
///
/// # Errors
///
/// Returns an error if a plot cannot be drawn.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::report::comparison;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let run = |seed| hmc(&model, &Dataset::none(), 0.5).seed(seed).chains(2).sample(&zeros([2]), 200);
/// let page = comparison(&[("one", &run(1)?), ("other", &run(2)?)])?;
/// assert!(page.html().contains("Differences to one"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn comparison(fits: &[(&str, &Fit)]) -> Result<Gallery> {
    let names: Vec<&str> = fits.iter().map(|(name, _)| *name).collect();
    let mut page = Gallery::new(names.join(", ")).about(&format!("Comparison of {}.", count(fits.len(), "fit")));
    let verdicts: Vec<Vec<String>> = fits.iter().map(|(name, fit)| verdict(name, fit)).collect();
    page = page.section("Verdicts", "").table(&["fit", "verdict", "draws", "chains", "first finding"], &verdicts);
    if let Some(rows) = accuracy(fits) {
        page = page
            .section("Predictive accuracy", "The best model first, by leave-one-out cross-validation.")
            .table(&["model", "elpd", "se", "difference", "se", "stacking weight", "Pareto k too large"], &rows);
    }
    if let Some(((first, reference), others)) = fits.split_first() {
        page = page.section(&format!("Differences to {first}"), "");
        for (name, fit) in others {
            page = page.plots(name, &reference.difference(fit).to_string().replace('\n', " "), &[]);
        }
    }
    values(page, fits)
}

/// Returns the row of a fit in the table of verdicts.
fn verdict(name: &str, fit: &Fit) -> Vec<String> {
    let check = fit.check();
    let draws: usize = fit.chains().iter().map(|chain| chain.len()).sum();
    let first = check.findings().first().map_or_else(|| "–".to_owned(), |finding| finding.what.clone());
    let verdict = if check.passed() { "✓ no problem found" } else { "✗ do not trust this fit yet" };
    vec![name.to_owned(), verdict.to_owned(), draws.to_string(), fit.describe_chains(), first]
}

/// Returns a row about each model, the best first, or `None` if the fits have no comparable log-likelihoods.
fn accuracy(fits: &[(&str, &Fit)]) -> Option<Vec<Vec<String>>> {
    let loos: Option<Vec<_>> = fits.iter().map(|(_, fit)| fit.log_likelihood().ok()?.loo().ok()).collect();
    let loos = loos?;
    let models: Vec<ModelEstimates<'_>> =
        loos.iter().map(|loo| ModelEstimates { elpd_i: &loo.elpd_i, p: loo.p }).collect();
    let rows = compare(&models, ModelWeights::Stacking).ok()?;
    let row = |row: &sgmcmc_diagnostics::loo::ComparedModel| {
        let loo = &loos[row.index];
        vec![
            fits[row.index].0.to_owned(),
            format!("{:.1}", row.elpd),
            format!("{:.1}", row.se),
            format!("{:.1}", row.difference),
            format!("{:.1}", row.difference_se),
            format!("{:.3}", row.weight),
            format!("{} of {} (above {:.2})", loo.above, loo.pareto_k.len(), loo.good_k),
        ]
    };
    Some(rows.iter().map(row).collect())
}

/// Adds the forest plot and the densities of the values that all fits have.
fn values(page: Gallery, fits: &[(&str, &Fit)]) -> Result<Gallery> {
    let positions: Vec<HashMap<String, usize>> = fits
        .iter()
        .map(|(_, fit)| fit.layout().value_names().into_iter().enumerate().map(|(i, name)| (name, i)).collect())
        .collect();
    let Some((_, reference)) = fits.first() else { return Ok(page) };
    let common: Vec<String> = reference
        .layout()
        .value_names()
        .into_iter()
        .filter(|name| positions.iter().all(|positions| positions.contains_key(name)))
        .collect();
    if common.is_empty() {
        return Ok(page.section("Parameters", "The fits have no common parameter."));
    }
    let summaries: Vec<_> = fits.iter().map(|(_, fit)| fit.summary()).collect();
    let mut rows = Vec::new();
    for name in common.iter().take(ROWS / fits.len().max(1)) {
        for (((label, fit), positions), summary) in fits.iter().zip(&positions).zip(&summaries) {
            let index = positions[name];
            let row = interval(fit, index, &summary.rows()[index]);
            rows.push(plot::Interval { name: format!("{name} {label}"), ..row });
        }
    }
    let color = |number: usize| COLORS[number % COLORS.len()];
    let legend: Vec<String> =
        fits.iter().enumerate().map(|(number, (name, _))| format!("`{name}` is {}", color(number))).collect();
    let text = format!("In the densities, {}.", legend.join(", "));
    let forest = plot::forest(&rows, &Frame::new("").size(560, 120))?;
    let mut densities = Vec::new();
    for name in common.iter().take(DENSITIES) {
        let draws = fits.iter().zip(&positions).map(|((_, fit), positions)| ValueDraws::new(fit, positions[name]));
        let (chains, weights): (Vec<Vec<f64>>, Vec<Vec<f64>>) =
            draws.map(|draws| (draws.chains.concat(), draws.weights.concat())).unzip();
        densities.push(plot::density(&chains, &weights, &Frame::new(name.as_str()).size(380, 220).legend(false))?);
    }
    let title = format!("{} in all fits", count(common.len(), "value"));
    Ok(page.section("Parameters", &text).wide_plot("Forest", forest).plots(&title, "", &densities))
}
