//! Benchmarks of `sgmcmc`, as ratios measured side by side in one run.
//!
//! ```text
//! cargo run --release -p bench -- overhead
//! ```

mod overhead;
mod timing;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo run --release -p bench -- <benchmark>

benchmarks:
  overhead   gradients of the eager engine against a bare Burn loop doing the same";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["overhead"] => overhead::run(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
