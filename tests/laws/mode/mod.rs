//! Finding the posterior mode.

mod convergence;
mod earnings;
mod finders;
mod laplace;

use sgmcmc::AnalyticTree;
use sgmcmc::algorithms::LaplaceApproximation;
use sgmcmc::algorithms::PreconditionedSgld;
use sgmcmc::curvature;
use sgmcmc::data::Rows;
use sgmcmc::gradient::Target;
use sgmcmc::gradient::{AnalyticModel, Evaluator, FullGradient, MinibatchGradient, Svrg};
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::mode::{LbfgsSearch, ModeSearch};
use sgmcmc::mode::{SearchOutcome, StopRule};
use sgmcmc::prelude::*;
use sgmcmc_testkit::linear;
use sgmcmc_testkit::models::gaussian::Gaussian;
use sgmcmc_testkit::models::logistic::{self, Logistic};
use sgmcmc_testkit::models::normal_mean::NormalMean;
use sgmcmc_testkit::models::{Case, normals};
use sgmcmc_testkit::relative_error;

/// A log density of `dim` parameters, by hand: adds the gradient and returns the value.
struct ByHand<F> {
    dim: usize,
    density: F,
}

impl<F: Fn(&[f64], &mut [f64]) -> f64 + Send + Sync + 'static> AnalyticModel for ByHand<F> {
    fn observations(&self) -> usize {
        0
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn observation(&self, _theta: &[f64], _row: usize, _weight: f64, _grad: &mut [f64]) -> f64 {
        0.0
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        (self.density)(theta, grad)
    }
}

fn by_hand(dim: usize, density: impl Fn(&[f64], &mut [f64]) -> f64 + Send + Sync + 'static) -> AnalyticTree<Tensor<1>> {
    AnalyticTree::new(ByHand { dim, density })
}

fn density(dim: usize, density: impl Fn(&[f64], &mut [f64]) -> f64 + Send + Sync + 'static) -> Box<dyn Evaluator> {
    by_hand(dim, density).evaluator(&zeros([dim])).unwrap()
}

/// A standard normal density with the gradient of another, whose mean is five off: uphill by the gradient is downhill.
fn mistaken() -> AnalyticTree<Tensor<1>> {
    by_hand(2, |theta, gradient| {
        gradient[0] += 5.0 - theta[0];
        gradient[1] -= theta[1];
        -0.5 * (theta[0].powi(2) + theta[1].powi(2))
    })
}

#[test]
fn adam_finds_the_mode_of_a_normal_mean() {
    let n = 5000;
    let simulated = NormalMean::simulate(n, 3);
    let evaluator = simulated.by_hand.evaluator(&simulated.start).unwrap();
    let mode =
        ModeSearch::default().run(MinibatchGradient::new(WithoutReplacement::new(50)), evaluator, &[5.0]).unwrap();
    let precision = n as f64 + 0.01;
    let exact = normals(n, 3).iter().sum::<f64>() / precision;
    let distance = (mode.theta[0] - exact).abs() * precision.sqrt();
    assert!(distance < 0.1, "{distance} posterior standard deviations off");
    assert_eq!(mode.outcome, SearchOutcome::Converged);
    assert!((mode.gradient_norm - precision * (mode.theta[0] - exact).abs()).abs() < 1e-6);
    assert!(mode.log_posterior > mode.start_log_posterior);
    assert!(mode.to_string().starts_with("converged after"), "{mode}");
}

#[test]
fn the_mode_of_a_regression_is_stationary() {
    let simulated = Logistic::simulate(2000, 3);
    let mut evaluator = simulated.by_hand.evaluator(&simulated.start).unwrap();
    let estimator = Svrg::new(WithoutReplacement::new(100), 20);
    let again = simulated.by_hand.evaluator(&simulated.start).unwrap();
    let mode = ModeSearch::default().run(estimator, again, &[0.0; 6]).unwrap();
    assert_eq!(mode.outcome, SearchOutcome::Converged);
    // Each score has variance of order one, so that one posterior standard deviation off the gradient is about √2000 = 45.
    assert!(mode.gradient_norm < 3.0, "gradient norm {}", mode.gradient_norm);
    // No point nearby, a tenth of a posterior standard deviation off, is higher by more than the search's tolerance.
    let scale = 0.1 / 2000.0_f64.sqrt();
    for seed in 0..20 {
        let nearby: Vec<f64> = mode.theta.iter().zip(normals(6, seed)).map(|(theta, z)| theta + scale * z).collect();
        let gain = evaluator.log_density(&nearby, evaluator.all_rows()).unwrap() - mode.log_posterior;
        assert!(gain < 0.03, "a point {nearby:?} is higher by {gain}");
    }
}

/// A run on the full gradient looks for the mode on it, and starts there.
#[test]
fn runs_on_the_full_gradient_start_at_the_mode() {
    let simulated = Logistic::simulate(500, 3);
    let (model, data) = (logistic::model(), simulated.posterior.data().clone());
    let sampler = ula(&model, &data, 1e-4).find_mode(ModeSearch::default()).start(&simulated.start).unwrap();
    let evaluator = simulated.posterior.evaluator(&simulated.start).unwrap();
    let mode = ModeSearch::default().run(FullGradient, evaluator, &[0.0; 6]).unwrap();
    assert_eq!(mode.outcome, SearchOutcome::Converged);
    assert_eq!(sampler.mode(), Some(&mode));
    assert_eq!(sampler.coordinates(), mode.theta);
}

#[test]
fn the_search_of_r_takes_exactly_its_steps() {
    let simulated = Logistic::simulate(100, 3);
    let mut evaluator = simulated.by_hand.evaluator(&simulated.start).unwrap();
    let (start, step) = ([0.1; 6], 1e-3);
    let mut theta = start.to_vec();
    for _ in 0..50 {
        let mut g = [0.0; 6];
        evaluator.posterior(&theta, Rows::range(0..100), &mut g).unwrap();
        theta.iter_mut().zip(g).for_each(|(theta, g)| *theta += step * g);
    }
    let mode = ModeSearch::as_in_r(step, 50).run(FullGradient, evaluator, &start).unwrap();
    assert!(relative_error(&mode.theta, &theta) < 1e-12);
    assert_eq!((mode.iterations, mode.outcome), (50, SearchOutcome::IterationLimit));
}

#[test]
fn one_step_of_adam_moves_each_element_by_its_step_size() {
    let simulated = Logistic::simulate(100, 3);
    let mut evaluator = simulated.by_hand.evaluator(&simulated.start).unwrap();
    let mut g = [0.0; 6];
    evaluator.posterior(&[0.1; 6], Rows::range(0..100), &mut g).unwrap();
    let search = ModeSearch { max_iterations: 1, stop: StopRule::Never, ..ModeSearch::default() };
    let mode = search.run(FullGradient, evaluator, &[0.1; 6]).unwrap();
    for (theta, g) in mode.theta.iter().zip(g) {
        assert!((theta - (0.1 + 0.05 * g.signum())).abs() < 1e-8);
    }
}

#[test]
fn a_search_that_diverges_names_the_parameter() {
    let simulated = Logistic::simulate(100, 3);
    let evaluator = simulated.by_hand.evaluator(&simulated.start).unwrap();
    let error = ModeSearch::as_in_r(f64::INFINITY, 50).run(FullGradient, evaluator, &[0.1; 6]).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("`bias`") && message.contains("iteration 1") && message.contains("smaller step"),
        "{message}"
    );
}

/// The posterior of a Gaussian is known: mode, Hessian and Laplace approximation are exact.
#[test]
fn lbfgs_curvature_and_laplace_of_a_gaussian() {
    let d = 5;
    let model = Gaussian::simulate(200, d, 7);
    let (mean, precision) = (model.posterior_mean(), model.posterior_precision());
    let target = model.target();
    let mut evaluator = target.evaluator(&zeros([d])).unwrap();
    let mode = LbfgsSearch::default().run(evaluator.as_mut(), &[3.0; 5]).unwrap();
    assert_eq!(mode.outcome, SearchOutcome::Converged);
    let spread = 1.0 / 200.0_f64.sqrt();
    assert!(mode.theta.iter().zip(&mean).all(|(a, b)| (a - b).abs() < 1e-4 * spread), "{:?} {mean:?}", mode.theta);
    assert!(mode.iterations < 20 && mode.full_passes < 30, "{mode}");
    let hessian = curvature::hessian(evaluator.as_mut(), &mode.theta).unwrap();
    assert!(relative_error(&hessian, &precision) < 1e-9);
    let diagonal = curvature::hessian_diagonal(evaluator.as_mut(), &mode.theta).unwrap();
    assert!(relative_error(&diagonal, &precision.iter().step_by(d + 1).copied().collect::<Vec<_>>()) < 1e-9);
    let v = normals(d, 5);
    let mut product = vec![0.0; d];
    curvature::hessian_vector(evaluator.as_mut(), &mode.theta, &v, &mut product).unwrap();
    let exact: Vec<f64> = precision.chunks_exact(d).map(|row| row.iter().zip(&v).map(|(a, v)| a * v).sum()).collect();
    assert!(relative_error(&product, &exact) < 1e-9);

    let fit = LaplaceApproximation { seed: 3, ..Default::default() }.fit(&target, &full([d], 3.0), 20_000).unwrap();
    assert_eq!(fit.mode().unwrap().ending, SearchOutcome::Converged);
    let chain = &fit.chains()[0];
    let covariance: Vec<f64> = linear::covariance(&chain.rows().flatten().copied().collect::<Vec<_>>(), d);
    let identity = linear::multiply(&covariance, &precision, d);
    for k in 0..d * d {
        let unit = f64::from(u8::from(k / d == k % d));
        assert!((identity[k] - unit).abs() < 0.06, "{identity:?}");
    }
    let row = *fit.summary().row("theta[0]").unwrap();
    assert!((row.mean - mean[0]).abs() < 5.0 * row.sd / 20_000.0_f64.sqrt());
    // A search that ends 1e-9 below the mode leaves a slope of √(2e-9) per standard deviation.
    assert!(chain.stat("log_weight").unwrap().iter().all(|weight| weight.abs() < 1e-3));
}

/// A curved valley, and a model that is not finite beyond an edge.
#[test]
fn lbfgs_finds_its_way() {
    let valley = Model::density(|theta: Tensor<1>| {
        let (x, y) = (theta.clone().slice(0..1), theta.slice(1..2));
        ((y - x.clone().powi_scalar(2)).powi_scalar(2) * 100.0 + (x - 1.0).powi_scalar(2)).neg()
    });
    let mut evaluator = valley.with(&Dataset::none()).evaluator(&full([2], 1.0)).unwrap();
    let mode = LbfgsSearch::default().run(evaluator.as_mut(), &[-1.2, 1.0]).unwrap();
    assert_eq!(mode.outcome, SearchOutcome::Converged);
    assert!(mode.theta.iter().all(|x| (x - 1.0).abs() < 1e-3), "{:?}", mode.theta);
    assert!(mode.iterations < 80, "{mode}");
    let edge = Model::density(|theta: Tensor<1>| (theta.clone().log() * 2.0 - theta).sum());
    let mut evaluator = edge.with(&Dataset::none()).evaluator(&full([1], 1e-3)).unwrap();
    let mode = LbfgsSearch::default().run(evaluator.as_mut(), &[1e-3]).unwrap();
    assert!((mode.theta[0] - 2.0).abs() < 1e-4, "{mode}");
    let refused = |search: LbfgsSearch| {
        search.run(edge.with(&Dataset::none()).evaluator(&full([1], 1.0)).unwrap().as_mut(), &[1.0])
    };
    assert!(refused(LbfgsSearch { memory: 0, ..Default::default() }).unwrap_err().to_string().contains("memory"));
    assert!(
        refused(LbfgsSearch { tolerance: 0.0, ..Default::default() }).unwrap_err().to_string().contains("tolerance")
    );
    let short = refused(LbfgsSearch { max_iterations: 1, ..Default::default() }).unwrap();
    assert_eq!((short.iterations, short.ending), (1, SearchOutcome::IterationLimit));
}

/// With the Laplace covariance as the preconditioner, h = 0.1 suits all directions.
#[test]
fn the_laplace_covariance_preconditions() {
    let d = 5;
    let model = Gaussian::simulate(200, d, 7);
    let target = model.target();
    let mut evaluator = target.evaluator(&zeros([d])).unwrap();
    let mode = model.posterior_mean();
    let dynamics = PreconditionedSgld::laplace(evaluator.as_mut(), &mode).unwrap();
    let run = Builder::new(target, dynamics, FullGradient, 0.1).seed(4).burn_in(100);
    let fit = run.sample(&zeros([d]), 20_000).unwrap();
    let covariance = linear::covariance(&fit.chains()[0].rows().flatten().copied().collect::<Vec<_>>(), d);
    // Without minibatches the covariance is A⁻¹ h/(1 − (1 − h/2)²).
    let factor = 0.1 / (1.0 - 0.95_f64.powi(2));
    let identity = linear::multiply(&covariance, &model.posterior_precision(), d);
    for k in 0..d * d {
        let expected = if k / d == k % d { factor } else { 0.0 };
        assert!((identity[k] - expected).abs() < 0.25, "{identity:?}");
    }
    let saddle = Model::density(|theta: Tensor<1>| theta.powi_scalar(2).sum());
    let mut evaluator = saddle.with(&Dataset::none()).evaluator(&zeros([2])).unwrap();
    let error = PreconditionedSgld::laplace(evaluator.as_mut(), &[0.0; 2]).unwrap_err().to_string();
    assert!(error.contains("Hessian") && error.contains("positive definite"), "{error}");
}
