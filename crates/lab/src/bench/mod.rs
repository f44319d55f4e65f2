//! Benchmarks. `docs/performance.md` explains what each measures and how to read it.

mod allocs;
mod analytic;
mod arguments;
mod build;
mod by_hand;
mod chains;
pub(crate) mod communication;
mod data;
mod deep;
mod diagnostics_speed;
mod engine;
mod explain;
mod handwritten;
mod overhead;
mod profile;
mod rows;
mod sequences;
mod steps;
mod timed;
mod timing;
mod topics;
mod workloads;

use crate::Result;
use arguments::Arguments;

/// A benchmark that takes an engine and workloads.
type Benchmark = fn(&Arguments) -> Result<()>;

/// Runs the benchmark called `command`, or returns `None` if the name is unknown.
pub(crate) fn run(command: &str, arguments: &[String]) -> Option<Result<()>> {
    let benchmark: Benchmark = match command {
        "steps" => steps::run,
        "allocs" => allocs::run,
        "by-hand" => by_hand::run,
        "profile" => profile::run,
        "chains" => chains::run,
        "build" => build::run,
        "rows" => rows::run,
        "explain" => explain::run,
        "deep" => return Some(deep::run()),
        "sequences" => return Some(sequences::run()),
        "overhead" => return Some(overhead::run().map_err(Into::into)),
        "topics" => return Some(topics::run(arguments)),
        "communication" => return Some(communication::run(arguments)),
        "diagnostics-speed" => return Some(diagnostics_speed::run(arguments)),
        _ => return None,
    };
    let supports_analytic = matches!(command, "steps" | "allocs");
    let arguments = Arguments::parse(arguments);
    Some(
        arguments
            .and_then(|parsed| if supports_analytic { Ok(parsed) } else { parsed.require_closures() })
            .and_then(|arguments| benchmark(&arguments)),
    )
}
