//! `sgmcmc info`: names, shapes, chains and settings.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use sgmcmc_fit::{Fit, TuningRecord, count};
use sgmcmc_gradient::text::printable;
use sgmcmc_storage::fits;

use super::print::print;
use crate::error::Error;

#[derive(Args, Debug)]
#[command(after_help = "Example: sgmcmc info fit.sgmcmc")]
pub(crate) struct Arguments {
    /// The fit
    pub(crate) fit: PathBuf,
}

/// Prints a description of the fit.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let fit = fits::open(&arguments.fit)?;
    // The directory of the checkpoints of a run has no format.
    let format = fits::Format::from_content(&arguments.fit).map_or("checkpoints", fits::Format::name);
    print(&describe(&fit, &arguments.fit, format))
}

/// Returns the text of `info`.
fn describe(fit: &Fit, path: &Path, format: &str) -> String {
    let mut lines =
        vec![format!("{} ({format})", printable(&path.to_string_lossy())), String::new(), "parameters".to_owned()];
    for block in fit.layout().blocks() {
        let constraint = block.constraint.map_or_else(String::new, |constraint| format!("  {constraint:?}"));
        lines.push(format!("  {}  {:?}{constraint}", printable(&block.name), block.shape));
    }
    lines.extend([String::new(), "chains".to_owned()]);
    for (number, (chain, outcome)) in fit.chains().iter().zip(fit.outcomes()).enumerate() {
        let outcome = outcome.to_string();
        let outcome = printable(&outcome);
        lines.push(format!("  {number}  {}, {outcome}", count(chain.len(), "draw")));
    }
    let stats: Vec<&str> =
        fit.chains().first().map_or_else(Vec::new, |chain| chain.stats().map(|stat| stat.0).collect());
    if !stats.is_empty() {
        lines.extend([String::new(), format!("statistics  {}", printable(&stats.join(", ")))]);
    }
    let run = fit.info();
    let seconds: Vec<String> = run.seconds.iter().map(|seconds| format!("{seconds:.1}")).collect();
    let interleaved = if run.interleaved > 1 { fit.describe_chains() } else { String::new() };
    let rows = [
        ("algorithm", run.describe_algorithm()),
        ("gradient", run.describe_gradient()),
        ("step size", run.describe_step_size()),
        ("observations", positive(run.observations as u64)),
        ("minibatch", run.minibatch.map_or_else(String::new, |size| size.to_string())),
        ("burn-in", positive(run.burn_in)),
        ("thin", positive(run.thin)),
        ("chains", interleaved),
        ("shard", run.shard.map_or_else(String::new, |shard| shard.to_string())),
        ("seed", if run.iterations.is_empty() { String::new() } else { run.seed.to_string() }),
        ("seconds", seconds.join(", ")),
        ("version", run.version.clone()),
    ];
    let rows: Vec<_> = rows.into_iter().filter(|row| !row.1.is_empty()).collect();
    if !rows.is_empty() {
        lines.extend([String::new(), "run".to_owned()]);
        lines.extend(rows.into_iter().map(|(name, value)| format!("  {name:<13} {}", printable(&value))));
    }
    lines.extend(run.tuning.iter().flat_map(describe_tuning));
    lines.join("\n")
}

/// Returns the lines of `info` about automatic tuning: its decisions and its cost.
fn describe_tuning(tuning: &TuningRecord) -> Vec<String> {
    let mut lines = vec![String::new(), "automatic tuning".to_owned()];
    let decision = |(index, sentence): (usize, &String)| format!("  {:>2}. {}", index + 1, printable(sentence));
    lines.extend(tuning.decisions.iter().enumerate().map(decision));
    lines.push(format!("  {:<13} {:.1}", "seconds", tuning.seconds));
    lines.push(format!("  {:<13} {} of single observations", "gradients", tuning.gradients));
    lines
}

/// Formats a positive number. Zero means that the number is not known.
fn positive(number: u64) -> String {
    if number > 0 { number.to_string() } else { String::new() }
}
