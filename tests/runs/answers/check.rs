//! The findings of `Fit::check`, and their absence in good fits.

use sgmcmc::fit::ChainOutcome;
use sgmcmc::fit::{ChainDraws, Finding, Severity, Thresholds};
use sgmcmc::gradient::Error;
use sgmcmc::sink::Draw;
use sgmcmc::{Check, Constraint, Fit, Layout};

use super::{fit_of, independent, layout};

fn found<'a>(check: &'a Check, part: &str) -> &'a Finding {
    let text = check.to_string();
    check.findings().iter().find(|finding| finding.what.contains(part)).unwrap_or_else(|| panic!("{part}: {text}"))
}

#[test]
fn a_good_fit_passes_without_a_finding() {
    let check = independent(&[("b", &[1]), ("W", &[2, 2])], 4, 1000).check();
    assert_eq!(check.findings(), []);
    assert!(check.passed());
    assert_eq!(check.to_string(), "no problem found");
}

#[test]
fn chains_that_stay_apart_are_a_problem() {
    let good = independent(&[("x", &[2])], 4, 1000);
    let moved = |chain: usize| {
        let shift = chain as f64;
        good.chains()[chain].rows().map(|row| vec![row[0] + shift, row[1]]).collect::<Vec<_>>()
    };
    let fit = fit_of(layout(&[("x", &[2])]), &[moved(0), moved(1), moved(2), moved(3)]);
    let check = fit.check();
    assert!(!check.passed());
    let finding = found(&check, "R-hat");
    assert_eq!((finding.severity, &finding.parameters[..]), (Severity::Problem, &["x[0]".to_owned()][..]));
    assert!(!finding.remedy.is_empty());
    assert!(check.to_string().contains("do not trust this fit yet"), "{check}");
}

#[test]
fn slow_chains_have_too_few_effective_draws() {
    // x ← 0.99 x + z: an effective draw every 200.
    let rows = |seed: u64| {
        let mut x = 0.0;
        let step = |z: f64| {
            x = 0.99 * x + z;
            vec![x]
        };
        sgmcmc_testkit::models::normals(4000, seed).into_iter().map(step).collect::<Vec<_>>()
    };
    let fit = fit_of(layout(&[("x", &[1])]), &[rows(1), rows(2), rows(3), rows(4)]);
    let check = fit.check();
    assert_eq!(found(&check, "ESS of the bulk").severity, Severity::Problem);
    assert_eq!(found(&check, "means are rough").severity, Severity::Warning);
    let lenient = Thresholds { r_hat: 2.0, ess_per_chain: 1.0, mcse_share: 1.0, ..Thresholds::default() };
    assert_eq!(fit.check_with(&lenient).findings(), []);
}

#[test]
fn few_draws_and_one_chain_are_reported() {
    let check = independent(&[("x", &[1])], 1, 20).check();
    assert_eq!(found(&check, "one chain only").severity, Severity::Note);
    assert_eq!(found(&check, "has 20 draws").severity, Severity::Warning);
    let none = fit_of(layout(&[("x", &[1])]), &[vec![], vec![]]).check();
    assert_eq!(found(&none, "there are no draws").severity, Severity::Problem);
}

#[test]
fn numbers_that_are_none_and_values_that_do_not_move_are_named() {
    let rows = |chain: usize| {
        let z = sgmcmc_testkit::models::normals(200, chain as u64);
        let row =
            |(k, z): (usize, &f64)| vec![if k == 7 { f64::NAN } else { *z }, if chain == 2 { 1.5 } else { -z }, *z];
        z.iter().enumerate().map(row).collect::<Vec<_>>()
    };
    let fit = fit_of(layout(&[("x", &[3])]), &[rows(1), rows(2)]);
    let check = fit.check();
    assert_eq!(found(&check, "2 numbers of the draws are not finite").parameters, ["x[0]"]);
    assert_eq!(found(&check, "1 value does not move").parameters, ["x[1]"]);
}

/// The first row and the upper triangle of a Cholesky factor cannot move.
#[test]
fn values_fixed_by_their_constraint_are_not_stuck() {
    let layout = Layout::new([("L".into(), vec![2, 2], Some(Constraint::CholeskyCorrelation))]).unwrap();
    let rows = |seed: u64| {
        let angle = |z: f64| vec![1.0, 0.0, (0.3 * z).sin(), (0.3 * z).cos()];
        sgmcmc_testkit::models::normals(500, seed).into_iter().map(angle).collect::<Vec<_>>()
    };
    let check = fit_of(layout, &[rows(1), rows(2), rows(3), rows(4)]).check();
    assert_eq!(check.findings(), [], "{check}");
}

#[test]
fn chains_that_ended_early_are_reported() {
    let fit = independent(&[("x", &[1])], 3, 200);
    let diverged = Error::Diverged {
        what: "the value",
        element: "x".into(),
        value: f64::INFINITY,
        iteration: 201,
        remedy: "use a smaller step size",
    };
    let fit = fit
        .with_outcomes(vec![
            ChainOutcome::Failed(diverged),
            ChainOutcome::Stopped,
            ChainOutcome::Failed(Error::EmptyModel),
        ])
        .unwrap();
    let check = fit.check();
    assert!(found(&check, "chain 0 diverged after 200 draws").remedy.contains("smaller step size"));
    assert_eq!(found(&check, "chain 1 was stopped").severity, Severity::Warning);
    assert_eq!(found(&check, "chain 2 failed").severity, Severity::Problem);
}

#[test]
fn numbers_that_come_with_draws_are_looked_at() {
    let with = |name: &str, value: f64| {
        let mut chain = ChainDraws::new(1, vec![name.into()]);
        for (iteration, z) in (1..).zip(sgmcmc_testkit::models::normals(1000, 3)) {
            let draw = Draw { iteration, values: &[z], weight: 1.0, log_posterior: 0.0, stats: &[value] };
            chain.push(&draw).unwrap();
        }
        Fit::new(layout(&[("x", &[1])]), vec![chain]).unwrap().check()
    };
    assert_eq!(found(&with("alpha", 2.0), "outweighs").severity, Severity::Problem);
    assert_eq!(found(&with("alpha", 0.3), "is not small").severity, Severity::Warning);
    assert_eq!(found(&with("acceptance_rate", 0.1), "10 % of the proposals").severity, Severity::Warning);
    assert_eq!(found(&with("diverging", 1.0), "1000 transitions").severity, Severity::Problem);
    let fine = [with("alpha", 0.01), with("acceptance_rate", 0.8), with("diverging", 0.0)];
    assert!(fine.iter().all(|check| check.findings().iter().all(|finding| finding.severity == Severity::Note)));
}
