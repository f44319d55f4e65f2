//! The command-line program `sgmcmc`.

use std::process::ExitCode;

fn main() -> ExitCode {
    sgmcmc_cli::run()
}
