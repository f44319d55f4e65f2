//! `sgmcmc watch`: a run under way, from another terminal.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use sgmcmc_fit::{ChainDraws, ChainOutcome, Fit, SummaryOptions, SummaryOrder, count};
use sgmcmc_gradient::text::{printable, printable_lines};
use sgmcmc_report::{Plots, Report};
use sgmcmc_storage::fits;

use super::print::warn;
use crate::closed::stdout;
use crate::error::Error;
use crate::output;

const HELP: &str = "\
RUN is the directory of the checkpoints of a run, or the files to which it writes its draws. What is shown is as new as the last
checkpoint or flush. The command ends when all chains have their draws, or with Ctrl-C, which does not touch the run.

Examples:
  sgmcmc watch checkpoints
  sgmcmc watch checkpoints 'beta*' '~beta[0]' --every 10
  sgmcmc watch checkpoints --html run.html       a page that reloads itself";

#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The directory of checkpoints, or the file or directory of draws
    run: PathBuf,
    /// The parameters of the table: names, elements, patterns and exclusions [default: all]. The traces and effective sample
    /// sizes of the three with the worst R-hat are drawn, without names those of the worst one
    #[arg(value_name = "PARAMETER")]
    parameters: Vec<String>,
    /// Seconds between two looks at the run
    #[arg(long, default_value_t = 2.0, value_name = "SECONDS")]
    every: f64,
    /// The number of values in the table; those with the worst R-hat are shown
    #[arg(long, default_value_t = 5, value_name = "COUNT")]
    top: usize,
    /// Look once and end
    #[arg(long)]
    once: bool,
    /// Also write a report that reloads itself, to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Replace an existing page
    #[arg(long)]
    force: bool,
}

/// The largest number of named values whose traces are drawn.
const TRACES: usize = 3;

/// The times of the first and the last look at a run, and the draws at the first one.
struct Begin {
    at: Instant,
    draws: usize,
}

/// Shows the run until it ends.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    if let Some(page) = &arguments.html {
        output::check(&arguments.run, page, arguments.force)?;
    }
    let is_terminal = std::io::stdout().is_terminal();
    let (mut begin, mut waited) = (None, false);
    loop {
        let look = Instant::now();
        match fits::open(&arguments.run) {
            Ok(fit) => {
                let draws = draws(&fit);
                let begin = begin.get_or_insert(Begin { at: look, draws });
                let text = arguments.describe(&fit, begin, is_terminal)?;
                show(&text, is_terminal && !arguments.once)?;
                let complete = fit.outcomes().iter().all(|outcome| *outcome == ChainOutcome::Complete);
                if let Some(page) = &arguments.html {
                    let mut report = Report::new(&fit).title(format!("Run {}", printable(&name(arguments))));
                    if !complete && !arguments.once {
                        report = report.reload_every(arguments.interval(look.elapsed()));
                    }
                    report.write(page)?;
                }
                if complete || arguments.once {
                    return Ok(ExitCode::SUCCESS);
                }
            }
            // A run that has just been started has no draws yet.
            Err(error) if arguments.once || !arguments.run.exists() => return Err(error.into()),
            Err(error) if !waited => {
                waited = true;
                warn(&format!("waiting for the first draws ({})", printable_lines(&error.to_string())));
            }
            Err(_) => {}
        }
        std::thread::sleep(arguments.interval(look.elapsed()));
    }
}

impl Arguments {
    /// Returns the time to the next look. Reading takes at most a tenth of the time.
    fn interval(&self, reading: Duration) -> Duration {
        let every = Duration::try_from_secs_f64(self.every).unwrap_or(Duration::from_secs(2));
        every.max(reading * 9).max(Duration::from_millis(100))
    }

    /// Returns the text about a run.
    fn describe(&self, fit: &Fit, begin: &Begin, colors: bool) -> Result<String, Error> {
        let mut text = String::new();
        let total = draws(fit);
        let rate = (total - begin.draws.min(total)) as f64 / begin.at.elapsed().as_secs_f64();
        let planned = fit.info().planned.map(|draws| draws.saturating_mul(fit.chains().len()));
        let _ = write!(text, "{}: {}", printable(&name(self)), count(total, "draw"));
        if let Some(planned) = planned.filter(|planned| *planned > total) {
            let _ = write!(text, " (of {planned})");
        }
        let _ = write!(text, " of {}", fit.describe_chains());
        if rate > 0.0 && total > begin.draws {
            let _ = write!(text, ", {rate:.1} per second");
            let left = planned.map(|planned| planned.saturating_sub(total) as f64 / rate);
            if let Some(left) = left.filter(|left| *left > 0.0).and_then(|left| Duration::try_from_secs_f64(left).ok())
            {
                let _ = write!(text, ", {} left", in_words(left));
            }
        }
        let divergences = divergences(fit);
        if divergences > 0 {
            let _ = write!(text, ", {}", count(divergences, "divergent transition"));
        }
        text.push('\n');
        for (number, (chain, outcome)) in fit.chains().iter().zip(fit.outcomes()).enumerate() {
            let state = match outcome {
                ChainOutcome::Complete => "complete",
                ChainOutcome::Stopped => "under way or stopped",
                ChainOutcome::Failed(_) => "failed",
            };
            let last = chain.iterations().last().copied().unwrap_or(0);
            let _ = writeln!(text, "  chain {number}: {}, iteration {last}, {state}", count(chain.len(), "draw"));
        }
        if fit.chains().iter().all(|chain| chain.len() < 4) {
            text.push_str("\ntoo few draws for a table\n");
            return Ok(text);
        }
        let options = SummaryOptions { order: SummaryOrder::RHat, top: Some(self.top), ..SummaryOptions::default() };
        let failed = |source| Error::Parameter { path: self.run.clone(), source };
        let selected = if self.parameters.is_empty() {
            Cow::Borrowed(fit)
        } else {
            Cow::Owned(fit.select(&self.parameters).map_err(failed)?)
        };
        let summary = selected.summary_with(&options).map_err(failed)?;
        // The warnings are about a finished fit.
        let table = summary.to_string();
        let is_warning = |line: &str| summary.warnings().iter().any(|warning| warning == line);
        text.push('\n');
        for line in table.lines().filter(|line| !is_warning(line)) {
            let _ = writeln!(text, "{}", printable_lines(line));
        }
        text.push('\n');
        let colors = colors && std::env::var_os("NO_COLOR").is_none();
        for name in summary.names().iter().take(if self.parameters.is_empty() { 1 } else { TRACES }) {
            let title = |what: &str| format!("{}: {what}", printable(name));
            let (trace, ess) = (title("trace of each chain"), title("ESS of bulk and tails against draws"));
            let trace = fit.plot().title(trace).text_trace(name)?;
            let ess = fit.plot().title(ess).text_ess_evolution(name)?;
            let _ = writeln!(text, "{}\n{}", trace.size(72, 8).colors(colors), ess.size(72, 6).colors(colors));
        }
        Ok(text)
    }
}

/// Returns the number of draws whose transition diverged, as Hamiltonian algorithms record it.
fn divergences(fit: &Fit) -> usize {
    let diverging = fit.chains().iter().filter_map(|chain| chain.stat("diverging"));
    diverging.flatten().filter(|value| **value > 0.0).count()
}

/// Returns a duration in its two largest units.
fn in_words(time: Duration) -> String {
    match time.as_secs() {
        s @ 0..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min {} s", s / 60, s % 60),
        s => format!("{} h {} min", s / 3600, s / 60 % 60),
    }
}

/// Returns the name of the run.
fn name(arguments: &Arguments) -> String {
    arguments.run.to_string_lossy().into_owned()
}

/// Returns the number of draws of all chains.
fn draws(fit: &Fit) -> usize {
    fit.chains().iter().map(ChainDraws::len).sum()
}

/// Prints a text, in place of the last one on a terminal.
fn show(text: &str, in_place: bool) -> Result<(), Error> {
    let mut out = stdout()?;
    if in_place {
        // The screen is cleared from the upper left corner.
        write!(out, "\x1b[H\x1b[2J")?;
    }
    writeln!(out, "{}", text.trim_end())?;
    out.flush()?;
    Ok(())
}
