//! The verdict of an example: its last line, and the exit code that agrees with it.

use std::process::ExitCode;

/// Prints whether `claim` holds. Returns exit code 0 if it does, and 1 otherwise.
pub fn verdict(passed: bool, claim: &str) -> ExitCode {
    println!("\n{}: {claim}", if passed { "pass" } else { "FAIL" });
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
