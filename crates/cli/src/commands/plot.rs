//! `sgmcmc plot`: one plot, as a file or in the terminal.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use sgmcmc_fit::Fit;
use sgmcmc_gradient::text::printable;
use sgmcmc_report::{Plot, Plots, Plotter, TextChart};

use super::print::{print, write_out};
use super::source::FitAndParameters;
use crate::error::Error;
use crate::output;

/// The kind of plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Draws of each chain in order (terminal)
    Trace,
    /// Kernel density of each chain (terminal)
    Density,
    /// Rank histograms
    Rank,
    /// Autocorrelation of each chain (terminal)
    Autocorrelation,
    /// Running mean of each chain, with a band of two standard errors (terminal)
    RunningMean,
    /// Effective sample size against the number of draws (terminal)
    Ess,
    /// R-hat against the number of draws (terminal)
    RHat,
    /// Means, quartiles and 89 % intervals of several parameters
    Forest,
    /// Scatter plots of two to eight values, with divergences
    Pair,
    /// Parallel coordinates of 2 to 60 values, with divergences
    Parallel,
    /// Prior, from stored draws, and posterior
    Prior,
    /// Energy of Hamiltonian Monte Carlo
    Energy,
    /// A statistic over iterations: log_posterior, weight (the step size) or one of `sgmcmc info` (terminal)
    Statistic,
    /// Pareto k of leave-one-out cross-validation
    ParetoK,
    /// Leave-one-out probability integral transforms of an observed variable
    LooPit,
    /// Predictive check of an observed variable
    Predictive,
    /// Share of ones against the predicted probability of an observed variable with the values 0 and 1
    Reliability,
}

const HELP: &str = "\
Without --output, the kinds marked (terminal) are drawn as text. `statistic`, `loo-pit`, `predictive` and `reliability` take
the name of a statistic or of an observed variable instead of parameters.

Examples:
  sgmcmc plot trace fit.sgmcmc 'beta[5]'           in the terminal
  sgmcmc plot trace fit.sgmcmc 'beta[5]' -o trace.svg
  sgmcmc plot forest fit.sgmcmc 'beta*' '~beta[0]' -o forest.svg
  sgmcmc plot statistic fit.sgmcmc log_posterior";

#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The kind of plot
    #[arg(value_enum)]
    kind: Kind,
    #[command(flatten)]
    source: FitAndParameters,
    /// The file, .svg; without it the plot is drawn in the terminal
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long, short)]
    force: bool,
    /// The title
    #[arg(long, short)]
    title: Option<String>,
    /// The width: in CSS pixels of one panel, or in characters
    #[arg(long, value_name = "NUMBER")]
    width: Option<u32>,
    /// The height: in CSS pixels of one panel, or in characters
    #[arg(long, value_name = "NUMBER")]
    height: Option<u32>,
}

/// The largest number of charts in a terminal.
const CHARTS: usize = 6;

/// Draws the plot.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    if let Some(output) = &arguments.output {
        output::check(arguments.source.path(), output, arguments.force)?;
    }
    let (fit, names) = if arguments.kind.takes_parameters() {
        let fit = arguments.source.read()?;
        let names = fit.layout().value_names();
        (fit, names)
    } else {
        arguments.source.read_named()?
    };
    match &arguments.output {
        Some(output) => {
            let plot = arguments.draw(&fit, &names)?;
            plot.save(output)?;
            print(&format!("wrote {}", printable(&output.to_string_lossy())))
        }
        None => arguments.draw_text(&fit, &names),
    }
}

impl Kind {
    /// Returns whether the arguments after the fit are parameters.
    fn takes_parameters(self) -> bool {
        !matches!(
            self,
            Self::Statistic | Self::LooPit | Self::Predictive | Self::Reliability | Self::ParetoK | Self::Energy
        )
    }
}

impl Arguments {
    /// Draws the plot as SVG.
    fn draw(&self, fit: &Fit, names: &[String]) -> Result<Plot, Error> {
        let mut plotter = fit.plot();
        let (width, height) = match self.kind {
            Kind::Pair => (680, 640),
            _ => (480, 280),
        };
        plotter = plotter.size(self.width.unwrap_or(width), self.height.unwrap_or(height));
        if let Some(title) = &self.title {
            plotter = plotter.title(title);
        }
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let one = || match all[..] {
            [name] => Ok(name),
            _ => Err(Error::OneValue(all.len())),
        };
        let plot = match self.kind {
            Kind::Trace => plotter.trace("*"),
            Kind::Density => plotter.density("*"),
            Kind::Rank => plotter.rank("*"),
            Kind::Autocorrelation => plotter.autocorrelation("*"),
            Kind::RunningMean => plotter.running_mean("*"),
            Kind::Ess => plotter.ess_evolution("*"),
            Kind::RHat => plotter.r_hat_evolution("*"),
            Kind::Forest => plotter.forest(&[]),
            Kind::Pair => plotter.pair(&all),
            Kind::Parallel => plotter.parallel(&all),
            Kind::Prior => plotter.stored_prior(one()?),
            Kind::Energy => plotter.energy(),
            Kind::Statistic => plotter.statistic(self.name(names, "log_posterior")?),
            Kind::ParetoK => plotter.pareto_k(),
            Kind::LooPit => plotter.loo_pit(self.name(names, "")?),
            Kind::Predictive => plotter.predictive(self.name(names, "")?),
            Kind::Reliability => plotter.reliability(self.name(names, "")?),
        };
        Ok(plot?)
    }

    /// Returns the only name, or `default` if there is none.
    fn name<'n>(&self, names: &'n [String], default: &'n str) -> Result<&'n str, Error> {
        match names {
            [name] => Ok(name),
            [] if !default.is_empty() => Ok(default),
            _ => Err(Error::OneName(names.len())),
        }
    }

    /// Draws the plot in the terminal.
    fn draw_text(&self, fit: &Fit, names: &[String]) -> Result<ExitCode, Error> {
        let mut charts = Vec::new();
        if self.kind == Kind::Statistic {
            let name = self.name(names, "log_posterior")?;
            charts.push(self.titled(fit, fit.info().describe_statistic(name)).text_statistic(name)?);
        } else {
            let shown = if self.kind.takes_parameters() { names } else { return Err(Error::NeedsOutput) };
            for name in shown.iter().take(CHARTS) {
                let plotter = self.titled(fit, name);
                charts.push(match self.kind {
                    Kind::Trace => plotter.text_trace(name)?,
                    Kind::Density => plotter.text_density(name)?,
                    Kind::Autocorrelation => plotter.text_autocorrelation(name)?,
                    Kind::RunningMean => plotter.text_running_mean(name)?,
                    Kind::Ess => plotter.text_ess_evolution(name)?,
                    Kind::RHat => plotter.text_r_hat_evolution(name)?,
                    _ => return Err(Error::NeedsOutput),
                });
            }
        }
        let colors = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let (width, height) = (self.width.unwrap_or(72) as usize, self.height.unwrap_or(14) as usize);
        let draw = |chart: TextChart| chart.size(width, height).colors(colors).to_string();
        let mut text: Vec<String> = charts.into_iter().map(draw).collect();
        if self.kind != Kind::Statistic && names.len() > CHARTS {
            text.push(format!(
                "… {} more values: name some of them, or write a file with --output",
                names.len() - CHARTS
            ));
        }
        // Names are escaped in the titles; the colors are escape sequences.
        write_out(&text.join("\n\n")).map_err(Error::Output)
    }

    /// Returns a plotter whose title is escaped and names the lines.
    fn titled<'f>(&self, fit: &'f Fit, name: &str) -> Plotter<'f> {
        let title = printable(self.title.as_deref().unwrap_or(name)).into_owned();
        let lines = match self.kind {
            Kind::Ess => " (bulk, tails)",
            Kind::RHat => "",
            _ if fit.chains().len() > 1 => " (one line per chain)",
            _ => "",
        };
        fit.plot().title(format!("{title}{lines}"))
    }
}
