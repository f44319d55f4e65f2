//! Slow statistical suites: checks that take minutes and are not part of `cargo test`.
//!
//! Each suite prints every number that it judges, with its criterion.

mod accuracy;
mod algorithms;
mod closures;
mod figure_4_2_1;
mod files;
mod kills;
mod large_fit;
mod law;
mod mcse;
mod posteriordb;
mod posteriors;
mod report_sixty;
mod sbc;
pub(crate) mod sections;
mod simplex;
mod variances;
mod whiten;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use crate::Result;

/// The default page of `posteriors` and of `accuracy posteriordb`, relative to the root of the repository.
const ACCURACY_PAGE: &str = "docs/accuracy.md";

/// The default page of `sbc`, relative to the root of the repository.
const CALIBRATION_PAGE: &str = "target/sbc.html";

/// The outcome of a suite.
enum Outcome {
    /// All criteria hold.
    Passed,
    /// The number of criteria that fail.
    Failed(usize),
    /// The data are missing.
    NotRun,
    /// There was nothing to compare with.
    NotJudged,
}

impl Outcome {
    /// Returns the outcome of a suite with this number of failed criteria.
    fn from_failures(failures: usize) -> Self {
        if failures == 0 { Self::Passed } else { Self::Failed(failures) }
    }
}

/// Runs the suite called `command`, or returns `None` if no suite takes these arguments.
pub(crate) fn run(command: &str, arguments: &[String]) -> Option<ExitCode> {
    let begin = Instant::now();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match (command, words.as_slice()) {
        ("accuracy", _) => accuracy::run(arguments),
        ("posteriors", []) => algorithms::run(None, Path::new(ACCURACY_PAGE)),
        ("posteriors", ["--page", page]) => algorithms::run(None, Path::new(page)),
        ("posteriors", [name]) => algorithms::run(Some(name), Path::new(ACCURACY_PAGE)),
        ("sbc", []) => sbc::run(Path::new(CALIBRATION_PAGE)),
        ("sbc", ["gallery", names @ ..]) => sbc::run_gallery(names),
        ("sbc", ["--page", page]) => sbc::run(Path::new(page)),
        ("variances", []) => variances::run(),
        ("figure-4-2-1", []) => figure_4_2_1::run(),
        ("figure-5-2-1", []) => simplex::figure_5_2_1::run(),
        ("figure-5-3-1", []) => simplex::figure_5_3_1::run(),
        ("mcse", []) => mcse::run(),
        ("large-fit", []) => large_fit::run(),
        ("kills", []) => kills::run(kills::DEFAULT_KILLS, 1),
        ("kills", ["--count", count]) if let Ok(count) = count.parse() => kills::run(count, 1),
        // The command that `kills` starts as a child process.
        ("kills-child", [algorithm, every, directory]) => kills::child(algorithm, every, directory),
        ("files", options) => files::run(options),
        ("closures", ["--count", count, "--seed", seed]) => match (count.parse(), seed.parse()) {
            (Ok(count), Ok(seed)) => closures::run(count, seed),
            _ => Err("closures takes a count and a seed, both whole numbers".into()),
        },
        ("browser-pages", [directory]) => return Some(exit_code(report_sixty::pages(Path::new(directory)))),
        ("report-sixty", [path, parameters @ ..]) if parameters.len() <= 1 => {
            return Some(exit_code(report_sixty::run(path, parameters.first().copied())));
        }
        _ => return None,
    };
    Some(print_outcome(outcome, begin.elapsed().as_secs_f64()))
}

/// Prints the outcome of a suite and returns the exit code.
fn print_outcome(outcome: Result<Outcome>, seconds: f64) -> ExitCode {
    match outcome {
        Ok(Outcome::Failed(failures)) => {
            println!("{failures} criteria FAIL, after {seconds:.0} s");
            ExitCode::FAILURE
        }
        Ok(Outcome::Passed) => {
            println!("all criteria hold, after {seconds:.0} s");
            ExitCode::SUCCESS
        }
        Ok(Outcome::NotRun) => {
            println!("not run: no data");
            ExitCode::SUCCESS
        }
        Ok(Outcome::NotJudged) => {
            println!("no criterion was judged, after {seconds:.0} s");
            ExitCode::SUCCESS
        }
        Err(error) => exit_code(Err(error)),
    }
}

/// Prints an error and returns the exit code.
fn exit_code(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
