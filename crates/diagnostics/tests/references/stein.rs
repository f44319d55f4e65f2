//! Stein discrepancies against sums over all pairs in NumPy.

use serde::Deserialize;
use sgmcmc_diagnostics::ksd::{Imq, Kernel, Points, fssd, imq, locations};

use crate::reading::{check, file};

#[derive(Deserialize)]
struct Stein {
    dimension: usize,
    draws: Vec<f64>,
    scores: Vec<f64>,
    weights: Vec<f64>,
    ksd: Vec<Ksd>,
    locations: Vec<f64>,
    fssd: Vec<Fssd>,
}

#[derive(Deserialize)]
struct Ksd {
    c: f64,
    beta: f64,
    weighted: bool,
    columns: Vec<usize>,
    v: f64,
    u: f64,
}

#[derive(Deserialize)]
struct Fssd {
    kernel: String,
    v: f64,
    u: f64,
}

#[test]
fn all_pairs_give_the_sums_of_numpy() {
    let file: Stein = file("stein.json");
    assert_eq!(file.ksd.len(), 9);
    let plain = Points::new(&file.draws, &file.scores, file.dimension).unwrap();
    for expected in &file.ksd {
        let points = if expected.weighted { plain.clone().weights(&file.weights).unwrap() } else { plain.clone() };
        let points = points.columns(expected.columns.iter().copied()).unwrap();
        let found = imq(&points, Imq { c: expected.c, beta: expected.beta }).unwrap();
        check("v", found.v, expected.v, 1e-10);
        check("u", found.u, expected.u, 1e-10);
    }
}

#[test]
fn the_finite_set_gives_the_features_of_numpy() {
    let file: Stein = file("stein.json");
    let points = Points::new(&file.draws, &file.scores, file.dimension).unwrap();
    for expected in &file.fssd {
        let kernel =
            if expected.kernel == "gauss" { Kernel::Gauss { width: 1.3 } } else { Kernel::Imq(Imq::default()) };
        let found = fssd(&points, kernel, &file.locations).unwrap();
        check("v", found.v, expected.v, 1e-10);
        check("u", found.u, expected.u, 1e-10);
    }
}

#[test]
fn chains_are_pooled() {
    let file: Stein = file("stein.json");
    let part = |rows: std::ops::Range<usize>| {
        let range = rows.start * file.dimension..rows.end * file.dimension;
        let points = Points::new(&file.draws[range.clone()], &file.scores[range], file.dimension).unwrap();
        points.weights(&file.weights[rows]).unwrap()
    };
    let pooled = Points::pooled(&[part(0..30), part(30..70)]).unwrap();
    assert_eq!(pooled, part(0..70));
}

#[test]
fn draws_of_another_distribution_have_a_larger_discrepancy() {
    // 700 draws need several blocks. The scores are those of N(0, 1), and the draws are from N(shift, 1).
    let file: Stein = file("stein.json");
    let discrepancy = |shift: f64| {
        let draws: Vec<f64> = (0..700)
            .map(|i| {
                let p = (f64::from(i) + 0.5) / 700.0;
                shift + (p / (1.0 - p)).ln() * 0.5875
            })
            .collect();
        let scores: Vec<f64> = draws.iter().map(|x| -x).collect();
        let points = Points::new(&draws, &scores, 1).unwrap();
        let locations = locations(&points, 5, 1).unwrap();
        assert_eq!(locations.len(), 5);
        (
            imq(&points, Imq::default()).unwrap().value(),
            fssd(&points, Kernel::Gauss { width: 1.0 }, &locations).unwrap().v,
        )
    };
    let (near, far) = (discrepancy(0.0), discrepancy(1.0));
    assert!(far.0 > 10.0 * near.0 && far.1 > 100.0 * near.1, "{near:?} {far:?}");
    assert!(Points::new(&file.draws, &file.scores[1..], file.dimension).is_err());
    assert!(Points::new(&[f64::NAN], &[1.0], 1).is_err());
}
