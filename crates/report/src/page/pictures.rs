//! The plots on the page.

use std::fmt::Write as _;

use sgmcmc_samplers::{Fit, Summary, SummaryRow};

use super::Report;
use super::choice;
use super::html::{Escaped, number};
use crate::error::Result;
use crate::plot::{self, Frame, Plot};
use crate::plotter::{Draws, R_HAT, interval, statistic, statistics as names, variable};

/// Rows of the forest plot.
const FOREST: usize = 60;
/// Statistics shown; algorithms with a thermostat per value have many.
const STATISTICS: usize = 12;

/// A panel of a parameter.
fn panel(title: impl Into<String>) -> Frame {
    Frame::new(title).size(380, 220).legend(false)
}

fn figure(plot: &Plot) -> String {
    format!("<figure>{}</figure>", plot.inline())
}

/// Forest and pair plots.
pub(super) fn overview(fit: &Fit, summary: &Summary, chosen: &[usize]) -> Result<String> {
    if chosen.is_empty() {
        return Ok("<p>There are no parameters.</p>".to_owned());
    }
    let rows = summary.rows();
    let mut shown = chosen.to_vec();
    let doubt = |place: &usize| choice::doubt(&rows[*place], fit.chains().len());
    shown.sort_by(|a, b| doubt(b).total_cmp(&doubt(a)));
    shown.truncate(FOREST);
    shown.sort_unstable();
    let intervals: Vec<_> = shown.iter().map(|&place| interval(fit, place, &rows[place])).collect();
    let mut html = format!(
        "<div class=\"two\"><div><h3>Forest</h3><p class=\"hint\">Dot: mean; thick: quartiles; thin: 89 % interval. Hollow: R-hat above {R_HAT}.{}</p>",
        if shown.len() < rows.len() {
            format!(" The {} worst of {} parameters.", shown.len(), rows.len())
        } else {
            String::new()
        }
    );
    html += &figure(&plot::forest(&intervals, &Frame::new("").size(480, 120))?);
    html += "</div>";
    let pairs = choice::pairs(fit, summary, chosen);
    if pairs.len() > 1 {
        let variables: Vec<_> = pairs.iter().map(|&place| variable(fit, place)).collect();
        let lengths_agree = variables.iter().all(|v| v.chains.iter().any(|chain| !chain.is_empty()));
        if lengths_agree {
            html += "<div><h3>Pairs</h3><p class=\"hint\">The most doubtful and the most correlated parameters.</p>";
            html += &figure(&plot::pair(&variables, &Frame::new("").size(600, 560))?);
            html += "</div>";
        }
    }
    Ok(html + "</div>")
}

/// Everything that came with the draws, over iterations.
pub(super) fn statistics(fit: &Fit) -> Result<String> {
    let names = names(fit);
    let mut html = String::from("<div class=\"grid\">");
    for name in names.iter().take(STATISTICS) {
        let Some(lines) = statistic(fit, name) else { continue };
        let finite = lines.iter().flat_map(|line| &line.values).any(|value| value.is_finite());
        if finite {
            let title = if name == "weight" { "weight (step size)" } else { name };
            html += &figure(&plot::over_iterations(&lines, &panel(title))?);
        }
    }
    html += "</div>";
    if names.len() > STATISTICS {
        // Writing to a string does not fail.
        let _ = write!(html, "<p class=\"hint\">The first {STATISTICS} of {} statistics.</p>", names.len());
    }
    Ok(html)
}

impl Report<'_> {
    /// The plots of each chosen parameter, as text for the script to show.
    pub(super) fn parameters(&self, summary: &Summary, chosen: &[usize]) -> Result<String> {
        let mut html = String::new();
        for &place in chosen {
            let row = &summary.rows()[place];
            let finite = |value: f64| if value.is_finite() { value.to_string() } else { String::new() };
            let _ = write!(
                html,
                "<script type=\"text/plain\" class=\"plots\" data-name=\"{}\" data-rhat=\"{}\" data-ess=\"{}\" data-line=\"{}\">",
                Escaped(&row.name),
                finite(row.r_hat),
                finite(row.ess_bulk.min(row.ess_tail)),
                line(row)
            );
            html += &self.parameter(place)?;
            html += "</script>\n";
        }
        Ok(html)
    }

    fn parameter(&self, place: usize) -> Result<String> {
        let Draws { chains, weights } = Draws::of(self.fit, place);
        let mut html = String::new();
        if let Some(prior) = self.priors.get(&place) {
            html += &figure(&plot::prior_posterior(&chains, &weights, prior, &panel("prior and posterior"))?);
        }
        for plot in [
            plot::trace(&chains, &panel("trace"))?,
            plot::rank(&chains, &panel("ranks"))?,
            plot::density(&chains, &weights, &panel("density"))?,
            plot::autocorrelation(&chains, &panel("autocorrelation"))?,
            plot::running_mean(&chains, &weights, &panel("running mean ± 2 MCSE"))?,
        ] {
            html += &figure(&plot);
        }
        Ok(html)
    }

    /// Predictive checks, where there are data for them.
    pub(super) fn checks(&self) -> Result<String> {
        if self.predictive.is_empty() {
            return Ok(String::new());
        }
        let mut html = String::from("<section id=\"predictive\"><h2>Predictive checks</h2><div class=\"grid\">");
        for check in &self.predictive {
            html += &figure(&plot::predictive(&check.observed, &check.replications, &panel(check.name.as_str()))?);
        }
        Ok(html + "</div></section>")
    }
}

/// The numbers under the name of a parameter.
fn line(row: &SummaryRow) -> String {
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
