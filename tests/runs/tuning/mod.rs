//! Runs without settings: accuracy, difficult posteriors, repeatability, limits, and interruptions.

mod accuracy;
mod hostile;
mod influence;
mod interruption;
mod limits;
mod threads;

use sgmcmc::Fit;
use sgmcmc::distributions::Normal;
use sgmcmc::fit::Severity;
use sgmcmc::prelude::*;
use sgmcmc_testkit::linear::solve;
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::logistic::{self, Logistic};

/// A mean and a standard deviation.
type Moments = (f64, f64);

/// Returns a description of the values whose mean is further than 0.1 standard deviations from the exact one, or whose
/// standard deviation is further than 10 %, Monte Carlo errors aside.
fn wrong_values(fit: &Fit, exact: &[Moments]) -> Vec<String> {
    let summary = fit.summary();
    assert_eq!(summary.rows().len(), exact.len());
    let rows = summary.rows().iter().zip(summary.names()).zip(exact);
    rows.filter_map(|((row, name), (mean, sd))| {
        let off = (row.mean - mean).abs() > 0.1 * sd + 4.0 * row.mcse_mean;
        let scaled = (row.sd - sd).abs() > 0.1 * sd + 4.0 * row.mcse_sd;
        let right = !off && !scaled && row.mean.is_finite() && row.sd.is_finite();
        let found = format!("{name}: {:.5} ± {:.5}, exact {mean:.5} ± {sd:.5}", row.mean, row.sd);
        (!right).then_some(found)
    })
    .collect()
}

/// Asserts that the values are right within 4 Monte Carlo standard errors, without any other tolerance.
fn assert_exact(fit: &Fit, exact: &[Moments]) {
    let summary = fit.summary();
    assert_eq!(summary.rows().len(), exact.len());
    for ((row, name), (mean, sd)) in summary.rows().iter().zip(summary.names()).zip(exact) {
        assert!(
            (row.mean - mean).abs() < 4.0 * row.mcse_mean,
            "{name}: mean {} ± {}, exact {mean}",
            row.mean,
            row.mcse_mean
        );
        assert!((row.sd - sd).abs() < 4.0 * row.mcse_sd, "{name}: sd {} ± {}, exact {sd}", row.sd, row.mcse_sd);
    }
}

/// Asserts that the check has neither problems nor warnings.
fn assert_clean(fit: &Fit) {
    let check = fit.check();
    assert!(check.findings().iter().all(|finding| finding.severity == Severity::Note), "{check}\n{}", decisions(fit));
}

/// Returns the decisions of a run, one per line.
fn decisions(fit: &Fit) -> String {
    fit.info().tuning.as_ref().map(|tuning| tuning.decisions.join("\n")).unwrap_or_default()
}

/// Returns the smallest effective sample size of all values, of bulk and tails.
fn worst_ess(fit: &Fit) -> f64 {
    fit.summary().rows().iter().flat_map(|row| [row.ess_bulk, row.ess_tail]).fold(f64::INFINITY, f64::min)
}

/// So many observations of a logistic regression that the full gradient is too expensive.
fn many() -> Dataset<logistic::Observations> {
    Logistic::simulate(60_000, 1).posterior.data().clone()
}

fn logistic_start() -> logistic::Weights {
    Logistic::simulate(2, 1).start
}

/// Returns a linear regression with three coefficients, noise of variance 1 and a flat prior.
fn linear_model() -> Model<Tensor<1>, Named> {
    Model::new(|w: Tensor<1>, row: Named| {
        let (u, y) = (row.get::<2>("u"), row.get::<1>("y"));
        Normal::new(u.matmul(w.unsqueeze_dim(1)).squeeze_dim::<1>(1), 1.0).log_prob(y)
    })
}

/// Returns the posterior of the coefficients of [`linear_model`], and its data.
fn regression(y: &[f64], design: &dyn Fn(usize) -> [f64; 3]) -> (Vec<Moments>, Dataset<Named>) {
    let (mut gram, mut right) = (vec![0.0; 9], vec![0.0; 3]);
    for (row, y) in y.iter().enumerate() {
        let u = design(row);
        (0..9).for_each(|k| gram[k] += u[k / 3] * u[k % 3]);
        (0..3).for_each(|k| right[k] += u[k] * y);
    }
    let mean = solve(&gram, &right);
    let unit = |j: usize| (0..3).map(|k| f64::from(u8::from(k == j))).collect::<Vec<f64>>();
    let exact = (0..3).map(|j| (mean[j], solve(&gram, &unit(j))[j].sqrt())).collect();
    let n = y.len();
    let u: Vec<f64> = (0..n).flat_map(design).collect();
    let rows = Named::new().with("u", array(u, [n, 3]).unwrap()).with("y", array(y.to_vec(), [n]).unwrap());
    (exact, Dataset::new(rows).unwrap())
}
