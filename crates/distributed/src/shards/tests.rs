//! Tests of subposteriors and of runs on all shards, on a conjugate model: xᵢ ~ N(θ, 1), θ ~ N(0, 1/λ).

use sgmcmc_fit::{ChainOutcome, Tempering};
use sgmcmc_gradient::{
    Analytic, AnalyticModel, AutoSearch, ControlVariate, Error as RunError, Evaluator, FullGradient, Rows, Target,
    WithoutReplacement,
};
use sgmcmc_samplers::Builder;
use sgmcmc_samplers::langevin::Sgld;
use sgmcmc_samplers::metropolis::Hmc;
use sgmcmc_samplers::run::{CheckpointInterval, InMemoryCheckpoints};

use super::*;
use crate::combine::{self, Combination, CombineOptions, Consensus, GaussianProduct, Swiss, combine_fits};

const PRIOR_PRECISION: f64 = 40.0;

#[derive(Clone)]
struct NormalMean(Vec<f64>);

impl NormalMean {
    fn simulate(n: usize) -> Self {
        // Deterministic observations with a drift, so that consecutive shards have different means.
        Self((0..n).map(|k| 1.0 + (k as f64 * 0.7).sin() + 0.5 * k as f64 / n as f64).collect())
    }

    fn target(&self) -> Analytic {
        Analytic::new(self.clone())
    }

    fn posterior(&self) -> (f64, f64) {
        let precision = PRIOR_PRECISION + self.0.len() as f64;
        (self.0.iter().sum::<f64>() / precision, 1.0 / precision)
    }
}

impl AnalyticModel for NormalMean {
    fn observations(&self) -> usize {
        self.0.len()
    }

    fn dim(&self) -> usize {
        1
    }

    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let residual = self.0[row] - theta[0];
        grad[0] += weight * residual;
        -0.5 * residual * residual
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        grad[0] -= PRIOR_PRECISION * theta[0];
        -0.5 * PRIOR_PRECISION * theta[0] * theta[0]
    }
}

/// Returns the value and the gradient of the log density of all observations.
fn evaluate(evaluator: &mut dyn Evaluator, theta: f64) -> [f64; 2] {
    let rows = evaluator.all_rows();
    let mut gradient = [0.0];
    let value = evaluator.posterior(&[theta], rows, &mut gradient).unwrap();
    let alone = evaluator.log_density(&[theta], rows).unwrap();
    assert!((value - alone).abs() < 1e-9 * value.abs(), "{value} {alone}");
    [value, gradient[0]]
}

#[test]
fn subposteriors_multiply_to_the_posterior() {
    let model = NormalMean::simulate(50);
    let divisions = [Shards::random(50, 7, 1).unwrap(), Shards::consecutive(50, 7).unwrap()];
    for shards in divisions {
        for theta in [-0.3, 0.4, 2.0] {
            let all = evaluate(model.target().evaluator(&vec![0.0]).unwrap().as_mut(), theta);
            let sum = |shards: &Shards| {
                let each = shards.iter().map(|shard| {
                    let mut evaluator = shard.target(model.target()).evaluator(&vec![0.0]).unwrap();
                    evaluate(evaluator.as_mut(), theta)
                });
                each.fold([0.0; 2], |sum, one| [sum[0] + one[0], sum[1] + one[1]])
            };
            let fractional = sum(&shards);
            // Every inflated subposterior is the power S of the fractional one.
            let inflated = sum(&shards.clone().tempering(Tempering::Inflated));
            for (all, (fractional, inflated)) in all.iter().zip(fractional.iter().zip(inflated)) {
                assert!((fractional - all).abs() < 1e-9 * all.abs(), "{fractional} {all}");
                assert!((inflated - 7.0 * all).abs() < 1e-8 * all.abs(), "{inflated} {all}");
            }
        }
    }
}

#[test]
fn rows_are_those_of_the_shard() {
    let model = NormalMean::simulate(10);
    let rows = vec![vec![9, 1, 4], vec![0, 2, 3, 5, 6, 7, 8]];
    let shard = Shards::from_rows(10, rows).unwrap().tempering(Tempering::Inflated).shard(0).unwrap();
    let mut evaluator = shard.target(model.target()).evaluator(&vec![0.0]).unwrap();
    // The indices are sorted: 1, 4, 9. The likelihood has the power 2.
    let mut gradient = [0.0];
    let weights = [10.0, 1.0];
    evaluator.likelihood(&[0.0], Rows::list(&[2, 0]).weighted(&weights).unwrap(), &mut gradient).unwrap();
    assert!((gradient[0] - 2.0 * (10.0 * model.0[9] + model.0[1])).abs() < 1e-12);
    let mut each = [0.0; 2];
    evaluator.gradient_per_observation(&[0.0], Rows::range(1..3), &mut each).unwrap();
    let close = |found: [f64; 2], expected: [f64; 2]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
    assert!(close(each, [2.0 * model.0[4], 2.0 * model.0[9]]));
    evaluator.log_likelihood_per_observation(&[0.0], Rows::range(1..3), &mut each).unwrap();
    assert!(close(each, [-0.5 * model.0[4].powi(2), -0.5 * model.0[9].powi(2)]));
    assert!(evaluator.likelihood(&[0.0], Rows::range(0..4), &mut gradient).is_err());
    assert!(evaluator.likelihood(&[0.0], Rows::range(9..9), &mut gradient).unwrap().abs() < 1e-300);
    let other = Shards::random(11, 2, 0).unwrap().shard(0).unwrap().target(model.target());
    assert!(other.evaluator(&vec![0.0]).unwrap_err().to_string().contains("divide the data set of the run"));
}

fn sgld_cv(model: &NormalMean, shard: &Shard, draws: usize) -> sgmcmc_gradient::Result<sgmcmc_fit::Fit> {
    // Control variates have no noise on this model; the bias of SGLD is hA/4 of the variance.
    let gradient = ControlVariate::new(WithoutReplacement::new(5));
    Builder::new(shard.target(model.target()), Sgld, gradient, 4e-4)
        .find_mode(AutoSearch::default())
        .seed(shard.seed(3))
        .chains(2)
        .burn_in(200)
        .sample(&vec![0.0], draws)
}

/// SGLD-CV on every shard, combined by the methods that are exact here, equals the posterior within Monte Carlo error.
#[test]
fn shards_give_the_posterior_of_a_conjugate_model() {
    let model = NormalMean::simulate(400);
    let (mean, variance) = model.posterior();
    let shards = Shards::random(400, 4, 2).unwrap();
    let fits = shards.run(|shard| sgld_cv(&model, shard, 30_000));
    assert!(fits.failures().is_empty());
    let methods: [Box<dyn Combination>; 3] =
        [Box::new(Consensus::default()), Box::new(GaussianProduct::default()), Box::new(Swiss)];
    // The relaxation time of a shard is 2/(hA_s) steps, and a variance needs half of it.
    let curvature = (PRIOR_PRECISION + 400.0) / 4.0;
    let effective = 2.0 * 30_000.0 * 4e-4 * curvature / 4.0;
    for method in methods {
        let fit = fits.combine(method.as_ref(), 1).unwrap();
        let draws: Vec<f64> = fit.element("theta").unwrap().concat();
        let n = draws.len() as f64;
        let found_mean = draws.iter().sum::<f64>() / n;
        let found_variance = draws.iter().map(|x| (x - found_mean).powi(2)).sum::<f64>() / n;
        let bias = 4e-4 * curvature / 4.0;
        let mean_error = (found_mean - mean).abs() / (variance / effective).sqrt();
        let variance_error = (found_variance / variance - 1.0 - bias).abs() / (2.0 / effective).sqrt();
        assert!(mean_error < 4.0 && variance_error < 4.0, "{method:?}: {mean_error} {variance_error}");
        assert_eq!(fit.info().observations, 400);
        assert_eq!(
            fit.chains().len(),
            match method.name() {
                "consensus" => 2,
                "swiss" => 8,
                _ => 1,
            }
        );
    }
}

#[test]
fn a_shard_that_fails_is_named_and_the_others_continue() {
    let model = NormalMean::simulate(40);
    let shards = Shards::random(40, 4, 2).unwrap();
    let sample = |shard: &Shard| {
        // Shard 2 diverges, shard 3 panics.
        assert!(shard.index() != 3, "boom");
        let h = if shard.index() == 2 { 1e3 } else { 1e-3 };
        Builder::new(shard.target(model.target()), Sgld, FullGradient, h).seed(shard.seed(1)).sample(&vec![0.0], 500)
    };
    let mut fits = shards.run(sample);
    let failures = fits.failures();
    assert_eq!(
        failures.iter().map(|failure| (failure.shard, failure.chain)).collect::<Vec<_>>(),
        [(2, Some(0)), (3, None)]
    );
    assert_eq!(fits.fit(0).unwrap().outcomes(), [ChainOutcome::Complete]);
    let message = fits.combine(&Consensus::default(), 0).unwrap_err().to_string();
    assert!(
        message.contains("shard 2, chain 0") && message.contains("shard 3: ") && message.contains("boom"),
        "{message}"
    );
    for index in [2, 3] {
        let fit = sgld_cv(&model, &shards.shard(index).unwrap(), 250).unwrap();
        fits.replace(index, fit);
    }
    assert!(fits.combine(&Consensus::default(), 0).is_ok());
}

#[test]
fn shards_resume_from_their_own_checkpoints() {
    let model = NormalMean::simulate(40);
    let shards = Shards::random(40, 2, 2).unwrap();
    let stores = [InMemoryCheckpoints::default(), InMemoryCheckpoints::default()];
    let run = |draws| {
        shards.run(|shard| {
            Builder::new(shard.target(model.target()), Sgld, FullGradient, 1e-3)
                .seed(shard.seed(1))
                .checkpoint(stores[shard.index()].clone(), CheckpointInterval::Steps(50))
                .sample(&vec![0.0], draws)
        })
    };
    run(100);
    let resumed = run(200);
    let whole = shards.run(|shard| {
        Builder::new(shard.target(model.target()), Sgld, FullGradient, 1e-3).seed(shard.seed(1)).sample(&vec![0.0], 200)
    });
    for shard in 0..2 {
        assert_eq!(resumed.fit(shard).unwrap().chains(), whole.fit(shard).unwrap().chains());
    }
    // Another division is another run.
    let other = Shards::random(40, 2, 3).unwrap().shard(0).unwrap();
    let error = Builder::new(other.target(model.target()), Sgld, FullGradient, 1e-3)
        .seed(other.seed(1))
        .checkpoint(stores[0].clone(), CheckpointInterval::Steps(50))
        .sample(&vec![0.0], 200)
        .unwrap_err();
    assert!(matches!(error, RunError::Checkpoint { .. }), "{error}");
}

#[test]
fn sets_of_fits_are_checked() {
    let model = NormalMean::simulate(40);
    let shards = Shards::random(40, 3, 2).unwrap();
    let hmc = |shard: &Shard, seed| {
        Builder::new(shard.target(model.target()), Hmc::default(), FullGradient, 0.01)
            .seed(seed)
            .sample(&vec![0.0], 100)
    };
    let fits = shards.run(|shard| hmc(shard, shard.seed(1))).into_fits().unwrap();
    let combine = |fits: &[sgmcmc_fit::Fit]| combine_fits(fits, &Consensus::default(), CombineOptions::default());
    let message = |fits: &[sgmcmc_fit::Fit]| combine(fits).unwrap_err().to_string();
    // The order does not matter.
    let [a, b, c] = [0, 1, 2].map(|k| fits[k].clone());
    let values = |fits: &[sgmcmc_fit::Fit]| combine(fits).unwrap().chains()[0].values().to_vec();
    assert_eq!(values(&[c, a.clone(), b.clone()]), values(&fits));
    assert!(message(&fits[..2]).contains("missing: 2"), "{}", message(&fits[..2]));
    assert!(message(&[a.clone(), a.clone(), b.clone()]).contains("shard 0 is given twice"));
    let foreign = hmc(&Shards::random(40, 2, 2).unwrap().shard(0).unwrap(), 9).unwrap();
    assert!(message(&[a.clone(), b.clone(), foreign]).contains("does not know its shard"));
    let same = shards.run(|shard| hmc(shard, 5)).into_fits().unwrap();
    assert!(matches!(combine(&same), Err(combine::Error::RepeatedSeed { one: 0, other: 1, seed: 5 })));
    let inflated = shards.clone().tempering(Tempering::Inflated).run(|shard| hmc(shard, shard.seed(1)));
    assert!(matches!(
        combine(&inflated.clone().into_fits().unwrap()),
        Err(combine::Error::Tempering { found: Tempering::Inflated, .. })
    ));
    assert!(inflated.combine(&Swiss, 0).is_ok());
    // One shard is the posterior.
    let one = Shards::consecutive(40, 1).unwrap().run(|shard| hmc(shard, 5));
    let fit = one.combine(&Consensus::default(), 0).unwrap();
    assert_eq!(fit.chains(), one.fit(0).unwrap().chains());
    assert_eq!(fit.info().shard, None);
}
