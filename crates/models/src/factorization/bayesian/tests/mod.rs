//! Tests of Bayesian matrix factorization.

mod agreement;
mod conformance;
mod geweke;

use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Evaluator, Rows};

use super::model::FactorModel;
use super::*;
use crate::factorization::entries::Entry;
use crate::factorization::evaluator::{EntryEvaluator, Shared};
use crate::factorization::hyperprior::FactorPrior;
use crate::factorization::start::normal_start;
use crate::factorization::testing::assert_gradient;
use rand::SeedableRng;

/// The Gaussian–Wishart prior of the tests. Its degrees of freedom give finite moments.
pub(super) const WISHART: Hyperprior =
    Hyperprior::GaussianWishart { beta: 3.0, degrees_of_freedom: Some(9.0), scale: 0.3 };
/// The Gamma prior of the tests.
pub(super) const GAMMA: Hyperprior = Hyperprior::Gamma(GammaPrior { shape: 4.0, rate: 2.0 });

/// Returns the entries of a small matrix. One row has a single entry, and one entry is missing in each other row.
pub(super) fn small_matrix() -> Entries {
    let values = [0.3, 1.9, -1.2, 0.8, 2.2, -0.4, 1.1, 0.2, -1.5, 0.6, 1.4, -0.9, 0.1];
    let places =
        [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 3], [2, 0], [2, 2], [2, 3], [3, 1], [3, 2], [3, 3], [4, 1]];
    let entries = places.iter().zip(values).map(|([row, column], value)| Entry { row: *row, column: *column, value });
    Entries::new(5, 4, entries).unwrap()
}

#[test]
fn gradients_agree_with_differences() {
    let mut rng = StreamRng::seed_from_u64(4);
    for (hyperprior, biases) in [(WISHART, true), (GAMMA, true), (WISHART, false)] {
        let settings =
            BayesianFactorization::new(2).hyperprior(hyperprior).biases(biases).noise(NoisePrecision::Fixed(1.7));
        let sampler = settings.sampler(&small_matrix()).unwrap();
        let model: FactorModel = sampler.model().read().clone();
        let layout = model.shape.layout().unwrap();
        let theta = normal_start(layout.dim(), 1.0, &mut rng);
        let mut evaluator = EntryEvaluator::new(Shared::new(model), layout);
        let weights = [3.0, 0.5, 2.0, 2.0];
        let rows = Rows::list(&[0, 4, 12, 4]).weighted(&weights).unwrap();
        let mut gradient = vec![0.0; theta.len()];
        let value = evaluator.posterior(&theta, rows, &mut gradient).unwrap();
        assert!((value - evaluator.log_density(&theta, rows).unwrap()).abs() < 1e-12);
        assert_gradient(&theta, &gradient, |theta| evaluator.log_density(theta, rows).unwrap());
        // The gradients of single entries add up.
        let (mut each, mut sum) = (vec![0.0; 4 * theta.len()], vec![0.0; theta.len()]);
        evaluator.gradient_per_observation(&theta, rows, &mut each).unwrap();
        evaluator.prior(&theta, &mut sum).unwrap();
        for (row, weight) in each.chunks_exact(theta.len()).zip(weights) {
            sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += weight * x);
        }
        assert!(sum.iter().zip(&gradient).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}

#[test]
fn likelihood_and_prior_are_those_of_the_model() {
    let settings = BayesianFactorization::new(1).hyperprior(GAMMA).offset(0.25).noise(NoisePrecision::Fixed(4.0));
    let entries = Entries::dense(1, 1, &[2.0]).unwrap();
    let sampler = settings.sampler(&entries).unwrap();
    sampler.model().write().hyper.rows = FactorPrior::Diagonal { precision: vec![3.0] };
    sampler.model().write().hyper.columns = FactorPrior::Full { mean: vec![1.0], precision: vec![5.0] };
    let model = sampler.model().read().clone();
    let layout = model.shape.layout().unwrap();
    let mut evaluator = EntryEvaluator::new(Shared::new(model), layout);
    // U = 0.5, V = 2, a = 0.1, b = −0.2: the expectation is 0.25 + 1 − 0.1 = 1.15.
    let (theta, mut out) = ([0.5, 2.0, 0.1, -0.2], [0.0]);
    evaluator.log_likelihood_per_observation(&theta, Rows::range(0..1), &mut out).unwrap();
    let expected = 0.5 * (4.0 / std::f64::consts::TAU).ln() - 2.0 * 0.85_f64.powi(2);
    assert!((out[0] - expected).abs() < 1e-14);
    let prior = evaluator.prior(&theta, &mut [0.0; 4]).unwrap();
    // The precisions of the biases start at the mean 1 of their prior.
    assert!((prior - (-0.5) * (3.0 * 0.25 + 5.0 + 0.01 + 0.04)).abs() < 1e-14);
}

#[test]
fn settings_out_of_range_are_errors() {
    let entries = small_matrix();
    let fails = |model: BayesianFactorization, text: &str| {
        let message = model.fit(&entries, 1).map(|_| ()).unwrap_err().to_string();
        assert!(message.contains(text), "{message}");
        assert_eq!(model.sampler(&entries).map(|_| ()).unwrap_err().to_string(), message);
    };
    let model = BayesianFactorization::new(2);
    fails(BayesianFactorization::new(0), "the rank is 0");
    fails(model.clone().noise(NoisePrecision::Fixed(-1.0)), "the precision of the noise is -1");
    fails(model.clone().offset(f64::NAN), "the offset is NaN");
    fails(model.clone().hyper_interval(0), "interval of the hyperparameters");
    fails(model.clone().bias_prior(GammaPrior { shape: 0.0, rate: 1.0 }), "shape of a Gamma prior");
    let wishart = Hyperprior::GaussianWishart { beta: 1.0, degrees_of_freedom: Some(1.0), scale: 1.0 };
    fails(model.clone().hyperprior(wishart), "the degrees of freedom of the Wishart prior is 1");
    let fit = model.fit(&entries, 3).unwrap();
    assert!(fit.predict(&Entries::dense(1, 1, &[0.0]).unwrap()).is_err());
    let sampler = model.sampler(&entries).unwrap();
    assert!(sampler.predict(0, 4).unwrap_err().to_string().contains("the column is 4"));
    assert!(sampler.predict(5, 0).unwrap_err().to_string().contains("the row is 5"));
    assert!(RunningPredictions::new(entries).rmse().is_err());
}

/// A matrix of rank one with little noise is predicted well at missing entries, with a standard deviation that is
/// larger where there are fewer entries.
#[test]
fn missing_entries_are_predicted() {
    let (rows, columns) = (20, 15);
    let mut rng = StreamRng::seed_from_u64(6);
    let (u, v) = (normal_start(rows, 1.0, &mut rng), normal_start(columns, 1.0, &mut rng));
    let noise = normal_start(rows * columns, 0.1, &mut rng);
    let values: Vec<f64> = noise.iter().enumerate().map(|(k, e)| u[k / columns] * v[k % columns] + e).collect();
    let (train, test) = Entries::dense(rows, columns, &values).unwrap().split(0.6, 1).unwrap();
    let model = BayesianFactorization::new(2).noise(NoisePrecision::Gamma(GammaPrior { shape: 1.0, rate: 0.1 }));
    let fit = model.burn_in(200).fit(&train, 400).unwrap();
    let predictions = fit.predict(&test).unwrap();
    let rmse = predictions.rmse(&test).unwrap();
    assert!(rmse < 0.2, "{rmse}");
    let inside = predictions.mean.iter().zip(&predictions.predictive_sd).zip(test.values());
    let inside = inside.filter(|((mean, sd), value)| (**mean - **value).abs() < 2.0 * **sd).count();
    let share = inside as f64 / test.len() as f64;
    assert!((0.88..=1.0).contains(&share), "{share}");
}
