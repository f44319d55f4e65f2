//! The report: a self-contained HTML page of a fit.
//!
//! The page is generated from `page.html`, `page.css` and `page.js`. It loads no other files. The plots of a parameter
//! are stored as text and are inserted into the document only while they are visible, so that a page with many
//! parameters stays fast.

mod comparison;
mod figures;
mod gallery;
mod html;
mod sections;
mod selection;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use sgmcmc_fit::{Fit, Health, Thresholds};

use crate::error::{Error, Result};
use crate::plot::Prior;
pub use comparison::comparison;
pub use gallery::Gallery;
use html::{Escaped, fill};

/// The default number of parameters with plots.
const LIMIT: usize = 100;

/// The number of bins of probability integral transforms.
const PIT_BINS: usize = 20;

/// A self-contained HTML page of a fit, with options.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::report::{Report, plot::Prior};
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.025).seed(1).chains(2).sample(&zeros([2]), 100)?;
/// let html = Report::new(&fit)
///     .title("Standard normal")
///     .prior("theta[0]", Prior::density(|x| (-x.abs()).exp() / 2.0))
///     .html()?;
/// assert!(html.contains("<title>Standard normal</title>"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct Report<'f> {
    fit: &'f Fit,
    title: String,
    limit: usize,
    priors: BTreeMap<usize, Prior>,
    /// The error of the last prior for an unknown parameter.
    prior_error: Option<sgmcmc_gradient::Error>,
    predictive: Vec<Predictive>,
    health: Option<Health>,
    /// The interval at which browsers load the page again.
    reload: Option<Duration>,
}

/// Observed data, and data sets drawn from the posterior predictive distribution.
#[derive(Debug)]
struct Predictive {
    name: String,
    observed: Vec<f64>,
    replications: Vec<Vec<f64>>,
    /// The histogram of the probability integral transforms.
    pit: Option<Vec<usize>>,
}

impl<'f> Report<'f> {
    /// Creates a page of `fit`.
    pub fn new(fit: &'f Fit) -> Self {
        Self {
            fit,
            title: "Posterior report".to_owned(),
            limit: LIMIT,
            priors: BTreeMap::new(),
            prior_error: None,
            predictive: Vec::new(),
            health: None,
            reload: None,
        }
    }

    /// Sets the title of the page.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the number of parameters with plots. The default is 100. If the fit has more parameters, the page shows
    /// those with the worst R-hat and ESS, and states their number.
    pub fn limit(mut self, parameters: usize) -> Self {
        self.limit = parameters;
        self
    }

    /// Adds a plot of the prior and the posterior of the value `name`. If the fit has no such value,
    /// [`html`](Self::html) and [`write`](Self::write) return an error.
    pub fn prior(mut self, name: &str, prior: Prior) -> Self {
        match self.fit.layout().index(name) {
            Ok(index) => {
                self.priors.insert(index, prior);
            }
            Err(error) => self.prior_error = Some(error),
        }
        self
    }

    /// Adds a predictive check: the density of `observed`, and those of data sets drawn from the posterior predictive
    /// distribution.
    pub fn predictive(mut self, name: impl Into<String>, observed: Vec<f64>, replications: Vec<Vec<f64>>) -> Self {
        self.predictive.push(Predictive { name: name.into(), observed, replications, pit: None });
        self
    }

    /// Adds a predictive check from `Posterior::predictive`: the densities, and the histogram of the probability integral
    /// transforms, which is flat for a model that fits.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributions::*;
    /// use sgmcmc::predictive::PredictiveOptions;
    /// use sgmcmc::prelude::*;
    /// use sgmcmc::report::Report;
    ///
    /// let model = Model::observe(|mean: Tensor<1>, _: Tensor<1>| Normal::new(mean, 1.0), |y: Tensor<1>| y);
    /// let (data, start) = (Dataset::new(array(vec![0.5, 1.5, -0.5, 1.0], [4])?)?, zeros([1]));
    /// let fit = hmc(&model, &data, 0.1).seed(1).chains(2).sample(&start, 100)?;
    /// let predictive = model.with(&data).predictive(&fit, &start, &PredictiveOptions::default())?;
    /// assert!(Report::new(&fit).predictive_check(&predictive).html()?.contains("Predictive checks"));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn predictive_check(mut self, check: &sgmcmc_fit::Predictive) -> Self {
        self.predictive.push(Predictive {
            name: check.name().to_owned(),
            observed: check.observed().to_vec(),
            replications: check.replications().to_vec(),
            pit: Some(check.pit_counts(PIT_BINS)),
        });
        self
    }

    /// Replaces [`Fit::health`] by `health`, for instance with gradient noise and step halving. Its findings are part
    /// of the verdict.
    pub fn health(mut self, health: Health) -> Self {
        self.health = Some(health);
        self
    }

    /// Lets browsers load the page again after `interval`, for a run under way whose page is written again and again.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    /// use sgmcmc::report::Report;
    /// use std::time::Duration;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let fit = hmc(&model, &Dataset::none(), 0.5).sample(&zeros([1]), 50)?;
    /// let page = Report::new(&fit).reload_every(Duration::from_secs(5)).html()?;
    /// assert!(page.contains(r#"<meta http-equiv="refresh" content="5">"#));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn reload_every(mut self, interval: Duration) -> Self {
        self.reload = Some(interval);
        self
    }

    /// Returns the page as text.
    ///
    /// # Errors
    ///
    /// Returns an error if a prior was set for a value that the fit does not have, or if a plot cannot be drawn.
    pub fn html(&self) -> Result<String> {
        if let Some(error) = &self.prior_error {
            return Err(Error::Parameter(error.clone()));
        }
        let summary = self.fit.summary();
        let findings = self.health.as_ref().map_or_else(Vec::new, |health| health.findings(&Thresholds::default()));
        let check = self.fit.check().join(findings);
        let health = self.health.clone().unwrap_or_else(|| self.fit.health());
        let checks = self.checks()?;
        let checks_link = if checks.is_empty() { "" } else { "<a href=\"#predictive\">Predictive checks</a>\n" };
        let selected = selection::worst(&summary, self.fit.chains().len(), self.limit);
        Ok(fill(
            include_str!("page.html"),
            &[
                ("title", Escaped(&self.title).to_string()),
                (
                    "reload",
                    self.reload.map_or_else(String::new, |interval| {
                        let seconds = interval.as_secs_f64().ceil().max(1.0);
                        format!("<meta http-equiv=\"refresh\" content=\"{seconds}\">\n")
                    }),
                ),
                ("style", include_str!("page.css").to_owned()),
                ("script", include_str!("page.js").to_owned()),
                ("about", sections::about(self.fit)),
                ("verdict", sections::verdict(&check)),
                ("run", sections::run(self.fit)),
                ("health", sections::health(&health.to_string())),
                ("summary", sections::summary(&summary, self.fit, &selected, !check.passed())),
                ("csv", sections::csv(&summary)),
                ("orders", sections::orders(!check.passed()).to_owned()),
                ("legend", sections::legend(self.fit.chains().len())),
                ("overview", figures::overview(self.fit, &summary, &selected)?),
                ("selection", sections::selection(selected.len(), summary.rows().len())),
                ("plots", self.parameters(&summary, &selected)?),
                ("statistics", figures::statistics(self.fit)?),
                ("checks", checks),
                ("checks_link", checks_link.to_owned()),
                ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ],
        ))
    }

    /// Writes the page to a file.
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`html`](Self::html), or if the file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        crate::error::write_file(path, self.html()?.as_bytes())
    }
}
