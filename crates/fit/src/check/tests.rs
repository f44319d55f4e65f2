//! Tests of checks: fits that cannot be judged do not pass.

use sgmcmc_gradient::Layout;

use super::{Finding, Severity};
use crate::sink::Draw;
use crate::{ChainDraws, ChainOutcome, Fit};

/// A fit of one value: `chains` chains of `draws` draws, with values and weights computed from the index of the draw.
fn fit(chains: usize, draws: usize, value: impl Fn(usize, f64) -> f64, weight: impl Fn(usize) -> f64) -> Fit {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut chain = |_| {
        let mut chain = ChainDraws::new(1, Vec::new());
        for index in 0..draws {
            let values = [value(index, uniform())];
            let draw = Draw {
                iteration: index as u64 + 1,
                values: &values,
                weight: weight(index),
                log_posterior: 0.0,
                stats: &[],
            };
            chain.push(&draw).unwrap();
        }
        chain
    };
    let layout = Layout::new([("x".to_owned(), vec![1], None)]).unwrap();
    Fit::new(layout, (0..chains).map(&mut chain).collect()).unwrap()
}

fn problem(fit: &Fit, part: &str) -> Finding {
    let check = fit.check();
    assert!(!check.passed(), "{check}");
    let found = check.findings().iter().find(|finding| finding.what.contains(part));
    let found = found.unwrap_or_else(|| panic!("{part}: {check}")).clone();
    assert_eq!(found.severity, Severity::Problem);
    found
}

fn plain(_: usize, number: f64) -> f64 {
    number
}

#[test]
fn too_few_draws_do_not_pass() {
    assert!(fit(4, 1000, plain, |_| 1.0).check().passed());
    assert!(fit(1, 1000, plain, |_| 1.0).check().passed(), "one chain has no R-hat");
    for (chains, draws) in [(1, 1), (4, 2), (2, 3), (3000, 1)] {
        let found = problem(&fit(chains, draws, plain, |_| 1.0), "fewer than 4 draws");
        assert!(found.what.starts_with(&format!("{chains} of {chains} ")), "{}", found.what);
    }
}

#[test]
fn a_chain_without_draws_does_not_pass() {
    let good = fit(2, 1000, plain, |_| 1.0);
    let mut chains = good.chains().to_vec();
    chains.push(ChainDraws::new(1, Vec::new()));
    let fit = Fit::new(good.layout().clone(), chains).unwrap();
    assert!(problem(&fit, "fewer than 4 draws").what.starts_with("1 of 3 "));
}

#[test]
fn values_whose_mean_overflows_do_not_pass() {
    let largest =
        |index: usize, number: f64| (1.7e308 - 1e300 * number) * if index.is_multiple_of(2) { 1.0 } else { -1.0 };
    assert_eq!(problem(&fit(4, 1000, largest, |_| 1.0), "is not a number").parameters, ["x"]);
}

#[test]
fn a_divergence_has_one_remedy() {
    let fit = fit(2, 50, |index, number| index as f64 + number, |_| 1.0);
    assert!(problem(&fit, "R-hat").what.contains("chains disagree"));
    let (what, remedy) = ("the value", "use a smaller step size");
    let error =
        sgmcmc_gradient::Error::Diverged { what, element: "x".into(), value: f64::INFINITY, iteration: 9, remedy };
    let outcomes = vec![crate::ChainOutcome::Complete, crate::ChainOutcome::Failed(error)];
    let fit = fit.with_outcomes(outcomes).unwrap();
    let check = fit.check();
    let problems: Vec<_> = check.findings().iter().filter(|finding| finding.severity == Severity::Problem).collect();
    assert_eq!(problems.len(), 1, "{check}");
    assert!(problems[0].what.ends_with("of `x` became inf at iteration 9"), "{}", problems[0].what);
    assert!(!fit.health().to_string().contains("per second"));
}

#[test]
fn effective_sizes_of_disagreeing_chains_have_no_remedy_of_their_own() {
    let apart = fit(4, 1000, |index, number| number + (index / 100) as f64, |_| 1.0);
    let sizes = problem(&apart, "few effective draws");
    assert_eq!(sizes.remedy, "make the chains agree first");
    assert!(sizes.what.contains("ESS of the bulk") && sizes.what.contains("ESS of the tails"), "{}", sizes.what);
}

#[test]
fn one_chain_is_judged_by_its_halves() {
    let drift = fit(1, 1000, |index, number| number + 0.01 * index as f64, |_| 1.0);
    assert!(drift.summary().rows()[0].r_hat > 1.5);
    assert!(problem(&drift, "the halves of the chain disagree").what.contains("R-hat"));
}

#[test]
fn invalid_weights_do_not_pass() {
    problem(&fit(4, 1000, plain, |_| 0.0), "weight 0");
    problem(&fit(4, 1000, plain, |_| -1.0), "negative or not finite");
    problem(&fit(4, 1000, plain, |_| f64::NAN), "negative or not finite");
    let found = problem(&fit(4, 1000, plain, |index| if index == 7 { f64::INFINITY } else { 1.0 }), "not finite");
    assert!(found.what.starts_with("4 draws"), "{}", found.what);
}

#[test]
fn a_few_weights_of_zero_are_a_warning() {
    let check = fit(4, 1000, plain, |index| if index == 7 { 0.0 } else { 1.0 }).check();
    let found = check.findings().iter().find(|finding| finding.what.contains("weight 0")).unwrap();
    assert_eq!(found.severity, Severity::Warning);
}

#[test]
fn stopped_chains_are_one_finding() {
    let whole = fit(3, 200, plain, |_| 1.0);
    let stopped = |numbers: &[usize]| {
        let outcome = |number| if numbers.contains(&number) { ChainOutcome::Stopped } else { ChainOutcome::Complete };
        let fit = whole.clone().with_outcomes((0..3).map(outcome).collect()).unwrap();
        let check = fit.check();
        let findings = check.findings().iter().map(|finding| finding.what.clone());
        let findings: Vec<String> = findings.filter(|what| what.contains("stopped")).collect();
        assert_eq!(fit.summary().warnings(), findings);
        findings
    };
    assert!(stopped(&[]).is_empty());
    assert_eq!(stopped(&[1]), ["chain 1 was stopped after 200 draws"]);
    assert_eq!(stopped(&[0, 2]), ["chains 0, 2 were stopped after 200 draws"]);
    assert_eq!(stopped(&[0, 1, 2]), ["all 3 chains were stopped after 200 draws"]);
    let mut chains = whole.chains().to_vec();
    chains[0] = fit(1, 150, plain, |_| 1.0).chains()[0].clone();
    let fit = Fit::new(whole.layout().clone(), chains).unwrap().with_outcomes(vec![ChainOutcome::Stopped; 3]).unwrap();
    assert_eq!(fit.summary().warnings(), ["all 3 chains were stopped after 150 to 200 draws"]);
}

#[test]
fn findings_that_follow_from_disagreement_have_its_remedy() {
    // Every chain moves around a mean of its own.
    let mut chains = Vec::new();
    for shift in 0..4 {
        chains.push(fit(1, 500, |_, number| number + f64::from(shift), |_| 1.0).chains()[0].clone());
    }
    let fit = Fit::new(fit(1, 4, plain, |_| 1.0).layout().clone(), chains).unwrap();
    let check = fit.check();
    for part in ["few effective draws", "means are rough"] {
        let finding = check.findings().iter().find(|finding| finding.what.contains(part)).unwrap();
        assert_eq!(finding.remedy, "make the chains agree first", "{check}");
    }
}
