//! The forest cover data as in the R package: a yes/no answer and 54 features scaled to [0, 1].

#[path = "or_synthetic.rs"]
mod or_synthetic;

use sgmcmc::datasets::Labelled;
use sgmcmc::prelude::*;

/// How many features there are.
pub const FEATURES: usize = 54;

/// Training data and `test` held-out observations, from `dir` or synthetic.
pub fn load(dir: &str, test: usize) -> sgmcmc::storage::Result<(Dataset<Labelled>, Dataset<Labelled>)> {
    let cover = or_synthetic::or_synthetic(datasets::covertype(dir), || datasets::covertype_like(100_000, 1))?;
    let data = cover.binary()?;
    let data = Scaling::min_max(&data, "x")?.apply(&data)?;
    let (test, train) = data.split(test, 13)?;
    println!("covertype: {} training and {} test observations", train.observations(), test.observations());
    Ok((train, test))
}
