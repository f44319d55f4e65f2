//! Replications of the experiments of papers. Each prints the paper's claims with `pass` or `FAIL` and saves a figure.

mod figure;
mod flags;
mod hamcmc_linear_gaussian;
mod ica;
mod normals;
mod or_synthetic;
mod qnhmc_gaussian;
mod qnhmc_mnist;
mod sgld_a9a;
mod sgld_mixture;

use crate::Result;

/// Runs the replication called `command`, or returns `None` if there is none of that name.
pub(crate) fn run(command: &str, arguments: &[String]) -> Option<Result<()>> {
    let paper: fn(&[String]) -> Result<()> = match command {
        "qnhmc-gaussian" => qnhmc_gaussian::run,
        "qnhmc-mnist" => qnhmc_mnist::run,
        "hamcmc-linear-gaussian" => hamcmc_linear_gaussian::run,
        "sgld-mixture" => sgld_mixture::run,
        "sgld-a9a" => sgld_a9a::run,
        "ica" => ica::run,
        _ => return None,
    };
    Some(paper(arguments))
}
