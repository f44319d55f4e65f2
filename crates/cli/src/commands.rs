//! What the commands do.

use std::io::{ErrorKind, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sgmcmc_core::text::{printable, printable_lines};
use sgmcmc_samplers::{Ending, Fit};
use sgmcmc_storage::fits;

use crate::arguments::{Check, Command, Convert, Format, Info, Report, Summary};
use crate::error::Error;
use crate::target;

/// The exit code of a check that found problems.
const PROBLEMS: u8 = 1;

pub(crate) fn run(command: &Command) -> Result<ExitCode, Error> {
    match command {
        Command::Summary(arguments) => summary(arguments),
        Command::Check(arguments) => check(arguments),
        Command::Report(arguments) => report(arguments),
        Command::Convert(arguments) => convert(arguments),
        Command::Info(arguments) => info(arguments),
    }
}

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
        // Already escaped as the format has it; half of a table for a program is a wrong table.
        Format::Csv | Format::Json => write_whole(&text),
        Format::Table | Format::Markdown => print(&text),
    }
}

fn check(arguments: &Check) -> Result<ExitCode, Error> {
    let check = fits::open(&arguments.fit)?.check();
    let code = if check.passed() { ExitCode::SUCCESS } else { ExitCode::from(PROBLEMS) };
    if !arguments.quiet {
        match print(&check.to_string()) {
            // A reader that has seen enough does not change what was found.
            Err(Error::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
            other => _ = other?,
        }
    }
    Ok(code)
}

fn report(arguments: &Report) -> Result<ExitCode, Error> {
    let output = arguments.output.clone().unwrap_or_else(|| page_of(&arguments.fit));
    target::check(&arguments.fit, &output, arguments.force)?;
    let fit = fits::open(&arguments.fit)?;
    let name = arguments.fit.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let title = arguments.title.clone().unwrap_or(name);
    sgmcmc_report::Report::new(&fit).title(title).limit(arguments.limit).write(&output)?;
    print(&format!("wrote {}", printable(&output.to_string_lossy())))
}

/// The page beside a fit: `runs/fit.sgmcmc` has `runs/fit.html`.
fn page_of(fit: &Path) -> PathBuf {
    // A path such as `..` has no name to take the ending from.
    if fit.file_name().is_some() { fit.with_extension("html") } else { PathBuf::from("report.html") }
}

fn convert(arguments: &Convert) -> Result<ExitCode, Error> {
    let Convert { fit, output, force } = arguments;
    // Before anything is read or written: a wrong name must not cost anything.
    if fits::Format::of_name(output).is_none() {
        return Err(Error::Ending(output.clone()));
    }
    target::check(fit, output, *force)?;
    let read = fits::open(fit)?;
    if *force {
        fits::replace(&read, output)?
    } else {
        fits::save(&read, output)?
    }
    print(&format!("wrote {}", printable(&output.to_string_lossy())))
}

fn info(arguments: &Info) -> Result<ExitCode, Error> {
    let format = fits::Format::of_content(&arguments.fit)?;
    let fit = fits::open(&arguments.fit)?;
    print(&described(&fit, &arguments.fit, &format!("{format:?}")))
}

fn described(fit: &Fit, path: &Path, format: &str) -> String {
    let mut lines =
        vec![format!("{} ({format})", printable(&path.to_string_lossy())), String::new(), "parameters".to_owned()];
    for block in fit.layout().blocks() {
        let constraint = block.constraint.map_or_else(String::new, |constraint| format!("  {constraint:?}"));
        lines.push(format!("  {}  {:?}{constraint}", printable(&block.name), block.shape));
    }
    lines.extend([String::new(), "chains".to_owned()]);
    for (number, (chain, ending)) in fit.chains().iter().zip(fit.endings()).enumerate() {
        let ended = match ending {
            Ending::Complete => "complete".to_owned(),
            Ending::Stopped => "stopped".to_owned(),
            Ending::Failed(error) => format!("failed: {}", printable(&error.to_string())),
        };
        lines.push(format!("  {number}  {} draws, {ended}", chain.len()));
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
        ("algorithm", run.algorithm.clone()),
        ("gradient", run.gradient.clone()),
        ("step size", run.step_size.clone()),
        ("observations", known(run.observations as u64)),
        ("minibatch", run.minibatch.map_or_else(String::new, |size| size.to_string())),
        ("burn-in", known(run.burn_in)),
        ("thin", known(run.thin)),
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
    lines.join("\n")
}

fn known(number: u64) -> String {
    if number > 0 { number.to_string() } else { String::new() }
}

/// Prints a text for people. Control characters in names and paths are escaped.
fn print(text: &str) -> Result<ExitCode, Error> {
    write_out(&printable_lines(text)).map_err(Error::Output)
}

/// Prints a text for programs. A reader that leaves before the end is an error.
fn write_whole(text: &str) -> Result<ExitCode, Error> {
    write_out(text).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Error::CutShort,
        _ => Error::Output(error),
    })
}

fn write_out(text: &str) -> std::io::Result<ExitCode> {
    let mut out = stdout().lock();
    writeln!(out, "{}", text.trim_end())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
