//! The plots of the page.

use std::fmt::Write as _;

use sgmcmc_diagnostics::Description;
use sgmcmc_fit::{Fit, Summary, Thresholds, count};

use super::Report;
use super::html::{Escaped, number};
use super::selection;
use crate::draws::{Probabilities, divergent, predictive, stored_prior};
use crate::error::Result;
use crate::plot::{self, Frame, Plot, Prior};
use crate::plotter::{ValueDraws, interval, statistic, statistics as names, variable};

/// The largest number of rows of the forest plot.
const FOREST_ROWS: usize = 60;
/// The largest number of statistics that are shown. Algorithms with one thermostat per value have many.
const MAX_STATISTICS: usize = 12;

/// Returns the frame of a plot of one parameter.
fn panel(title: impl Into<String>) -> Frame {
    Frame::new(title).size(380, 220).legend(false)
}

/// Returns a plot as an HTML figure.
fn figure(plot: &Plot) -> String {
    format!("<figure>{}</figure>", plot.inline())
}

/// Returns the forest plot and the pair plot.
pub(super) fn overview(fit: &Fit, summary: &Summary, selected: &[usize]) -> Result<String> {
    if selected.is_empty() {
        return Ok("<p>There are no parameters.</p>".to_owned());
    }
    let rows = summary.rows();
    let mut shown = selected.to_vec();
    let excess = |index: &usize| selection::threshold_ratio(&rows[*index], fit.chains().len());
    shown.sort_by(|a, b| excess(b).total_cmp(&excess(a)));
    shown.truncate(FOREST_ROWS);
    shown.sort_unstable();
    let intervals: Vec<_> = shown.iter().map(|&index| interval(fit, index, &rows[index])).collect();
    let mut html = format!(
        "<div class=\"two\"><div><h3>Forest</h3><p class=\"hint\">Dot: mean; thick: quartiles; thin: 89 % interval. Hollow: R-hat above {}, or ESS below {} per chain.{}</p>",
        Thresholds::default().r_hat,
        Thresholds::default().ess_per_chain,
        if shown.len() < rows.len() {
            format!(" The {} worst of {} parameters.", shown.len(), rows.len())
        } else {
            String::new()
        }
    );
    html += &figure(&plot::forest(&intervals, &Frame::new("").size(480, 120))?);
    html += "</div>";
    let pairs = selection::pairs(fit, summary, selected);
    if pairs.len() > 1 {
        let variables: Vec<_> = pairs.iter().map(|&index| variable(fit, index)).collect();
        let have_draws = variables.iter().all(|v| v.chains.iter().any(|chain| !chain.is_empty()));
        if have_draws {
            html += "<div><h3>Pairs</h3><p class=\"hint\">The parameter with the worst R-hat or ESS, and the most correlated ones.</p>";
            html += &figure(&plot::pair_with_divergences(&variables, &divergent(fit), &Frame::new("").size(600, 560))?);
            html += "</div>";
        }
    }
    html += "</div>";
    let worst = selected.iter().max_by(|a, b| excess(a).total_cmp(&excess(b)));
    if let Some(&worst) = worst {
        html += &evolution(fit, worst)?;
    }
    Ok(html + &divergences(fit, &shown)?)
}

/// Returns the effective sample sizes and R-hat of a value against the number of draws.
fn evolution(fit: &Fit, index: usize) -> Result<String> {
    let chains = ValueDraws::new(fit, index).chains;
    let name = fit.layout().value_name(index);
    let thresholds = Thresholds::default();
    let least = thresholds.ess_per_chain * chains.len() as f64;
    let mut html = format!(
        "<h3>Convergence</h3><p class=\"hint\">Of <code>{}</code>, the value with the worst R-hat or ESS, after the first draws.</p><div class=\"grid\">",
        Escaped(&name)
    );
    html += &figure(&plot::ess_evolution(&chains, least, &panel(format!("ESS of {name}")))?);
    html += &figure(&plot::r_hat_evolution(&chains, thresholds.r_hat, &panel(format!("R-hat of {name}")))?);
    Ok(html + "</div>")
}

/// Returns parallel coordinates of the values `shown`, if a transition diverged.
fn divergences(fit: &Fit, shown: &[usize]) -> Result<String> {
    let divergent = divergent(fit);
    let number = divergent.iter().flatten().filter(|diverged| **diverged).count();
    if number == 0 || shown.len() < 2 {
        return Ok(String::new());
    }
    let variables: Vec<_> = shown.iter().map(|&index| variable(fit, index)).collect();
    let mut html = format!(
        "<h3>Divergences</h3><p class=\"hint\">{} in color. Where their lines come together, the algorithm cannot follow the posterior.</p><div class=\"wide\">",
        count(number, "divergent transition")
    );
    html += &figure(&plot::parallel(&variables, &divergent, &Frame::new("").size(640, 300))?);
    Ok(html + "</div>")
}

/// Returns the plots of the statistics over iterations.
pub(super) fn statistics(fit: &Fit) -> Result<String> {
    let names = names(fit);
    let mut html = String::from("<div class=\"grid\">");
    let mut constants = Vec::new();
    for name in names.iter().take(MAX_STATISTICS) {
        let Some(lines) = statistic(fit, name) else { continue };
        let mut finite = lines.iter().flat_map(|line| &line.values).filter(|value| value.is_finite());
        // A constant needs no plot.
        let Some(first) = finite.next() else { continue };
        let constant = finite.all(|value| value.to_bits() == first.to_bits());
        if constant {
            constants.push(format!("{} {}", fit.info().describe_statistic(name), super::html::short(*first)));
        } else {
            html += &figure(&plot::over_iterations(&lines, &panel(fit.info().describe_statistic(name)))?);
        }
    }
    let energies: Vec<&[f64]> = fit.chains().iter().filter_map(|chain| chain.stat("energy")).collect();
    if !energies.is_empty() {
        html += &figure(&plot::energy(&energies, &panel("energy and its changes"))?);
    }
    html += "</div>";
    if !constants.is_empty() {
        // Writing to a string does not fail.
        let _ = write!(html, "<p class=\"hint\">Constant: {}.</p>", Escaped(&constants.join(", ")));
    }
    if names.len() > MAX_STATISTICS {
        // Writing to a string does not fail.
        let _ = write!(html, "<p class=\"hint\">The first {MAX_STATISTICS} of {} statistics.</p>", names.len());
    }
    Ok(html)
}

impl Report<'_> {
    /// Returns the plots of each selected parameter, as text that the script inserts into the page.
    pub(super) fn parameters(&self, summary: &Summary, selected: &[usize]) -> Result<String> {
        let mut html = String::new();
        for &index in selected {
            let row = &summary.rows()[index];
            let finite = |value: f64| if value.is_finite() { value.to_string() } else { String::new() };
            let _ = write!(
                html,
                "<script type=\"text/plain\" class=\"plots\" data-name=\"{}\" data-rhat=\"{}\" data-ess=\"{}\" data-worst=\"{}\" data-line=\"{}\">",
                Escaped(&summary.names()[index]),
                finite(row.r_hat),
                finite(row.ess_bulk.min(row.ess_tail)),
                selection::threshold_ratio(row, self.fit.chains().len()),
                line(row)
            );
            html += &self.parameter(index)?;
            html += "</script>\n";
        }
        Ok(html)
    }

    /// Returns the plots of one parameter.
    fn parameter(&self, index: usize) -> Result<String> {
        let ValueDraws { chains, weights } = ValueDraws::new(self.fit, index);
        let mut html = String::new();
        if let Some(prior) = self.priors.get(&index) {
            html += &figure(&plot::prior_posterior(&chains, &weights, prior, &panel("prior and posterior"))?);
        } else if let Some(draws) = stored_prior(self.fit, index) {
            let frame = panel("prior and posterior");
            html += &figure(&plot::prior_posterior(&chains, &weights, &Prior::Draws(draws), &frame)?);
        }
        html += &figure(&plot::trace(&chains, &panel("trace"))?);
        // The ranks of one chain are uniform by construction.
        if chains.len() > 1 {
            html += &figure(&plot::rank(&chains, &panel("ranks"))?);
        }
        for plot in [
            plot::density(&chains, &weights, &panel("density"))?,
            plot::autocorrelation(&chains, &panel("autocorrelation"))?,
            plot::running_mean(&chains, &weights, &panel("running mean ± 2 MCSE"))?,
        ] {
            html += &figure(&plot);
        }
        Ok(html)
    }

    /// Returns the plots of the predictive checks. Empty if there are none.
    pub(super) fn checks(&self) -> Result<String> {
        let stored = self.stored_checks()?;
        if self.predictive.is_empty() && stored.is_empty() {
            return Ok(String::new());
        }
        let mut html = String::from("<section id=\"predictive\"><h2>Predictive checks</h2><div class=\"grid\">");
        for check in &self.predictive {
            html += &figure(&plot::predictive(&check.observed, &check.replications, &panel(check.name.as_str()))?);
            if let Some(counts) = &check.pit {
                let title = format!("{}: ranks among replications", check.name);
                html += &figure(&plot::calibration(counts, &panel(title))?);
            }
        }
        Ok(html + &stored + "</div></section>")
    }

    /// Returns the plots of the observed data, predictive draws and log-likelihoods that are stored with the fit.
    fn stored_checks(&self) -> Result<String> {
        let mut html = String::new();
        for variable in self.fit.group("observed_data").map_or(&[][..], |group| &group.variables) {
            let name = &variable.name;
            if let Ok((observed, replications)) = predictive(self.fit, name) {
                html += &figure(&plot::predictive(&observed.values, &replications, &panel(name.as_str()))?);
            }
            if let Ok(Probabilities { predicted, outcomes }) = Probabilities::new(self.fit, name) {
                html += &figure(&plot::reliability(&predicted, outcomes, &panel(format!("reliability of {name}")))?);
            }
            if let Ok(transforms) = self.fit.loo_pit(name) {
                html += &figure(&plot::integral_transforms(&transforms, &panel(format!("LOO-PIT of {name}")))?);
            }
        }
        if let Ok(loo) = self.fit.log_likelihood().and_then(|pointwise| pointwise.loo()) {
            html += &figure(&plot::pareto_k(&loo.pareto_k, loo.good_k, &panel("Pareto k"))?);
        }
        Ok(html)
    }
}

/// Returns the line of numbers below the name of a parameter.
fn line(row: &Description) -> String {
    format!(
        "mean {} · sd {} · 89 % interval {} to {} · R-hat {} · ESS {} (bulk), {} (tail)",
        number(row.mean),
        number(row.sd),
        number(row.eti89_lb),
        number(row.eti89_ub),
        super::sections::r_hat(row.r_hat),
        super::sections::whole(row.ess_bulk),
        super::sections::whole(row.ess_tail)
    )
}
