//! The slow statistical suite of `sgmcmc`: checks that take minutes, print tables, and are not part of `cargo test`.
//!
//! ```text
//! cargo run --release -p slow --features nuts -- posteriors [--page docs/accuracy.md]
//! cargo run --release -p slow --features nuts -- posteriors <name>
//! cargo run --release -p slow -- sbc [--page target/sbc.html]
//! cargo run --release -p slow -- figure-4-2-1
//! cargo run --release -p slow -- variances
//! cargo run --release -p slow -- mcse
//! cargo run --release -p slow -- kills [--count 1000]
//! cargo run --release -p slow -- files [--count 1000000] [--seed 1]
//! cargo run --release -p slow -- closures --count 100000 --seed 1
//! ```
//!
//! Each suite prints every number it judges and its criterion. The exit code is 0 when all criteria hold, 1 when one fails,
//! and 2 when the suite is not known. Where the data are not there, a suite says so and exits with 0.

mod accuracy;
mod closures;
mod eigen;
mod figure_4_2_1;
mod files;
mod kills;
mod law;
mod mcse;
mod posteriordb;
mod posteriors;
mod sbc;
mod variances;
mod whiten;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: cargo run --release -p slow -- <suite>

suites:
  posteriors [--page FILE]   every algorithm against the reference draws of posteriordb; writes docs/accuracy.md, or FILE
  posteriors NAME            the same on one posterior, without writing
  sbc [--page FILE]          simulation-based calibration of every preset; writes target/sbc.html, or FILE
  figure-4-2-1               time per iteration and divergence from the posterior of a normal mean, as N grows
  variances                  the variance of every algorithm on a normal posterior with the full gradient
  mcse                       reported Monte Carlo errors against the spread of the means of replicated runs
  kills [--count N]          runs of all algorithms killed at N random moments, resumed, and compared with runs that were not
  files [--count N] [--seed S]
                             N damaged files of every format: errors, not panics, within limits of memory and time
  closures --count N --seed S
                             random closures, the compiled engine against the eager one";

/// Counts what readers of damaged files allocate; without a limit for all other suites.
#[global_allocator]
static GUARD: sgmcmc_fuzzing::Guard = sgmcmc_fuzzing::Guard;

/// The page of `posteriors`, from the root of the repository.
const ACCURACY: &str = "docs/accuracy.md";

/// The page of `sbc`, from the root of the repository.
const CALIBRATION: &str = "target/sbc.html";

/// How a suite ended.
enum Outcome {
    /// All criteria hold.
    Passed,
    /// This many do not.
    Failed(usize),
    /// The data are not there.
    NotRun,
}

impl Outcome {
    fn of(failures: usize) -> Self {
        if failures == 0 { Self::Passed } else { Self::Failed(failures) }
    }
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let begin = Instant::now();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["posteriors"] => accuracy::run(None, Path::new(ACCURACY)),
        ["posteriors", "--page", page] => accuracy::run(None, Path::new(page)),
        ["posteriors", only] => accuracy::run(Some(only), Path::new(ACCURACY)),
        ["sbc"] => sbc::run(Path::new(CALIBRATION)),
        ["sbc", "--page", page] => sbc::run(Path::new(page)),
        ["variances"] => variances::run(),
        ["figure-4-2-1"] => figure_4_2_1::run(),
        ["mcse"] => mcse::run(),
        ["kills"] => kills::run(kills::KILLS, 1),
        ["kills", "--count", count] if let Ok(count) = count.parse() => kills::run(count, 1),
        ["kills-child", algorithm, every, directory] => kills::child(algorithm, every, directory),
        ["files", options @ ..] => files::run(options),
        ["closures", "--count", count, "--seed", seed] => match (count.parse(), seed.parse()) {
            (Ok(count), Ok(seed)) => closures::run(count, seed),
            _ => Err("closures takes a count and a seed, both whole numbers".into()),
        },
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    let seconds = begin.elapsed().as_secs_f64();
    match outcome {
        Ok(Outcome::Passed) => {
            println!("all criteria hold, after {seconds:.0} s");
            ExitCode::SUCCESS
        }
        Ok(Outcome::Failed(failures)) => {
            println!("{failures} criteria FAIL, after {seconds:.0} s");
            ExitCode::FAILURE
        }
        Ok(Outcome::NotRun) => {
            println!("not run: no data");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
