//! R-hat, effective sample sizes and standard errors of 55 simulated sets against ArviZ.

use std::collections::BTreeMap;

use serde::Deserialize;
use sgmcmc_diagnostics::*;

use crate::reading::{Number, agrees, check, file};

#[derive(Deserialize)]
struct Chains {
    sets: Vec<Set>,
    autocorrelation: Autocorrelation,
}

#[derive(Deserialize)]
struct Set {
    name: String,
    chains: Vec<Vec<Number>>,
    answers: BTreeMap<String, Number>,
}

#[derive(Deserialize)]
struct Autocorrelation {
    draws: Vec<f64>,
    autocorrelation: Vec<f64>,
}

fn draws(set: &Set) -> Vec<Vec<f64>> {
    set.chains.iter().map(|chain| chain.iter().map(|number| number.0).collect()).collect()
}

/// Computes the diagnostic with a name of the reference file.
fn diagnostic(name: &str, chains: &[Vec<f64>]) -> f64 {
    let described = describe(chains);
    match name.split_once(' ') {
        Some(("ess_quantile", p)) => ess_quantile(chains, p.parse().unwrap()),
        Some(("mcse_quantile", p)) => mcse_quantile(chains, p.parse().unwrap()),
        _ => match name {
            "mean" => described.mean,
            "sd" => described.sd,
            "eti89_lb" => described.eti89_lb,
            "eti89_ub" => described.eti89_ub,
            "r_hat" => described.r_hat,
            "r_hat_split" => r_hat_split(chains),
            "ess_bulk" => described.ess_bulk,
            "ess_tail" => described.ess_tail,
            "ess_mean" => ess_mean(chains),
            "ess_sd" => ess_sd(chains),
            "mcse_mean" => described.mcse_mean,
            "mcse_sd" => described.mcse_sd,
            _ => panic!("unknown diagnostic: {name}"),
        },
    }
}

#[test]
fn diagnostics_agree_with_arviz() {
    let file: Chains = file("chains.json");
    assert!(file.sets.len() >= 50);
    let mut wrong = Vec::new();
    for set in &file.sets {
        let chains = draws(set);
        assert_eq!(set.answers.len(), 20, "{}", set.name);
        for (name, expected) in &set.answers {
            let found = diagnostic(name, &chains);
            if !agrees(found, expected.0, 1e-6) {
                wrong.push(format!("{}, {name}: {found}, expected {}", set.name, expected.0));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn separated_chains_have_a_large_r_hat() {
    let file: Chains = file("chains.json");
    let set = |name: &str| draws(file.sets.iter().find(|set| set.name == name).unwrap());
    assert!(r_hat_split(&set("separated chains")) > 5.0);
    assert!(r_hat(&set("separated chains")) > 2.5);
    assert!(r_hat(&set("sixteen separated chains")) > 5.0);
}

#[test]
fn equal_weights_change_nothing() {
    let file: Chains = file("chains.json");
    for set in &file.sets {
        let chains = draws(set);
        let weights: Vec<Vec<f64>> = chains.iter().map(|chain| vec![0.25; chain.len()]).collect();
        let (plain, weighted) = (describe(&chains), describe_weighted(&chains, &weights));
        assert_eq!(format!("{plain:?}"), format!("{weighted:?}"), "{}", set.name);
    }
}

#[test]
fn autocorrelations_agree_with_arviz() {
    let Autocorrelation { draws, autocorrelation: expected } = file::<Chains>("chains.json").autocorrelation;
    let found = autocorrelation(&draws);
    assert_eq!(found.len(), expected.len());
    found.iter().zip(&expected).enumerate().for_each(|(lag, (found, expected))| {
        check(&format!("lag {lag}"), *found, *expected, 1e-9);
    });
}
