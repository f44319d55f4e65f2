//! The forest cover data as in the R package: a binary response and 54 covariates scaled to [0, 1].

use sgmcmc::data::Scaling;
use sgmcmc::datasets::{self, Labeled};
use sgmcmc::prelude::*;

use crate::data::or_synthetic;

/// The number of covariates.
pub const COVARIATES: usize = 54;

/// Returns training data and `test` held-out observations, from the files in `dir` or synthetic.
pub fn load(dir: &str, test: usize) -> sgmcmc::Result<(Dataset<Labeled>, Dataset<Labeled>)> {
    let cover = or_synthetic(datasets::covertype(dir), || datasets::covertype_like(100_000, 1))?;
    let data = cover.binary()?;
    let data = Scaling::min_max(&data, "x")?.apply(&data)?;
    let (test, train) = data.split(test, 13)?;
    println!("covertype: {} training and {} test observations", train.observations(), test.observations());
    Ok((train, test))
}
