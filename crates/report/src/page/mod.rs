//! One self-contained page that shows a fit.
//!
//! The page is filled in from `page.html`, `page.css` and `page.js`; it loads nothing. The plots of a parameter are kept as text and
//! become part of the document only while they are on view, so that a page of many parameters stays quick.

mod choice;
mod gallery;
mod html;
mod pictures;
mod sections;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use sgmcmc_samplers::{Fit, Health, Thresholds};

use crate::error::{Error, Result};
use crate::plot::Prior;
pub use gallery::Gallery;
use html::{Escaped, fill};

/// Parameters with plots of their own.
const LIMIT: usize = 100;

/// A page that shows a fit, and what can be added to it.
///
/// ```no_run
/// # fn f(fit: sgmcmc_samplers::Fit, observed: Vec<f64>, replicated: Vec<Vec<f64>>) -> sgmcmc_report::Result<()> {
/// use sgmcmc_report::Report;
/// use sgmcmc_report::plot::Prior;
///
/// Report::new(&fit)
///     .title("Logistic regression")
///     .prior("beta[0]", Prior::density(|x| (-x.abs()).exp() / 2.0))
///     .predictive("answers", observed, replicated)
///     .write("report.html")?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Report<'f> {
    fit: &'f Fit,
    title: String,
    limit: usize,
    priors: BTreeMap<usize, Prior>,
    unknown: Option<sgmcmc_core::Error>,
    predictive: Vec<Predictive>,
    health: Option<Health>,
}

/// Observed data and data drawn from the posterior.
#[derive(Debug)]
struct Predictive {
    name: String,
    observed: Vec<f64>,
    replications: Vec<Vec<f64>>,
}

impl<'f> Report<'f> {
    /// The page of `fit`.
    pub fn new(fit: &'f Fit) -> Self {
        Self {
            fit,
            title: "Posterior report".to_owned(),
            limit: LIMIT,
            priors: BTreeMap::new(),
            unknown: None,
            predictive: Vec::new(),
            health: None,
        }
    }

    /// The title of the page.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// How many parameters have plots of their own (100 unless told otherwise). Of more, those with the worst R-hat and ESS are chosen, and
    /// the page says so.
    pub fn limit(mut self, parameters: usize) -> Self {
        self.limit = parameters;
        self
    }

    /// Shows the posterior of the element `name` over its prior. A name the fit does not know makes the page fail.
    pub fn prior(mut self, name: &str, prior: Prior) -> Self {
        match self.fit.layout().index(name) {
            Ok(index) => {
                self.priors.insert(index, prior);
            }
            Err(error) => self.unknown = Some(error),
        }
        self
    }

    /// Shows the density of `observed` data over those of data sets drawn from the posterior predictive law.
    pub fn predictive(mut self, name: impl Into<String>, observed: Vec<f64>, replications: Vec<Vec<f64>>) -> Self {
        self.predictive.push(Predictive { name: name.into(), observed, replications });
        self
    }

    /// Shows this health of the run instead of [`Fit::health`]: with gradient noise and step-halving, where they were measured. What it
    /// finds is part of the verdict.
    pub fn health(mut self, health: Health) -> Self {
        self.health = Some(health);
        self
    }

    /// The page as text.
    ///
    /// # Errors
    ///
    /// If a prior was given for a parameter the fit does not have.
    pub fn html(&self) -> Result<String> {
        if let Some(error) = &self.unknown {
            return Err(Error::Parameter(error.clone()));
        }
        let summary = self.fit.summary();
        let found = self.health.as_ref().map_or_else(Vec::new, |health| health.findings(&Thresholds::default()));
        let check = self.fit.check().join(found);
        let health = self.health.clone().unwrap_or_else(|| self.fit.health());
        let chosen = choice::worst(&summary, self.fit.chains().len(), self.limit);
        Ok(fill(
            include_str!("page.html"),
            &[
                ("title", Escaped(&self.title).to_string()),
                ("style", include_str!("page.css").to_owned()),
                ("script", include_str!("page.js").to_owned()),
                ("about", sections::about(self.fit)),
                ("verdict", sections::verdict(&check)),
                ("run", sections::run(self.fit)),
                ("health", sections::health(&health.to_string())),
                ("summary", sections::summary(&summary, self.fit, &chosen)),
                ("legend", sections::legend(self.fit.chains().len())),
                ("overview", pictures::overview(self.fit, &summary, &chosen)?),
                ("choice", sections::choice(chosen.len(), summary.rows().len())),
                ("plots", self.parameters(&summary, &chosen)?),
                ("statistics", pictures::statistics(self.fit)?),
                ("checks", self.checks()?),
                ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ],
        ))
    }

    /// Writes the page.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or a prior was given for a parameter the fit does not have.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        crate::error::write_file(path, self.html()?.as_bytes())
    }
}
