//! Benchmarks of `sgmcmc`. What each measures, and how to read it, is in `docs/performance.md`.
//!
//! ```text
//! cargo run --release -p bench -- steps
//! ```

mod allocator;
mod allocs;
mod analytic;
mod arguments;
mod build;
mod by_hand;
mod chains;
mod data;
mod deep;
mod engine;
mod explain;
mod handwritten;
mod overhead;
mod profile;
mod rows;
mod steps;
mod timed;
mod timing;
mod workloads;

use std::error::Error;
use std::process::ExitCode;

use arguments::Arguments;

const USAGE: &str = "usage: cargo run --release -p bench -- <benchmark> [--engine compiled|eager|analytic] [workload…]

benchmarks:
  steps      µs per step of SGLD; with `--engine analytic` also of a loop written by hand
  by-hand    µs per step of SGLD and of a loop written by hand, in turns
  profile    where the time of a step goes
  allocs     allocations per step; fails if there are any (but for the eager engine)
  chains     draws per second of one chain and of two
  build      ms to make an evaluator
  deep       µs per operation to compile closures of 1 000, 10 000 and 100 000 operations
  rows       values and gradients of single observations, against the gradient of their sum
  explain    what the compiled engine makes of the closures
  overhead   gradients of the eager engine against a bare Burn loop doing the same

workloads: gauss2, logistic_small, logistic, mixture, bnn, pmf; analytic, for steps and allocs, and by-hand have the first three";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((benchmark, rest)) = words.split_first() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(benchmark, rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(benchmark: &str, rest: &[String]) -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::read(rest)?;
    match benchmark {
        "steps" => steps::run(&arguments),
        "allocs" => allocs::run(&arguments),
        "by-hand" => by_hand::run(&arguments.closures()?),
        "profile" => profile::run(&arguments.closures()?),
        "chains" => chains::run(&arguments.closures()?),
        "build" => build::run(&arguments.closures()?),
        "rows" => rows::run(&arguments.closures()?),
        "explain" => explain::run(&arguments.closures()?),
        "deep" => deep::run(),
        "overhead" => Ok(overhead::run()?),
        _ => Err(format!("no benchmark `{benchmark}`\n{USAGE}").into()),
    }
}
