//! Thousands of random closures: the compiled engine gives what the eager one gives, to rounding.

use rand::RngExt;
use sgmcmc::data::{Precision, Rows};
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::normals;
use sgmcmc_testkit::rng;

use sgmcmc_testkit::closures::compare::Engines;
use sgmcmc_testkit::closures::expression::{Data, Expression, Params};

/// Closures of each test; four tests share the work among threads.
const CLOSURES: u64 = 500;
const OBSERVATIONS: usize = 200;

/// Data on a grid, so that single precision holds them exactly and ties occur.
fn data() -> Dataset<Data> {
    let mut rng = rng(77);
    let mut grid = |n: usize| (0..n).map(|_| f64::from(rng.random_range(-10..=10)) / 4.0).collect::<Vec<f64>>();
    let (wide, narrow, cube) = (grid(3 * OBSERVATIONS), grid(OBSERVATIONS), grid(6 * OBSERVATIONS));
    let index: Vec<i64> =
        narrow.iter().zip(&wide).map(|(a, b)| ((a + b) * 4.0) as i64).map(|k| k.rem_euclid(3)).collect();
    let flag: Vec<bool> = cube.iter().take(OBSERVATIONS).map(|x| *x > 0.5).collect();
    let tree = (
        array(wide, [OBSERVATIONS, 3]).unwrap(),
        array(narrow, [OBSERVATIONS]).unwrap(),
        array(index, [OBSERVATIONS]).unwrap(),
        array(flag, [OBSERVATIONS]).unwrap(),
        array(cube, [OBSERVATIONS, 2, 3]).unwrap(),
    );
    Dataset::new(tree).unwrap()
}

fn start(_: Precision) -> Params {
    let values: Vec<f64> = normals(13, 5).iter().map(|x| f64::from((0.5 * x) as f32)).collect();
    let part = |from: usize, to: usize| values[from..to].to_vec();
    (array(part(0, 3), [3]).unwrap(), array(part(3, 12), [3, 3]).unwrap(), array(part(12, 13), [1]).unwrap())
}

/// Returns the disagreement of the engines on the closure of a seed, if there is one.
fn wrong(seed: u64, data: &Dataset<Data>) -> Option<String> {
    let mut rng = rng(seed);
    let length = rng.random_range(1..=6);
    let expression = Expression::random(&mut rng, length);
    let closure = expression.clone();
    let mut model = Model::new(move |params: Params, data: Data| closure.terms(params, data));
    if seed.is_multiple_of(3) {
        model = model.prior(|(a, b, c): Params| (a.square().sum() + b.tanh().sum() * c.clone()) * -0.5 + c.square());
    }
    let precision = if seed.is_multiple_of(2) { Precision::Single } else { Precision::Double };
    let mut engines = match Engines::new(&model, data, start, precision) {
        Ok(engines) => engines,
        Err(error) => return Some(format!("closure {seed}: {error}: {}", expression.text())),
    };
    let n = 1 + (rng.random::<f64>().powi(3) * OBSERVATIONS as f64) as usize;
    let list: Vec<usize> = (0..n).map(|_| rng.random_range(0..OBSERVATIONS)).collect();
    let weights: Vec<f64> = (0..n).map(|_| f64::from(rng.random_range(1..=16)) / 4.0).collect();
    let rows = match seed / 6 % 4 {
        0 => Rows::range(OBSERVATIONS - n..OBSERVATIONS),
        1 => Rows::list(&list).scaled(2.5),
        2 => Rows::list(&list).weighted(&weights).unwrap(),
        _ => Rows::range(0..n).weighted(&weights).unwrap(),
    };
    let theta: Vec<f64> = normals(13, seed).iter().map(|x| f64::from(x.clamp(-2.5, 2.5) as f32)).collect();
    let worst = engines.largest_discrepancy(&theta, rows, 1);
    (worst.ratio > 1.0).then(|| {
        let text = expression.text();
        format!("closure {seed}: {}, {:.1} × allowed in {precision:?}: {text}", worst.location, worst.ratio)
    })
}

fn all_agree(first: u64) {
    let data = data();
    let wrong: Vec<String> = (first..first + CLOSURES).filter_map(|seed| wrong(seed, &data)).collect();
    assert!(wrong.is_empty(), "{} of {CLOSURES} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_first_closures_agree() {
    all_agree(0);
}

#[test]
fn the_second_closures_agree() {
    all_agree(CLOSURES);
}

#[test]
fn the_third_closures_agree() {
    all_agree(2 * CLOSURES);
}

#[test]
fn the_fourth_closures_agree() {
    all_agree(3 * CLOSURES);
}
