//! Replications of the experiments of papers. Each prints the paper's claims with `pass` or `FAIL` and saves a figure.

mod alpha_stable;
mod bpmf;
#[path = "../../../../examples/shared/data_files.rs"]
pub(crate) mod data_files;
mod divide_and_conquer;
mod figure;
#[path = "../../../../examples/shared/parsed_flags.rs"]
pub(crate) mod flags;
mod hamcmc_linear_gaussian;
mod ica;
pub(crate) mod movielens;
mod msweb;
mod normals;
mod qnhmc_gaussian;
mod qnhmc_mnist;
mod ratings;
mod sgld_a9a;
mod sgld_mixture;
mod stages;

use crate::Result;
use flags::Flags;

/// Runs the replication called `command`, or returns `None` if the name is unknown.
pub(crate) fn run(command: &str, arguments: &[String]) -> Option<Result<()>> {
    let paper: fn(&[String]) -> Result<()> = match command {
        "qnhmc-gaussian" => qnhmc_gaussian::run,
        "qnhmc-mnist" => qnhmc_mnist::run,
        "hamcmc-linear-gaussian" => hamcmc_linear_gaussian::run,
        "sgld-mixture" => sgld_mixture::run,
        "sgld-a9a" => sgld_a9a::run,
        "ica" => ica::run,
        "bpmf" => bpmf::run,
        "alpha-stable" => alpha_stable::run,
        "msweb" => msweb::run,
        "movielens" => movielens::run,
        "divide-and-conquer" => divide_and_conquer::run,
        _ => return None,
    };
    Some(paper(arguments))
}

/// Returns the directory of the data sets: `--data`, or the environment variable `SGMCMC_DATA`, or `data`.
fn data_directory(flags: &mut Flags) -> Result<String> {
    Ok(flags.get("data", data_files::default_directory(), "directory of the data sets (SGMCMC_DATA)")?)
}
