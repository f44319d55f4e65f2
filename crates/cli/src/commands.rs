//! The commands.

use std::io::{ErrorKind, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sgmcmc_fit::{ChainOutcome, Fit, TuningRecord, count};
use sgmcmc_gradient::text::{printable, printable_lines};
use sgmcmc_storage::fits;

use crate::arguments::{Check, Command, Convert, Format, Info, Report, Summary};
use crate::error::Error;
use crate::output;

/// The exit code of a check that found problems.
const PROBLEMS: u8 = 1;

/// Runs a command and returns the exit code.
pub(crate) fn run(command: &Command) -> Result<ExitCode, Error> {
    match command {
        Command::Summary(arguments) => summary(arguments),
        Command::Check(arguments) => check(arguments),
        Command::Report(arguments) => report(arguments),
        Command::Convert(arguments) => convert(arguments),
        Command::Info(arguments) => info(arguments),
    }
}

/// Prints the summary table.
fn summary(arguments: &Summary) -> Result<ExitCode, Error> {
    let mut fit = fits::open(&arguments.fit)?;
    if !arguments.parameters.is_empty() {
        let names: Vec<&str> = arguments.parameters.iter().map(String::as_str).collect();
        fit = fit.only(&names).map_err(|source| Error::Parameter { path: arguments.fit.clone(), source })?;
    }
    let summary = fit.summary();
    let text = match arguments.format {
        Format::Table if arguments.all => summary.unfolded().to_string(),
        Format::Table => summary.to_string(),
        Format::Csv => summary.to_csv(),
        Format::Json => summary.to_json(),
        Format::Markdown => summary.to_markdown(),
    };
    match arguments.format {
        // The format has its own escapes. A truncated table must not pass as a complete one.
        Format::Csv | Format::Json => print_complete(&text),
        Format::Table | Format::Markdown => print(&text),
    }
}

/// Prints the findings of the check.
fn check(arguments: &Check) -> Result<ExitCode, Error> {
    let check = fits::open(&arguments.fit)?.check();
    let code = if check.passed() { ExitCode::SUCCESS } else { ExitCode::from(PROBLEMS) };
    if !arguments.quiet {
        match print(&check.to_string()) {
            // A closed pipe does not change the result of the check.
            Err(Error::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
            other => _ = other?,
        }
    }
    Ok(code)
}

/// Writes the report.
fn report(arguments: &Report) -> Result<ExitCode, Error> {
    let output = arguments.output.clone().unwrap_or_else(|| default_page(&arguments.fit));
    output::check(&arguments.fit, &output, arguments.force)?;
    let fit = fits::open(&arguments.fit)?;
    let name = arguments.fit.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let title = arguments.title.clone().unwrap_or(name);
    sgmcmc_report::Report::new(&fit).title(title).limit(arguments.limit).write(&output)?;
    print(&format!("wrote {}", printable(&output.to_string_lossy())))
}

/// Returns the default output of a report: `runs/fit.html` for `runs/fit.sgmcmc`.
fn default_page(fit: &Path) -> PathBuf {
    // A path such as `..` has no file name.
    if fit.file_name().is_some() { fit.with_extension("html") } else { PathBuf::from("report.html") }
}

/// Writes the fit in another format.
fn convert(arguments: &Convert) -> Result<ExitCode, Error> {
    let Convert { fit, output, force } = arguments;
    // Check the name before reading the fit, which can take long.
    if fits::Format::of_name(output).is_none() {
        return Err(Error::UnknownExtension(output.clone()));
    }
    output::check(fit, output, *force)?;
    let read = fits::open(fit)?;
    if *force {
        fits::replace(&read, output)?
    } else {
        fits::save(&read, output)?
    }
    print(&format!("wrote {}", printable(&output.to_string_lossy())))
}

/// Prints a description of the fit.
fn info(arguments: &Info) -> Result<ExitCode, Error> {
    let format = fits::Format::of_content(&arguments.fit)?;
    let fit = fits::open(&arguments.fit)?;
    print(&describe(&fit, &arguments.fit, &format!("{format:?}")))
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
        let outcome = match outcome {
            ChainOutcome::Complete => "complete".to_owned(),
            ChainOutcome::Stopped => "stopped".to_owned(),
            ChainOutcome::Failed(error) => format!("failed: {}", printable(&error.to_string())),
        };
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

/// Prints a text for humans. Control characters in names and paths are escaped.
fn print(text: &str) -> Result<ExitCode, Error> {
    write_out(&printable_lines(text)).map_err(Error::Output)
}

/// Prints a text for programs. A closed pipe is an error.
fn print_complete(text: &str) -> Result<ExitCode, Error> {
    write_out(text).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Error::Truncated,
        _ => Error::Output(error),
    })
}

/// Writes a text to standard output.
fn write_out(text: &str) -> std::io::Result<ExitCode> {
    let mut out = stdout().lock();
    writeln!(out, "{}", text.trim_end())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
