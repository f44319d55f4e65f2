//! Distances against SciPy and NumPy.

use serde::Deserialize;
use sgmcmc_diagnostics::distance::*;

use crate::reading::{check, file};

#[derive(Deserialize)]
struct Distances {
    dimension: usize,
    neighbors: usize,
    draws: Vec<f64>,
    reference: Vec<f64>,
    kl: f64,
    wasserstein_1: Vec<f64>,
    ks_two: Vec<f64>,
    mean: Vec<f64>,
    covariance: Vec<f64>,
    rosenblatt: Vec<f64>,
    rosenblatt_ks: f64,
    long: Vec<f64>,
    ks_one: f64,
    ks_size: f64,
    ks: Levels,
}

#[derive(Deserialize)]
struct Levels {
    statistic: Vec<f64>,
    exact: Vec<f64>,
}

fn column(table: &[f64], width: usize, index: usize) -> Vec<f64> {
    table.iter().skip(index).step_by(width).copied().collect()
}

#[test]
fn samples_are_compared_as_in_scipy() {
    let file: Distances = file("distances.json");
    let d = file.dimension;
    check("kl", kl_divergence(&file.draws, &file.reference, d, file.neighbors).unwrap(), file.kl, 1e-10);
    for j in 0..d {
        let (x, y) = (column(&file.draws, d, j), column(&file.reference, d, j));
        check("wasserstein", wasserstein(&x, &y, 1.0), file.wasserstein_1[j], 1e-10);
        check("ks", ks_two_sample(&x, &y).statistic, file.ks_two[j], 1e-12);
        check("ks of itself", ks_two_sample(&x, &x).statistic, 0.0, 0.0);
    }
    assert!(kl_divergence(&file.draws, &file.reference, d, 0).is_err());
}

#[test]
fn the_rosenblatt_transform_is_that_of_scipy() {
    let file: Distances = file("distances.json");
    let uniform = rosenblatt(&file.draws, &file.mean, &file.covariance).unwrap();
    uniform.iter().zip(&file.rosenblatt).for_each(|(found, expected)| check("u", *found, *expected, 1e-9));
    check("ks", rosenblatt_ks(&file.draws, &file.mean, &file.covariance).unwrap(), file.rosenblatt_ks, 1e-9);
}

#[test]
fn p_values_are_near_the_exact_ones() {
    let file: Distances = file("distances.json");
    let standard = vec![0.0];
    let uniform = rosenblatt(&file.long, &standard, &[1.0]).unwrap();
    check("ks", ks_one_sample(&uniform, |u| u).statistic, file.ks_one, 1e-9);
    for (statistic, exact) in file.ks.statistic.iter().zip(&file.ks.exact) {
        let found = ks_p_value(*statistic, file.ks_size);
        assert!((found - exact).abs() < 1e-4, "{statistic}: {found}, exact {exact}");
    }
}
