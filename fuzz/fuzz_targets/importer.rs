//! Random closures for the graph importer: they are compiled, or rejected with a reason.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use sgmcmc::Engine;
use sgmcmc::data::Rows;
use sgmcmc::prelude::*;
use sgmcmc_testkit::closures::expression::{Data, Expression, Params};

const OBSERVATIONS: usize = 8;

fn data() -> Result<Dataset<Data>, sgmcmc::Error> {
    let grid = |n: usize| (0..n).map(|i| (i % 21) as f64 / 4.0 - 2.5).collect::<Vec<f64>>();
    let index: Vec<i64> = (0..OBSERVATIONS as i64).map(|i| i % 3).collect();
    let flag: Vec<bool> = (0..OBSERVATIONS).map(|i| i % 2 == 0).collect();
    Ok(Dataset::new((
        array(grid(3 * OBSERVATIONS), [OBSERVATIONS, 3])?,
        array(grid(OBSERVATIONS), [OBSERVATIONS])?,
        array(index, [OBSERVATIONS])?,
        array(flag, [OBSERVATIONS])?,
        array(grid(6 * OBSERVATIONS), [OBSERVATIONS, 2, 3])?,
    ))?)
}

fn evaluate(seed: u64, length: usize) -> Result<(), sgmcmc::Error> {
    let expression = Expression::random(&mut SmallRng::seed_from_u64(seed), length);
    let model = Model::new(move |params: Params, rows: Data| expression.terms(params, rows));
    let start = (array(vec![0.5; 3], [3])?, array(vec![0.25; 9], [3, 3])?, array(vec![-0.5], [1])?);
    let mut evaluator = model.with(&data()?).engine(Engine::Compiled).evaluator(&start)?;
    let mut gradient = vec![0.0; 13];
    evaluator.posterior(&[0.25; 13], Rows::range(0..4), &mut gradient)?;
    Ok(())
}

// The input is the number of operations and the seed of the closure.
fuzz_target!(|input: (u8, u64)| {
    let _ = evaluate(input.1, usize::from(input.0 % 24) + 1);
});
