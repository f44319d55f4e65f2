//! Plots of a fit by parameter name.

use sgmcmc_diagnostics::{Description, quantiles};
use sgmcmc_fit::{ChainDraws, Fit, Thresholds};

use crate::draws::divergent;
use crate::error::{Error, Result};
use crate::plot::{self, Area, Frame, Interval, Line, Plot, Prior, Variable};

/// The largest number of panels of a plot.
const MAX_PANELS: usize = 24;

/// A builder of plots of a fit.
///
/// Parameters have the names of the summary: `beta[3]` is one value, and `beta` is all values of the parameter, with
/// one panel per value. The patterns of [`Fit::find_values`] work, too: `b*`, `W[*,2]`. Methods whose names begin with
/// `text_` draw for a terminal.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.025).seed(1).chains(2).sample(&zeros([2]), 100)?;
/// let plot = fit.plot().size(360, 220).title("slopes").forest(&["theta"])?;
/// assert!(plot.svg().contains("slopes"));
/// assert!(fit.plot().density("theta[1]")?.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plotter<'f> {
    pub(crate) fit: &'f Fit,
    pub(crate) frame: Frame,
    pub(crate) title: Option<String>,
}

impl<'a> Plotter<'a> {
    /// Creates a builder of plots of `fit`.
    pub(crate) fn new(fit: &'a Fit) -> Self {
        Self { fit, frame: Frame::new(""), title: None }
    }
}

impl Plotter<'_> {
    /// Sets the width and height of a panel in CSS pixels.
    pub fn size(mut self, width: u32, height: u32) -> Self {
        self.frame = self.frame.size(width, height);
        self
    }

    /// Sets the title. The default is the name of the parameter.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets whether the plot has a legend of the chains.
    pub fn legend(mut self, legend: bool) -> Self {
        self.frame = self.frame.legend(legend);
        self
    }

    /// Draws a trace plot: the draws of each chain in order.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such parameter, or if it has more than 24 values.
    pub fn trace(&self, name: &str) -> Result<Plot> {
        self.panels(name, |area, frame, draws| plot::draw_trace(area, frame, &draws.chains))
    }

    /// Draws rank histograms: the ranks of the draws of each chain among the draws of all chains.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such parameter, or if it has more than 24 values.
    pub fn rank(&self, name: &str) -> Result<Plot> {
        self.panels(name, |area, frame, draws| plot::draw_rank(area, frame, &draws.chains))
    }

    /// Draws the kernel density estimate of each chain.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such parameter, or if it has more than 24 values.
    pub fn density(&self, name: &str) -> Result<Plot> {
        self.panels(name, |area, frame, draws| plot::draw_density(area, frame, &draws.chains, &draws.weights))
    }

    /// Draws the autocorrelation function of each chain.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such parameter, or if it has more than 24 values.
    pub fn autocorrelation(&self, name: &str) -> Result<Plot> {
        self.panels(name, |area, frame, draws| plot::draw_autocorrelation(area, frame, &draws.chains))
    }

    /// Draws the running mean of each chain, and of all chains with a band of two standard errors.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such parameter, or if it has more than 24 values.
    pub fn running_mean(&self, name: &str) -> Result<Plot> {
        self.panels(name, |area, frame, draws| plot::draw_running_mean(area, frame, &draws.chains, &draws.weights))
    }

    /// Draws a forest plot: means, quartiles and 89 % intervals of the parameters `names`. Shows all parameters if
    /// `names` is empty. Values with an R-hat or an effective sample size beyond the default of
    /// [`Thresholds`] have a hollow dot.
    ///
    /// # Errors
    ///
    /// Returns an error if a pattern matches no value.
    pub fn forest(&self, names: &[&str]) -> Result<Plot> {
        let indices = self.fit.find_values(names)?;
        let summary = self.fit.summary();
        let rows = indices.into_iter().filter_map(|index| Some((index, summary.rows().get(index)?)));
        let intervals: Vec<Interval> = rows.map(|(index, row)| interval(self.fit, index, row)).collect();
        let title = self.title.as_deref().unwrap_or("mean, quartiles and 89 % interval");
        plot::forest(&intervals, &self.frame.titled(title))
    }

    /// Draws a pair plot: scatter plots of all pairs of two to eight values, with rings around divergent transitions.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no parameter with one of these names, or if there are fewer than two or more than
    /// eight values.
    pub fn pair(&self, names: &[&str]) -> Result<Plot> {
        let indices = self.fit.find_values(names)?;
        if !(2..=plot::MAX_PAIRED).contains(&indices.len()) {
            let reason = format!("{} values were given, it takes 2 to {}", indices.len(), plot::MAX_PAIRED);
            return Err(Error::Input { plot: "pair plot", reason });
        }
        let variables: Vec<_> = indices.into_iter().map(|index| variable(self.fit, index)).collect();
        let frame = self.frame.titled(self.title.as_deref().unwrap_or_default());
        plot::pair_with_divergences(&variables, &divergent(self.fit), &frame)
    }

    /// Draws a statistic over iterations: `log_posterior`, `weight` (the step size), or a statistic of the algorithm.
    ///
    /// # Errors
    ///
    /// Returns an error if no chain recorded the statistic.
    pub fn statistic(&self, name: &str) -> Result<Plot> {
        let lines = statistic(self.fit, name).ok_or_else(|| self.unknown_statistic(name))?;
        let title = self.title.as_deref().unwrap_or_else(|| self.fit.info().describe_statistic(name));
        plot::over_iterations(&lines, &self.frame.titled(title))
    }

    /// Draws the prior and the posterior of one value.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such value, or if the prior has no finite draw.
    pub fn prior_posterior(&self, name: &str, prior: &Prior) -> Result<Plot> {
        let draws = ValueDraws::new(self.fit, self.fit.layout().index(name)?);
        let frame = self.frame.titled(self.title.as_deref().unwrap_or(name));
        plot::prior_posterior(&draws.chains, &draws.weights, prior, &frame)
    }

    /// Returns the error of a statistic that no chain recorded.
    pub(crate) fn unknown_statistic(&self, name: &str) -> Error {
        let known = statistics(self.fit).iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        Error::Statistic { name: name.to_owned(), known }
    }

    /// Draws one panel per value that the pattern `name` selects.
    pub(crate) fn panels(
        &self,
        name: &str,
        draw: impl Fn(&Area<'_>, &Frame, &ValueDraws) -> Result<()>,
    ) -> Result<Plot> {
        let indices = self.fit.find_values(&[name])?;
        if indices.len() > MAX_PANELS {
            let reason = format!(
                "`{name}` has {} values, but a plot has at most {MAX_PANELS} panels; name some of the values",
                indices.len()
            );
            return Err(Error::Input { plot: "panels", reason });
        }
        let alone = indices.len() == 1;
        let own_name = indices.first().filter(|_| alone).map(|index| self.fit.layout().value_name(*index));
        let whole = self.frame.titled(self.title.as_deref().or(own_name.as_deref()).unwrap_or(name));
        Plot::panels(&whole, indices.len(), |panel, area| {
            let index = indices[panel];
            let frame = if alone { whole.clone() } else { whole.titled(self.fit.layout().value_name(index)) };
            draw(area, &frame, &ValueDraws::new(self.fit, index))
        })
    }
}

/// The draws of one value and their weights, by chain.
#[derive(Clone, Debug)]
pub(crate) struct ValueDraws {
    pub(crate) chains: Vec<Vec<f64>>,
    pub(crate) weights: Vec<Vec<f64>>,
}

impl ValueDraws {
    /// Returns the draws of the value with this index.
    pub(crate) fn new(fit: &Fit, index: usize) -> Self {
        let chains = fit.chains().iter();
        Self {
            chains: chains.clone().map(|chain| chain.element(index)).collect(),
            weights: chains.map(|chain| chain.weights().to_vec()).collect(),
        }
    }
}

/// Returns the row of a value in a forest plot.
pub(crate) fn interval(fit: &Fit, index: usize, row: &Description) -> Interval {
    let draws = ValueDraws::new(fit, index);
    let inner = quantiles(&draws.chains.concat(), &draws.weights.concat(), &[0.25, 0.75]);
    Interval {
        name: fit.layout().value_name(index),
        mean: row.mean,
        outer: (row.eti89_lb, row.eti89_ub),
        inner: (inner[0], inner[1]),
        doubtful: is_doubtful(fit, row),
    }
}

/// Returns whether R-hat or an effective sample size is beyond its default threshold.
fn is_doubtful(fit: &Fit, row: &Description) -> bool {
    let thresholds = Thresholds::default();
    let least = thresholds.ess_per_chain * fit.chains().len() as f64;
    row.r_hat > thresholds.r_hat || row.ess_bulk < least || row.ess_tail < least
}

/// Returns the draws of a value for a pair plot.
pub(crate) fn variable(fit: &Fit, index: usize) -> Variable {
    Variable { name: fit.layout().value_name(index), chains: ValueDraws::new(fit, index).chains }
}

/// Returns the names of the statistics, with the log posterior and the weight.
pub(crate) fn statistics(fit: &Fit) -> Vec<String> {
    let mut names = vec!["log_posterior".to_owned(), "weight".to_owned()];
    for name in fit.chains().iter().flat_map(|chain| chain.stat_names()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Returns the values of a statistic in every chain, or `None` if no chain recorded it.
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
