//! `sgmcmc`: a look at saved fits from the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    sgmcmc_cli::run()
}
