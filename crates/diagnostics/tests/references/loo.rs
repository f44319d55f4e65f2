//! PSIS, LOO and WAIC against ArviZ and NumPy.

use serde::Deserialize;
use sgmcmc_diagnostics::loo::{loo, psis, waic};

use crate::reading::{check, file};

#[derive(Deserialize)]
struct Case {
    name: String,
    observations: usize,
    r_eff: f64,
    log_likelihood: Vec<f64>,
    pareto_k: Vec<f64>,
    log_weights: Vec<f64>,
    elpd_i: Vec<f64>,
    elpd: f64,
    se: f64,
    p: f64,
    above: usize,
    good_k: f64,
    waic: Criterion,
}

#[derive(Deserialize)]
struct Criterion {
    elpd: f64,
    se: f64,
    p: f64,
    above: usize,
}

#[test]
fn loo_is_that_of_arviz_and_waic_its_formula() {
    let cases: Vec<Case> = file("loo.json");
    assert_eq!(cases.len(), 3);
    for case in cases {
        let first: Vec<f64> = case.log_likelihood.iter().step_by(case.observations).map(|x| -x).collect();
        let smoothed = psis(&first, case.r_eff);
        for (found, expected) in smoothed.log_weights.iter().zip(&case.log_weights) {
            check(&format!("{} weight", case.name), *found, *expected, 1e-9);
        }
        let found = loo(&case.log_likelihood, case.observations, case.r_eff).unwrap();
        for i in 0..case.observations {
            check(&format!("{} k {i}", case.name), found.pareto_k[i], case.pareto_k[i], 1e-8);
            check(&format!("{} elpd {i}", case.name), found.elpd_i[i], case.elpd_i[i], 1e-9);
        }
        check(&case.name, found.elpd, case.elpd, 1e-9);
        check(&case.name, found.se, case.se, 1e-9);
        check(&case.name, found.p, case.p, 1e-8);
        check(&case.name, found.good_k, case.good_k, 1e-12);
        assert_eq!(found.above, case.above, "{}", case.name);
        let found = waic(&case.log_likelihood, case.observations).unwrap();
        check(&case.name, found.elpd, case.waic.elpd, 1e-9);
        check(&case.name, found.se, case.waic.se, 1e-9);
        check(&case.name, found.p, case.waic.p, 1e-9);
        assert_eq!(found.above, case.waic.above, "{}", case.name);
    }
}

#[test]
fn inconsistent_tables_are_errors() {
    assert!(loo(&[1.0; 7], 2, 1.0).is_err());
    assert!(loo(&[1.0; 8], 2, 0.0).is_err());
    assert!(waic(&[1.0, f64::NEG_INFINITY], 1).is_err());
    assert!(waic(&[], 3).is_err());
}
