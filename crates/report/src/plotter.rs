//! Plots of a fit by the names of its parameters.

use std::ops::Range;
use std::path::Path;

use sgmcmc_diagnostics::quantiles;
use sgmcmc_samplers::{ChainDraws, Fit, SummaryRow};

use crate::error::{Error, Result};
use crate::page::Report;
use crate::plot::{self, Area, Frame, Interval, Line, Plot, Prior, Variable};

/// Panels of one picture.
const PANELS: usize = 24;
/// Above this R-hat a parameter is doubtful.
pub(crate) const R_HAT: f64 = 1.01;

/// Pictures of a fit.
pub trait Plots {
    /// Single plots, for papers.
    ///
    /// ```no_run
    /// # fn f(fit: sgmcmc_samplers::Fit) -> sgmcmc_report::Result<()> {
    /// use sgmcmc_report::Plots;
    ///
    /// fit.plot().trace("beta")?.save("trace.svg")?;
    /// fit.plot().size(360, 220).title("slopes").forest(&["beta"])?.save("forest.svg")?;
    /// # Ok(())
    /// # }
    /// ```
    fn plot(&self) -> Plotter<'_>;

    /// Writes one self-contained page that shows the fit; see [`Report`] for what can be added to it.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    fn report(&self, path: impl AsRef<Path>) -> Result<()>;
}

impl Plots for Fit {
    fn plot(&self) -> Plotter<'_> {
        Plotter { fit: self, frame: Frame::new(""), title: None }
    }

    fn report(&self, path: impl AsRef<Path>) -> Result<()> {
        Report::new(self).write(path)
    }
}

/// Draws the plots of a fit. Parameters are named as in the summary: `beta[3]` is one element, `beta` all of them, a panel each.
#[derive(Clone, Debug)]
pub struct Plotter<'f> {
    fit: &'f Fit,
    frame: Frame,
    title: Option<String>,
}

impl Plotter<'_> {
    /// Width and height of a panel in CSS pixels.
    pub fn size(mut self, width: u32, height: u32) -> Self {
        self.frame = self.frame.size(width, height);
        self
    }

    /// The title, instead of the name of the parameter.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Whether the chains' colours are explained.
    pub fn legend(mut self, legend: bool) -> Self {
        self.frame = self.frame.legend(legend);
        self
    }

    /// The draws in their order.
    ///
    /// # Errors
    ///
    /// As of the other plots: if there is no such parameter, or it has too many elements for one picture.
    pub fn trace(&self, name: &str) -> Result<Plot> {
        self.panels(name, |area, frame, draws| plot::draw_trace(area, frame, &draws.chains))
    }

    /// The ranks of each chain's draws among those of all.
    pub fn rank(&self, name: &str) -> Result<Plot> {
        self.panels(name, |area, frame, draws| plot::draw_rank(area, frame, &draws.chains))
    }

    /// The density of each chain.
    pub fn density(&self, name: &str) -> Result<Plot> {
        self.panels(name, |area, frame, draws| plot::draw_density(area, frame, &draws.chains, &draws.weights))
    }

    /// The autocorrelations of each chain.
    pub fn autocorrelation(&self, name: &str) -> Result<Plot> {
        self.panels(name, |area, frame, draws| plot::draw_autocorrelation(area, frame, &draws.chains))
    }

    /// The mean of the draws so far, with two standard errors.
    pub fn running_mean(&self, name: &str) -> Result<Plot> {
        self.panels(name, |area, frame, draws| plot::draw_running_mean(area, frame, &draws.chains, &draws.weights))
    }

    /// Means, quartiles and 89 % intervals of the parameters `names`, of all where none is named. Those with R-hat above 1.01 are hollow.
    pub fn forest(&self, names: &[&str]) -> Result<Plot> {
        let mut places = Vec::new();
        for name in names {
            places.extend(elements(self.fit, name)?);
        }
        if names.is_empty() {
            places.extend(0..self.fit.layout().value_count());
        }
        let summary = self.fit.summary();
        let rows = places.into_iter().filter_map(|index| Some((index, summary.rows().get(index)?)));
        let intervals: Vec<Interval> = rows.map(|(index, row)| interval(self.fit, index, row)).collect();
        let title = self.title.as_deref().unwrap_or("mean, quartiles and 89 % interval");
        plot::forest(&intervals, &self.frame.titled(title))
    }

    /// Scatter plots of each two of two to eight elements.
    pub fn pair(&self, names: &[&str]) -> Result<Plot> {
        let mut variables = Vec::new();
        for name in names {
            for index in elements(self.fit, name)?.take(PANELS) {
                variables.push(variable(self.fit, index));
            }
        }
        plot::pair(&variables, &self.frame.titled(self.title.as_deref().unwrap_or_default()))
    }

    /// A number that came with the draws, over iterations: `log_posterior`, `weight` (the step size), or a statistic of the algorithm.
    pub fn statistic(&self, name: &str) -> Result<Plot> {
        let lines = statistic(self.fit, name).ok_or_else(|| Error::Statistic {
            name: name.to_owned(),
            known: statistics(self.fit).iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
        })?;
        plot::over_iterations(&lines, &self.frame.titled(self.title.as_deref().unwrap_or(name)))
    }

    /// The posterior of one element over its prior.
    pub fn prior_posterior(&self, name: &str, prior: &Prior) -> Result<Plot> {
        let draws = Draws::of(self.fit, self.fit.layout().index(name)?);
        let frame = self.frame.titled(self.title.as_deref().unwrap_or(name));
        plot::prior_posterior(&draws.chains, &draws.weights, prior, &frame)
    }

    fn panels(&self, name: &str, draw: impl Fn(&Area<'_>, &Frame, &Draws) -> Result<()>) -> Result<Plot> {
        let range = elements(self.fit, name)?;
        if range.len() > PANELS {
            let reason =
                format!("`{name}` has {} elements and a picture {PANELS} panels; name some of them", range.len());
            return Err(Error::Input { plot: "panels", reason });
        }
        let whole = self.frame.titled(self.title.as_deref().unwrap_or(name));
        let alone = range.len() == 1;
        Plot::panels(&whole, range.len(), |panel, area| {
            let index = range.start + panel;
            let frame = if alone { whole.clone() } else { whole.titled(self.fit.layout().element(index)) };
            draw(area, &frame, &Draws::of(self.fit, index))
        })
    }
}

/// The draws of one element and their weights, both by chain.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    pub(crate) chains: Vec<Vec<f64>>,
    pub(crate) weights: Vec<Vec<f64>>,
}

impl Draws {
    pub(crate) fn of(fit: &Fit, index: usize) -> Self {
        let chains = fit.chains().iter();
        Self {
            chains: chains.clone().map(|chain| chain.element(index)).collect(),
            weights: chains.map(|chain| chain.weights().to_vec()).collect(),
        }
    }
}

/// The places of an element or of all elements of a parameter.
fn elements(fit: &Fit, name: &str) -> Result<Range<usize>> {
    let layout = fit.layout();
    match layout.block(name) {
        Ok(block) => Ok(block.values.clone()),
        Err(_) => layout.index(name).map(|index| index..index + 1).map_err(Error::from),
    }
}

/// The row of an element in a forest plot.
pub(crate) fn interval(fit: &Fit, index: usize, row: &SummaryRow) -> Interval {
    let draws = Draws::of(fit, index);
    let inner = quantiles(&draws.chains.concat(), &draws.weights.concat(), &[0.25, 0.75]);
    Interval {
        name: row.name.clone(),
        mean: row.mean,
        outer: (row.eti89_lb, row.eti89_ub),
        inner: (inner[0], inner[1]),
        doubtful: row.r_hat > R_HAT,
    }
}

pub(crate) fn variable(fit: &Fit, index: usize) -> Variable {
    Variable { name: fit.layout().element(index), chains: Draws::of(fit, index).chains }
}

/// The names of the numbers that came with the draws.
pub(crate) fn statistics(fit: &Fit) -> Vec<String> {
    let mut names = vec!["log_posterior".to_owned(), "weight".to_owned()];
    for name in fit.chains().iter().flat_map(|chain| chain.stat_names()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// One number of every chain that recorded it. `None` where no chain did.
pub(crate) fn statistic(fit: &Fit, name: &str) -> Option<Vec<Line>> {
    let values = |chain: &ChainDraws| match name {
        "log_posterior" => Some(chain.log_posterior().to_vec()),
        "weight" => Some(chain.weights().to_vec()),
        name => chain.stat(name).map(<[f64]>::to_vec),
    };
    let recorded = fit.chains().iter().any(|chain| values(chain).is_some());
    recorded.then(|| {
        let line = |chain: &ChainDraws| Line {
            iterations: chain.iterations().to_vec(),
            values: values(chain).unwrap_or_default(),
        };
        fit.chains().iter().map(line).collect()
    })
}
