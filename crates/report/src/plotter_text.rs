//! Plots of a fit as text.

use sgmcmc_diagnostics::autocorrelation;

use crate::error::{Error, Result};
use crate::plot::{EarlyDiagnostics, KernelDensity, decimate, running_means};
use crate::plotter::{Plotter, ValueDraws, statistic};
use crate::text_chart::TextChart;

/// The number of points of a line.
const POINTS: usize = 400;

impl Plotter<'_> {
    /// Returns a trace plot of one value for a terminal.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such value.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let fit = hmc(&model, &Dataset::none(), 0.5).seed(1).chains(2).sample(&zeros([2]), 100)?;
    /// println!("{}", fit.plot().text_trace("theta[0]")?.size(60, 10));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn text_trace(&self, name: &str) -> Result<TextChart> {
        self.text(name, |draws| {
            let line =
                |chain: &Vec<f64>| decimate(chain.iter().enumerate().map(|(i, x)| ((i + 1) as f64, *x)), POINTS / 2);
            draws.chains.iter().map(line).collect()
        })
    }

    /// Returns the densities of one value for a terminal.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such value.
    pub fn text_density(&self, name: &str) -> Result<TextChart> {
        self.text(name, |draws| {
            let densities = draws.chains.iter().zip(&draws.weights);
            let points =
                |(chain, weights): (&Vec<f64>, &Vec<f64>)| KernelDensity::from_draws(chain, weights).map(|d| d.points);
            densities.filter_map(points).collect()
        })
    }

    /// Returns the autocorrelations of one value, up to lag 100, for a terminal.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such value.
    pub fn text_autocorrelation(&self, name: &str) -> Result<TextChart> {
        self.text(name, |draws| {
            let line = |chain: &Vec<f64>| {
                let lags = autocorrelation(chain).into_iter().take(101).enumerate();
                lags.map(|(lag, rho)| (lag as f64, rho)).collect()
            };
            draws.chains.iter().map(line).collect()
        })
    }

    /// Returns the running means of one value for a terminal.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such value.
    pub fn text_running_mean(&self, name: &str) -> Result<TextChart> {
        self.text(name, |draws| {
            draws.chains.iter().zip(&draws.weights).map(|(chain, weights)| running_means(chain, weights)).collect()
        })
    }

    /// Returns the effective sample sizes of the first draws of one value, of bulk and tails, for a terminal.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such value.
    pub fn text_ess_evolution(&self, name: &str) -> Result<TextChart> {
        self.text(name, |draws| {
            let all = EarlyDiagnostics::all(&draws.chains);
            let line =
                |size: fn(&EarlyDiagnostics) -> f64| all.iter().map(|early| (early.draws, size(early))).collect();
            vec![line(|early| early.bulk), line(|early| early.tail)]
        })
    }

    /// Returns R-hat of the first draws of one value for a terminal.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such value.
    pub fn text_r_hat_evolution(&self, name: &str) -> Result<TextChart> {
        self.text(name, |draws| {
            vec![EarlyDiagnostics::all(&draws.chains).iter().map(|early| (early.draws, early.r_hat)).collect()]
        })
    }

    /// Returns a statistic over iterations for a terminal: `log_posterior`, `weight` (the step size), or a statistic of the
    /// algorithm.
    ///
    /// # Errors
    ///
    /// Returns an error if no chain recorded the statistic.
    pub fn text_statistic(&self, name: &str) -> Result<TextChart> {
        let lines = statistic(self.fit, name).ok_or_else(|| self.unknown_statistic(name))?;
        let points = lines.into_iter().map(|line| {
            decimate(
                line.iterations.iter().map(|iteration| *iteration as f64).zip(line.values.iter().copied()),
                POINTS / 2,
            )
        });
        let title = self.title.as_deref().unwrap_or_else(|| self.fit.info().describe_statistic(name));
        Ok(points.fold(TextChart::new(title), TextChart::line))
    }

    /// Returns a chart of lines that `lines` computes from the draws of one value.
    fn text(&self, name: &str, lines: impl Fn(&ValueDraws) -> Vec<Vec<(f64, f64)>>) -> Result<TextChart> {
        let index = self.fit.layout().index(name).map_err(Error::from)?;
        let lines = lines(&ValueDraws::new(self.fit, index));
        Ok(lines.into_iter().fold(TextChart::new(self.title.as_deref().unwrap_or(name)), TextChart::line))
    }
}
