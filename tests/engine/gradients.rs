//! Gradients of closures: against central differences, against gradients derived by hand, and against themselves.

use sgmcmc::data::{Precision, Rows};
use sgmcmc::gradient::Evaluator;
use sgmcmc::gradient::Target;
use sgmcmc::prelude::*;
use sgmcmc_testkit::differences::central_differences;
use sgmcmc_testkit::models::factorization::Factorization;
use sgmcmc_testkit::models::logistic::{self, Logistic};
use sgmcmc_testkit::models::mixture::Mixture;
use sgmcmc_testkit::models::network::SoftmaxNetwork;
use sgmcmc_testkit::models::normal_mean::NormalMean;
use sgmcmc_testkit::models::{Case, normals};
use sgmcmc_testkit::relative_error;

const N: usize = 30;

fn posterior(evaluator: &mut dyn Evaluator, theta: &[f64], rows: Rows<'_>) -> (f64, Vec<f64>) {
    let mut gradient = vec![0.0; theta.len()];
    let value = evaluator.posterior(theta, rows, &mut gradient).unwrap();
    (value, gradient)
}

fn closures_agree_with_differences_and_with_hand<C: Case>() {
    let simulated = C::simulate(N, 3);
    let mut eager = simulated.posterior.evaluator(&simulated.start).unwrap();
    let mut by_hand = simulated.by_hand.evaluator(&simulated.start).unwrap();
    let list = [4, 0, 17, 4, 29];
    let weights = [0.5, 2.0, 1.0, 3.0, 0.25];
    for (seed, rows) in [
        (1, Rows::range(0..N)),
        (2, Rows::list(&list)),
        (3, Rows::list(&list).scaled(6.0)),
        (4, Rows::list(&list).weighted(&weights).unwrap()),
    ] {
        let theta = normals(eager.dim(), seed);
        let (value, gradient) = posterior(eager.as_mut(), &theta, rows);
        let (hand_value, hand_gradient) = posterior(by_hand.as_mut(), &theta, rows);
        assert!((value - hand_value).abs() < 1e-10 * hand_value.abs(), "{value} against {hand_value} by hand");
        assert!(relative_error(&gradient, &hand_gradient) < 1e-12, "{gradient:?}\nby hand {hand_gradient:?}");
        let differences = central_differences(eager.as_mut(), &theta, rows).unwrap();
        let error = relative_error(&gradient, &differences);
        assert!(error < 1e-6, "relative error {error}\n{gradient:?}\ndifferences {differences:?}");
        let density = eager.log_density(&theta, rows).unwrap();
        assert!((density - value).abs() < 1e-10 * value.abs(), "log_density {density}, posterior {value}");
        let density = by_hand.log_density(&theta, rows).unwrap();
        assert!((density - value).abs() < 1e-10 * value.abs(), "log_density by hand {density}, posterior {value}");
    }
}

/// Value and gradient as sums over observations, and the prior apart.
fn parts_add_up<C: Case>() {
    let simulated = C::simulate(N, 5);
    let hand = simulated.by_hand.evaluator(&simulated.start).unwrap();
    let eager = simulated.posterior.evaluator(&simulated.start).unwrap();
    let chunked = simulated.posterior.clone().chunk_rows(7).evaluator(&simulated.start).unwrap();
    for mut evaluator in [eager, chunked, hand] {
        let dim = evaluator.dim();
        let theta = normals(dim, 8);
        let (value, gradient) = posterior(evaluator.as_mut(), &theta, Rows::range(0..N));
        let (mut terms, mut gradients) = (vec![0.0; N], vec![0.0; N * dim]);
        evaluator.log_likelihood_per_observation(&theta, Rows::range(0..N), &mut terms).unwrap();
        evaluator.gradient_per_observation(&theta, Rows::range(0..N), &mut gradients).unwrap();
        let mut summed = vec![0.0; dim];
        let prior = evaluator.prior(&theta, &mut summed).unwrap();
        for row in gradients.chunks_exact(dim) {
            summed.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        assert!((prior + terms.iter().sum::<f64>() - value).abs() < 1e-10 * value.abs());
        assert!(relative_error(&summed, &gradient) < 1e-12);
    }
}

fn single_precision_is_close<C: Case>() {
    let simulated = C::simulate(N, 6);
    let model = simulated.posterior.model();
    let single = model.with(&simulated.posterior.data().clone().with_precision(Precision::Single));
    let mut single = single.evaluator(&simulated.start).unwrap();
    let mut double = simulated.posterior.evaluator(&simulated.start).unwrap();
    let theta = normals(double.dim(), 9);
    let (value, gradient) = posterior(single.as_mut(), &theta, Rows::range(0..N));
    let (exact_value, exact) = posterior(double.as_mut(), &theta, Rows::range(0..N));
    let error = relative_error(&gradient, &exact);
    assert!(error < 1e-5, "f32 gradient off by {error}");
    assert!(error > 1e-14, "f32 data were computed in f64");
    assert!((value - exact_value).abs() < 1e-5 * exact_value.abs());
}

macro_rules! over_all_models {
    ($($name:ident: $case:ty),+) => {
        $(mod $name {
            use super::*;

            #[test]
            fn agrees_with_differences_and_with_hand() {
                closures_agree_with_differences_and_with_hand::<$case>();
            }

            #[test]
            fn adds_up() {
                parts_add_up::<$case>();
            }

            #[test]
            fn is_close_in_single_precision() {
                single_precision_is_close::<$case>();
            }
        })+
    };
}

over_all_models!(
    logistic_regression: Logistic,
    gaussian_mixture: Mixture,
    softmax_network: SoftmaxNetwork,
    matrix_factorization: Factorization,
    normal_mean: NormalMean
);

#[test]
fn gradients_are_added_to_what_is_there() {
    let simulated = Logistic::simulate(N, 3);
    let mut evaluator = simulated.posterior.evaluator(&simulated.start).unwrap();
    let theta = normals(6, 1);
    let (_, once) = posterior(evaluator.as_mut(), &theta, Rows::range(0..N));
    let mut twice = once.clone();
    evaluator.posterior(&theta, Rows::range(0..N), &mut twice).unwrap();
    let doubled: Vec<f64> = once.iter().map(|g| 2.0 * g).collect();
    assert!(relative_error(&twice, &doubled) < 1e-14);
}

#[test]
fn a_summed_likelihood_has_the_same_gradient() {
    let simulated = Logistic::simulate(N, 3);
    let model = logistic::model();
    let summed = Model::new(move |w: logistic::Weights, r: logistic::Observations| {
        let n = r.y.dims()[0];
        model.log_likelihood(w, r, n).unwrap().unwrap().sum()
    });
    let with_terms = simulated.posterior.model().clone();
    let data = simulated.posterior.data();
    let theta = normals(6, 2);
    let mut gradients = [vec![0.0; 6], vec![0.0; 6]];
    let rows = Rows::list(&[3, 1, 4]).scaled(10.0);
    for (model, gradient) in [summed, with_terms].iter().zip(&mut gradients) {
        let mut evaluator = model.with(data).evaluator(&simulated.start).unwrap();
        evaluator.likelihood(&theta, rows, gradient).unwrap();
    }
    assert!(relative_error(&gradients[0], &gradients[1]) < 1e-14);
}

#[test]
fn models_named_at_run_time_have_the_same_gradient() {
    let model = Model::new(|p: Named, r: Named| {
        let theta = p.get::<1>("theta");
        (r.get::<1>("x") - theta).square() * -0.5
    });
    let x = normals(N, 4);
    let data = Columns::new().leaf("x", x.clone(), [N]).unwrap().into_dataset().unwrap();
    let start = Named::new().with("theta", zeros([1]));
    let mut evaluator = model.with(&data).evaluator(&start).unwrap();
    let mut gradient = [0.0];
    evaluator.likelihood(&[0.5], Rows::range(0..N), &mut gradient).unwrap();
    let expected = x.iter().map(|x| x - 0.5).sum::<f64>();
    assert!((gradient[0] - expected).abs() < 1e-12);
    assert_eq!(evaluator.layout().value_name(0), "theta");
}

#[test]
fn a_density_without_data_has_a_gradient() {
    let model = Model::density(|(a, b): (Tensor<1>, Tensor<2>)| (a.square().sum() + b.sum()) * -1.0);
    let start = (full([2], 3.0), zeros([1, 2]));
    let mut evaluator = model.with(&Dataset::none()).evaluator(&start).unwrap();
    let (value, gradient) = posterior(evaluator.as_mut(), &[3.0, 1.0, 0.5, 0.5], Rows::range(0..0));
    assert!((value + 11.0).abs() < 1e-12);
    assert_eq!(gradient, [-6.0, -2.0, -1.0, -1.0]);
}

#[test]
fn parameters_that_play_no_part_have_gradient_zero() {
    let model = Model::density(|(a, _): (Tensor<1>, Tensor<1>)| a.square().sum() * -1.0);
    let mut evaluator = model.with(&Dataset::none()).evaluator(&(zeros([1]), zeros([1]))).unwrap();
    assert_eq!(posterior(evaluator.as_mut(), &[1.0, 5.0], Rows::range(0..0)).1, [-2.0, 0.0]);
    let constant = Model::density(|a: Tensor<1>| a.zeros_like().detach());
    let mut evaluator = constant.with(&Dataset::none()).evaluator(&zeros([1])).unwrap();
    assert_eq!(posterior(evaluator.as_mut(), &[1.0], Rows::range(0..0)), (0.0, vec![0.0]));
}

#[test]
fn temperature_and_prior_power_scale_the_density() {
    let simulated = NormalMean::simulate(N, 3);
    let data = simulated.posterior.data();
    let (theta, rows) = ([0.7], Rows::range(0..N));
    let of = |model: Model<Tensor<1>, Tensor<1>>| {
        let mut evaluator = model.with(data).evaluator(&zeros([1])).unwrap();
        let (value, gradient) = posterior(evaluator.as_mut(), &theta, rows);
        let density = evaluator.log_density(&theta, rows).unwrap();
        assert!((density - value).abs() < 1e-12 * value.abs());
        let mut prior = [0.0];
        evaluator.prior(&theta, &mut prior).unwrap();
        let mut terms = vec![0.0; N];
        evaluator.log_likelihood_per_observation(&theta, rows, &mut terms).unwrap();
        (gradient[0], prior[0], terms)
    };
    let model = simulated.posterior.model();
    let (plain, plain_prior, plain_terms) = of(model.clone());
    let (hot, hot_prior, hot_terms) = of(model.clone().temperature(4.0).unwrap());
    assert!((hot - plain / 4.0).abs() < 1e-12 && (hot_prior - plain_prior / 4.0).abs() < 1e-12);
    assert_eq!(hot_terms, plain_terms);
    let (shard, shard_prior, _) = of(model.clone().prior_power(0.1).unwrap());
    assert!((shard_prior - 0.1 * plain_prior).abs() < 1e-14);
    assert!((shard - (plain - 0.9 * plain_prior)).abs() < 1e-12);
}
