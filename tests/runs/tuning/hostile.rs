//! Difficult posteriors: a run ends with the right answer, or with a problem that names the cause.

use sgmcmc::Fit;
use sgmcmc::burn::activation::log_sigmoid;
use sgmcmc::fit::Severity;
use sgmcmc::prelude::*;
use sgmcmc::tuning::{Auto, Goal};
use sgmcmc_testkit::linear::solve;
use sgmcmc_testkit::models::gaussian::Gaussian;
use sgmcmc_testkit::models::normals;

use super::{Moments, assert_clean, assert_exact, decisions, linear_model, regression, wrong_values};

/// Asserts that `wrong` is empty, or that the check does not pass and a finding contains one of `causes`.
fn assert_right_or_explained(fit: &Fit, wrong: &[String], causes: &[&str]) {
    let check = fit.check();
    let found = format!("wrong: {wrong:?}\n{check}\n{}", decisions(fit));
    if check.passed() {
        assert!(wrong.is_empty(), "a wrong answer that passes the check\n{found}");
    } else {
        let explains = |text: &str| causes.iter().any(|cause| text.contains(cause));
        let findings = check.findings().iter().filter(|finding| finding.severity != Severity::Note);
        let mut explained = findings.map(|finding| explains(&finding.what) || explains(&finding.remedy));
        assert!(explained.any(|explained| explained), "no finding names the cause\n{found}");
    }
}

/// Returns a description of the probabilities P(|x| > t) that differ from the exact ones by more than a tenth and four
/// Monte Carlo standard errors.
fn wrong_tails(fit: &Fit, tails: &[(f64, f64)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, row) in fit.summary().names().iter().zip(fit.summary().rows()) {
        let draws: Vec<f64> = fit.element(name).unwrap().concat();
        let effective = row.ess_bulk.min(row.ess_tail);
        for (t, exact) in tails {
            let found = draws.iter().filter(|x| x.abs() > *t).count() as f64 / draws.len() as f64;
            let error = (exact * (1.0 - exact) / effective).sqrt();
            if (found - exact).abs() > 0.1 * exact + 4.0 * error {
                wrong.push(format!("{name}: P(|x| > {t}) is {found:.4}, exact {exact}"));
            }
        }
    }
    wrong
}

/// v ~ N(0, 3²), xᵢ ~ N(0, eᵛ), i = 1, …, 4.
#[test]
fn neals_funnel() {
    let model = Model::density(|theta: Tensor<1>| {
        let (v, x) = (theta.clone().slice(0..1), theta.slice(1..5));
        v.clone().square() / -18.0 - (x.square().sum() * v.clone().neg().exp() + v * 4.0) * 0.5
    });
    for seed in [1, 2] {
        let fit = auto(&model, &Dataset::none()).seed(seed).sample(&zeros([5])).unwrap();
        // The neck is at small v: P(v < −4.93) = 0.05.
        let v = fit.element("theta[0]").unwrap().concat();
        let neck = v.iter().filter(|v| **v < -4.935).count() as f64 / v.len() as f64;
        let error = 4.0 * (0.05 * 0.95 / fit.summary().rows()[0].ess_tail).sqrt();
        let mut wrong = Vec::new();
        if (neck - 0.05).abs() > 0.01 + error {
            wrong.push(format!("P(v < −4.935) is {neck:.4}, exact 0.05"));
        }
        let sd = fit.summary().rows()[0].sd;
        if (sd / 3.0 - 1.0).abs() > 0.1 + 4.0 * fit.summary().rows()[0].mcse_sd / 3.0 {
            wrong.push(format!("the sd of v is {sd:.2}, exact 3"));
        }
        assert_right_or_explained(&fit, &wrong, &["reparameterize"]);
        // The posterior is proper, and its parameters are identified.
        assert!(!fit.check().to_string().contains("improper"), "{}", fit.check());
    }
}

/// Returns ½ N(−a, 1) + ½ N(a, 1), times a standard normal density of a second coordinate.
fn bimodal(a: f64) -> Model<Tensor<1>> {
    Model::density(move |theta: Tensor<1>| {
        let x = theta.clone().slice(0..1);
        // eᵃˣ + e⁻ᵃˣ = eᵃˣ/σ(2ax)
        theta.square().sum() * -0.5 + x.clone() * a - log_sigmoid(x * (2.0 * a))
    })
}

#[test]
fn two_modes_twenty_standard_deviations_apart() {
    let exact = [(0.0, 101.0_f64.sqrt()), (0.0, 1.0)];
    for (start, seed) in [(0.0, 1), (0.0, 2), (1.0, 3)] {
        let fit = auto(&bimodal(10.0), &Dataset::none()).seed(seed).sample(&full([2], start)).unwrap();
        assert_right_or_explained(&fit, &wrong_values(&fit, &exact), &["several modes"]);
    }
}

/// The search from the start ends in the mode where it is.
#[test]
fn two_modes_from_a_start_in_one_of_them() {
    let exact = [(0.0, 101.0_f64.sqrt()), (0.0, 1.0)];
    for (start, seed) in [(-10.0, 4), (10.0, 5), (8.0, 6)] {
        let fit = auto(&bimodal(10.0), &Dataset::none()).seed(seed).sample(&full([2], start)).unwrap();
        assert_right_or_explained(&fit, &wrong_values(&fit, &exact), &["several modes"]);
    }
}

#[test]
fn two_modes_that_chains_can_cross() {
    let exact = [(0.0, 5.0_f64.sqrt()), (0.0, 1.0)];
    let fit = auto(&bimodal(2.0), &Dataset::none()).seed(1).sample(&zeros([2])).unwrap();
    assert_right_or_explained(&fit, &wrong_values(&fit, &exact), &["several modes"]);
}

/// The 50 %, 5 % and 1 % points of |t|.
const T2: [(f64, f64); 3] = [(0.8165, 0.5), (4.3027, 0.05), (9.9248, 0.01)];
const T3: [(f64, f64); 3] = [(0.7649, 0.5), (3.1824, 0.05), (5.8409, 0.01)];

#[test]
fn student_t() {
    for (nu, tails) in [(2.0, T2), (3.0, T3)] {
        // Two independent coordinates.
        let model = Model::density(move |x: Tensor<1>| (x.square() / nu + 1.0).log().sum() * (-0.5 * (nu + 1.0)));
        for seed in [1, 2] {
            let fit = auto(&model, &Dataset::none()).seed(seed).sample(&zeros([2])).unwrap();
            assert_right_or_explained(&fit, &wrong_tails(&fit, &tails), &["tail", "geometry"]);
        }
    }
}

/// The logarithm of the curvature from 0 to 8, along the axes and along rotated ones.
#[test]
fn curvatures_from_one_to_a_hundred_million() {
    let axes = Model::density(|theta: Tensor<1>| {
        let part = |j: usize| theta.clone().slice(j..j + 1).square() * (-0.5 * 10.0_f64.powi(j as i32));
        (1..9).fold(part(0), |sum, j| sum + part(j))
    });
    let exact: Vec<Moments> = (0..9).map(|j| (0.0, 10.0_f64.powf(-0.5 * f64::from(j)))).collect();
    let fit = auto(&axes, &Dataset::none()).seed(1).sample(&ones([9])).unwrap();
    assert_clean(&fit);
    assert_exact(&fit, &exact);

    // The reflection u = θ − 2/9 (Σ θⱼ) 1 is orthogonal. The variance of θᵢ is Σⱼ Rᵢⱼ²/10ʲ.
    let rotated = Model::density(|theta: Tensor<1>| {
        let u = theta.clone() - theta.sum() * (2.0 / 9.0);
        let part = |j: usize| u.clone().slice(j..j + 1).square() * (-0.5 * 10.0_f64.powi(j as i32));
        (1..9).fold(part(0), |sum, j| sum + part(j))
    });
    let entry = |i: i32, j: i32| if i == j { 1.0 - 2.0 / 9.0 } else { -2.0 / 9.0 };
    let variance = |i| (0..9).map(|j| f64::powi(entry(i, j), 2) / 10.0_f64.powi(j)).sum::<f64>();
    let exact: Vec<Moments> = (0..9).map(|i| (0.0, variance(i).sqrt())).collect();
    let fit = auto(&rotated, &Dataset::none()).seed(2).sample(&ones([9])).unwrap();
    assert_clean(&fit);
    assert_exact(&fit, &exact);
}

/// One parameter does not occur in the likelihood, and has no prior: no answer is right.
#[test]
fn an_improper_posterior_is_refused() {
    let data = |n: usize| Dataset::new(array(normals(n, 3), [n]).unwrap()).unwrap();
    let unused = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta.slice(0..1)).square() * -0.5);
    let only_sum = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta.sum()).square() * -0.5);
    for (name, model) in [("unused", &unused), ("only the sum", &only_sum)] {
        let goal = Goal { gradients: Some(1_000_000), ..Goal::default() };
        let small = data(200);
        let run = auto(model, &small).seed(1).goal(goal);
        run.tune(&zeros([2])).unwrap_or_else(|error| panic!("{name}: tuning failed: {error}"));
        let fit = run.sample(&zeros([2])).unwrap_or_else(|error| panic!("{name}: sampling failed: {error}"));
        assert_right_or_explained(&fit, &["improper".into()], &["improper"]);
        // More data do not help. Tuning reports it before the draws are made.
        let tuned = auto(model, &data(100_000)).seed(1).tune(&zeros([2]));
        let tuned = tuned.unwrap_or_else(|error| panic!("{name}: tuning on many observations failed: {error}"));
        let findings = &tuned.record().findings;
        let named = findings.iter().any(|finding| format!("{finding:?}").contains("improper"));
        assert!(named, "{findings:?}\n{tuned}");
    }
}

/// A likelihood that returns its sum has no terms of single observations, and cannot be weighted.
#[test]
fn a_likelihood_that_is_a_sum_is_sampled_with_the_full_gradient() {
    let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| (x - mean).square().sum() * -0.5);
    for n in [300, 110_000] {
        let x = normals(n, 8);
        let (mean, sd) = (x.iter().sum::<f64>() / n as f64, 1.0 / (n as f64).sqrt());
        let run = auto(&model, &Dataset::new(array(x, [n]).unwrap()).unwrap()).seed(6);
        let tuned = run.tune(&zeros([1])).unwrap();
        assert!(tuned.choice().is_none(), "{tuned}");
        let approximation = tuned.approximation().unwrap();
        assert!((approximation.center()[0] - mean).abs() < 0.3 * sd, "{tuned}");
        assert!((approximation.variances()[0].sqrt() / sd - 1.0).abs() < 0.1, "{tuned}");
        if n < 1000 {
            let fit = run.sample(&zeros([1])).unwrap();
            assert_clean(&fit);
            assert_exact(&fit, &[(mean, sd)]);
        }
    }
}

/// A start that is ten thousand standard deviations away.
#[test]
fn a_start_far_from_the_posterior() {
    let gaussian = Gaussian::simulate(100, 2, 3);
    let precision = gaussian.posterior_precision();
    let sd = |j: usize| solve(&precision, &[f64::from(u8::from(j == 0)), f64::from(u8::from(j == 1))])[j].sqrt();
    let exact: Vec<Moments> = gaussian.posterior_mean().iter().enumerate().map(|(j, mean)| (*mean, sd(j))).collect();
    let fit = Auto::new(gaussian.target()).seed(1).sample(&full([2], 1000.0)).unwrap();
    assert_clean(&fit);
    assert_exact(&fit, &exact);
}

/// Gamma(3, 1) without a constraint: the log density is not a number where x < 0, but it is one at the start.
#[test]
fn a_density_that_is_not_defined_everywhere() {
    let model = Model::density(|x: Tensor<1>| x.clone().log().sum() * 2.0 - x.sum());
    let fit = auto(&model, &Dataset::none()).seed(1).sample(&ones([1])).unwrap();
    let wrong = wrong_values(&fit, &[(3.0, 3.0_f64.sqrt())]);
    assert_right_or_explained(&fit, &wrong, &["not finite", "constrain", "diverged"]);
}

/// A linear regression whose covariates have the scales 100 and 1/100.
#[test]
fn covariates_in_different_units() {
    for n in [1000, 90_000] {
        let (x, noise) = (normals(2 * n, 12), normals(n, 13));
        let design = |row: usize| [1.0, 100.0 * x[2 * row], 0.01 * x[2 * row + 1]];
        let y: Vec<f64> = (0..n).map(|row| 1.0 + 2.0 * x[2 * row] - x[2 * row + 1] + noise[row]).collect();
        let (exact, data) = regression(&y, &design);
        let fit = auto(&linear_model(), &data).seed(3).sample(&zeros([3])).unwrap();
        assert!(fit.check().passed(), "{n} observations\n{}\n{}", fit.check(), decisions(&fit));
        assert_eq!(wrong_values(&fit, &exact), [""; 0], "{n} observations\n{}", decisions(&fit));
    }
}
