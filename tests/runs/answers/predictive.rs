//! Predictions of a fit.

use sgmcmc::burn::activation::sigmoid;
use sgmcmc::data::{Precision, Rows};
use sgmcmc::default_device;
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::logistic::{self, Logistic, Observations, Weights};
use sgmcmc_testkit::models::normal_mean::NormalMean;
use sgmcmc_testkit::models::{Case, normals};

use super::{fit_of, layout};

/// log N(x; θ, 1) without its constant, which the model leaves out.
fn log_density(x: f64, theta: f64) -> f64 {
    -0.5 * (x - theta).powi(2)
}

fn means(values: &[f64]) -> Fit {
    let rows = values.iter().map(|value| vec![*value]).collect::<Vec<_>>();
    fit_of(layout(&[("theta", &[1])]), &[rows[..2].to_vec(), rows[2..].to_vec()])
}

#[test]
fn pointwise_is_the_log_likelihood_of_each_observation_at_each_draw() {
    let simulated = NormalMean::simulate(30, 1);
    let thetas = [0.1, -0.2, 0.3, 0.0];
    let fit = means(&thetas);
    let pointwise = fit.pointwise_log_likelihood(&simulated.posterior, &simulated.start).unwrap();
    assert_eq!((pointwise.draws(), pointwise.observations(), pointwise.chains()), (4, 30, &[2, 2][..]));
    let x = normals(30, 1);
    for (row, theta) in pointwise.rows().zip(thetas) {
        row.iter().zip(&x).for_each(|(found, x)| assert!((found - log_density(*x, theta)).abs() < 1e-12));
    }
    assert_eq!(pointwise.observation(3).len(), 4);
    let lpd = |x: &f64| (thetas.iter().map(|theta| log_density(*x, *theta).exp()).sum::<f64>() / 4.0).ln();
    let expected = x.iter().map(lpd).sum::<f64>() / 30.0;
    assert!((pointwise.log_predictive_density() - expected).abs() < 1e-12);
    let streamed = fit.log_predictive_density(&simulated.posterior, &simulated.start).unwrap();
    assert!((streamed - expected).abs() < 1e-12);
}

#[test]
fn too_large_a_table_is_refused_with_a_remedy() {
    let simulated = NormalMean::simulate(30, 1);
    let fit = means(&[0.0; 40]);
    let error =
        fit.pointwise_log_likelihood_within(&simulated.posterior, &simulated.start, 1000).unwrap_err().to_string();
    assert!(error.contains("30 observations at 40 draws") && error.contains("thinned"), "{error}");
    assert!(fit.thinned(20).pointwise_log_likelihood_within(&simulated.posterior, &simulated.start, 1000).is_ok());
}

fn probability(w: Weights, r: Observations) -> Tensor<1> {
    sigmoid(r.x.matmul(w.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + w.bias)
}

fn logistic_fit(n: usize) -> (Fit, Dataset<Observations>, Vec<f64>) {
    let simulated = Logistic::simulate(n, 1);
    let data = simulated.posterior.data().clone();
    let run = sgldcv(&logistic::model(), &data, 1e-4).minibatch(0.1).chains(2).seed(3);
    let fit = run.thin(10).sample(&simulated.start, 20).unwrap();
    let y = data.batch(Rows::range(0..n), &default_device()).unwrap().y;
    (fit, data, y.into_data().iter::<f64>().collect())
}

#[test]
fn predictions_are_averages_over_draws_whatever_the_batches() {
    // More rows than one batch holds.
    let (fit, data, y) = logistic_fit(10_000);
    let start = Logistic::simulate(2, 1).start;
    let mean = fit.predict(&data, &start, probability).unwrap();
    let each = fit.thinned(20).predict_each(&data, &start, probability).unwrap();
    assert_eq!((&mean.shape[..], &each.shape[..]), (&[10_000][..], &[2, 10_000][..]));
    let two = fit.thinned(20).predict(&data, &start, probability).unwrap();
    let average = |i: usize| 0.5 * (each.values[i] + each.values[10_000 + i]);
    assert!((0..10_000).all(|i| (two.values[i] - average(i)).abs() < 1e-12));
    // The log loss of the averaged probability is minus the log predictive density.
    let loss = mean.log_loss(&y).unwrap();
    let density = fit.log_predictive_density(&logistic::model().with(&data), &start).unwrap();
    assert!((loss + density).abs() < 1e-10, "{loss} against {density}");
    let accuracy = mean.accuracy(&y).unwrap();
    assert!(accuracy > 0.7 && accuracy < 0.9, "{accuracy}");
    let single = fit.predict(&data.with_precision(Precision::Single), &start, probability).unwrap();
    assert!((single.log_loss(&y).unwrap() - loss).abs() < 1e-5);
}

#[test]
fn a_prediction_without_a_row_per_observation_is_refused() {
    let (fit, data, _) = logistic_fit(50);
    let start = Logistic::simulate(2, 1).start;
    let error = fit.predict(&data, &start, |w: Weights, _: Observations| w.beta).unwrap_err().to_string();
    assert!(error.contains("one row per observation") && error.contains("length 5, expected 50"), "{error}");
    assert!(fit.predict(&data, &zeros([1]), |_, r: Observations| r.y).is_err());
}

/// Leaving out an observation of a normal sample leaves a normal posterior: the predictive density is known.
#[test]
fn leaving_one_out_gives_the_exact_predictive_density() {
    let n = 40;
    let simulated = NormalMean::simulate(n, 1);
    let x = normals(n, 1);
    let (precision, total) = (n as f64 + 0.01, x.iter().sum::<f64>());
    let draws: Vec<f64> = normals(4000, 5).iter().map(|z| total / precision + z / precision.sqrt()).collect();
    let chain = |k: usize| draws[1000 * k..1000 * (k + 1)].iter().map(|x| vec![*x]).collect::<Vec<_>>();
    let fit = fit_of(layout(&[("theta", &[1])]), &[chain(0), chain(1), chain(2), chain(3)]);
    let loo = fit.loo(&simulated.posterior, &simulated.start).unwrap();
    let exact = |x: &f64| {
        let (mean, variance) = ((total - x) / (precision - 1.0), 1.0 + 1.0 / (precision - 1.0));
        -0.5 * (x - mean).powi(2) / variance - 0.5 * f64::ln(variance)
    };
    for (found, x) in loo.elpd_i.iter().zip(&x) {
        assert!((found - exact(x)).abs() < 0.01, "{found} against {}", exact(x));
    }
    assert_eq!(loo.above, 0);
    let waic = fit.waic(&simulated.posterior, &simulated.start).unwrap();
    assert!((waic.elpd - loo.elpd).abs() < 0.05, "{} against {}", waic.elpd, loo.elpd);
    let mut weighted = sgmcmc::fit::ChainDraws::new(1, vec![]);
    for weight in [1.0, 2.0] {
        let draw = sgmcmc::sink::Draw { iteration: 1, values: &[0.1], weight, log_posterior: 0.0, stats: &[] };
        weighted.push(&draw).unwrap();
    }
    let weighted = Fit::new(layout(&[("theta", &[1])]), vec![weighted]).unwrap();
    assert!(weighted.loo(&simulated.posterior, &simulated.start).unwrap_err().to_string().contains("equal weight"));
}
