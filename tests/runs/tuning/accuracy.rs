//! Posteriors that are known or close to normal: moments, checks, and efficiency.

use sgmcmc::distributions::Normal;
use sgmcmc::prelude::*;
use sgmcmc::tuning::Auto;
use sgmcmc_testkit::linear::solve;
use sgmcmc_testkit::models::gaussian::Gaussian;
use sgmcmc_testkit::models::{logistic, normals};

use super::{
    Moments, assert_clean, assert_exact, decisions, linear_model, logistic_start, many, regression, worst_ess,
    wrong_values,
};

/// Returns observations xᵢⱼ ~ N(j, 2²), and the posterior of the three means under a flat prior.
fn means(n: usize) -> (Dataset<Tensor<2>>, Vec<Moments>) {
    let x: Vec<f64> = normals(3 * n, 5).iter().enumerate().map(|(k, z)| (k % 3) as f64 + 2.0 * z).collect();
    let mean = |j: usize| x.iter().skip(j).step_by(3).sum::<f64>() / n as f64;
    let exact = (0..3).map(|j| (mean(j), 2.0 / (n as f64).sqrt())).collect();
    (Dataset::new(array(x, [n, 3]).unwrap()).unwrap(), exact)
}

#[test]
fn stochastic_gradients_find_the_means_of_many_observations() {
    let model = Model::new(|mean: Tensor<1>, x: Tensor<2>| {
        let residuals = (x - mean.unsqueeze_dim(0)) / 2.0;
        residuals.square().sum_dim(1).squeeze_dim::<1>(1) * -0.5
    });
    let (data, exact) = means(100_000);
    let run = auto(&model, &data).seed(1);
    assert!(run.tune(&zeros([3])).unwrap().choice().is_some());
    let fit = run.sample(&zeros([3])).unwrap();
    assert!(fit.check().passed(), "{}", fit.check());
    assert_eq!(wrong_values(&fit, &exact), [""; 0], "{}", decisions(&fit));
    assert!(worst_ess(&fit) >= 400.0, "{}", worst_ess(&fit));
    let decisions = decisions(&fit);
    assert!(
        decisions.contains("predicted variance") && decisions.contains("measured at the draws: variance"),
        "{decisions}"
    );
}

#[test]
fn a_logistic_regression_is_clean_and_efficient() {
    let (model, data) = (logistic::model(), many());
    let run = auto(&model, &data).seed(2);
    assert!(run.tune(&logistic_start()).unwrap().choice().is_some());
    let fit = run.sample(&logistic_start()).unwrap();
    assert_clean(&fit);
    let steps = fit.info().iterations.iter().sum::<u64>() as f64;
    let per_draw = steps / worst_ess(&fit);
    assert!(per_draw <= 30.0, "{per_draw} steps per effective draw\n{}", decisions(&fit));
}

#[test]
fn few_observations_are_sampled_without_bias() {
    let gaussian = Gaussian::simulate(500, 4, 3);
    let precision = gaussian.posterior_precision();
    let variance = |j: usize| {
        let unit: Vec<f64> = (0..4).map(|k| f64::from(u8::from(k == j))).collect();
        solve(&precision, &unit)[j]
    };
    let exact: Vec<Moments> =
        gaussian.posterior_mean().into_iter().enumerate().map(|(j, mean)| (mean, variance(j).sqrt())).collect();
    let run = Auto::new(gaussian.target()).seed(3);
    let tuned = run.tune(&zeros([4])).unwrap();
    assert!(tuned.choice().is_none() && tuned.weights().is_none(), "{tuned}");
    let fit = run.sample(&zeros([4])).unwrap();
    assert_clean(&fit);
    assert_exact(&fit, &exact);
    assert!(worst_ess(&fit) >= 400.0);
}

/// Coordinates and values differ: the posterior of a rate under a log transformation is a gamma distribution.
#[test]
fn constrained_parameters_are_sampled_without_bias() {
    // Ten waiting times of sum 8 with a flat prior on the rate: Gamma(11, 8).
    let model = Model::new(|rate: Tensor<1>, x: Tensor<1>| rate.clone().log() - rate * x)
        .constrain("theta", Constraint::Positive);
    let data = Dataset::new(full([10], 0.8)).unwrap();
    let fit = auto(&model, &data).seed(4).sample(&ones([1])).unwrap();
    assert_clean(&fit);
    assert_exact(&fit, &[(11.0 / 8.0, 11.0_f64.sqrt() / 8.0)]);
}

/// Errors with heavy tails under a normal likelihood: the posterior of the coefficients is normal, with the moments of
/// least squares.
#[test]
fn a_misspecified_regression_has_the_posterior_of_its_model() {
    let n = 90_000;
    let (z, x) = (normals(3 * n, 11), normals(2 * n, 12));
    // Student t with two degrees of freedom: z₀/√((z₁² + z₂²)/2).
    let t = |row: usize| z[3 * row] / (0.5 * (z[3 * row + 1].powi(2) + z[3 * row + 2].powi(2))).sqrt();
    let y: Vec<f64> = (0..n).map(|row| 1.0 + 2.0 * x[2 * row] - x[2 * row + 1] + t(row)).collect();
    let (exact, data) = regression(&y, &|row| [1.0, x[2 * row], x[2 * row + 1]]);
    let model = linear_model();
    let run = auto(&model, &data).seed(5);
    assert!(run.tune(&zeros([3])).unwrap().choice().is_some());
    let fit = run.sample(&zeros([3])).unwrap();
    assert!(fit.check().passed(), "{}\n{}", fit.check(), decisions(&fit));
    assert_eq!(wrong_values(&fit, &exact), [""; 0], "{}", decisions(&fit));
}

/// Mean and standard deviation of a normal sample: the second is positive, and the gradient noise depends on it.
#[test]
fn stochastic_gradients_find_a_scale() {
    let n = 100_000;
    let x: Vec<f64> = normals(n, 21).iter().map(|z| 3.0 + 0.5 * z).collect();
    let mean = x.iter().sum::<f64>() / n as f64;
    let s = (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
    let model = Model::new(|theta: Named, x: Tensor<1>| Normal::new(theta.get("mean"), theta.get("sd")).log_prob(x))
        .constrain("sd", Constraint::Positive);
    let start = Named::new().with("mean", zeros::<1>([1])).with("sd", ones::<1>([1]));
    let data = Dataset::new(array(x, [n]).unwrap()).unwrap();
    let run = auto(&model, &data).seed(6);
    assert!(run.tune(&start).unwrap().choice().is_some());
    let fit = run.sample(&start).unwrap();
    assert!(fit.check().passed(), "{}\n{}", fit.check(), decisions(&fit));
    // The posterior is normal, but for terms of the order of 1/n.
    let exact = [(mean, s / (n as f64).sqrt()), (s, s / (2.0 * n as f64).sqrt())];
    assert_eq!(wrong_values(&fit, &exact), [""; 0], "{}", decisions(&fit));
}
