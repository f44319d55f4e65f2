//! Draws of a run: their order, weights and summaries, in memory and in sinks.

use sgmcmc::TreeLayout;
use sgmcmc::data::Precision;
use sgmcmc::distributions::Normal;
use sgmcmc::fit::ChainOutcome;
use sgmcmc::mode::ModeSearch;
use sgmcmc::prelude::*;
use sgmcmc::sink::{Moments, Quantiles, SecondMoments, TestFunction};
use sgmcmc_testkit::models::normal_mean::{self, NormalMean};
use sgmcmc_testkit::models::{Case, logistic, normals};

use super::{logistic_data, logistic_start};

#[test]
fn sample_is_a_loop_over_step() {
    for precision in [Precision::Single, Precision::Double] {
        let (model, data) = (logistic::model(), logistic_data(100).with_precision(precision));
        let run = sgld(&model, &data, 1e-3).minibatch(10).seed(5).burn_in(7).thin(3);
        let fit = run.sample(&logistic_start(), 20).unwrap();
        let mut sampler = run.start(&logistic_start()).unwrap();
        let mut rows = fit.chains()[0].rows();
        for iteration in 1..=67 {
            sampler.step().unwrap();
            if iteration > 7 && (iteration - 7) % 3 == 0 {
                assert_eq!(rows.next().unwrap(), sampler.position(), "{precision:?}, iteration {iteration}");
            }
        }
        assert!(rows.next().is_none());
        assert_eq!(fit.chains()[0].iterations()[19], 67);
        assert_eq!(sampler.layout().flatten(&sampler.params().unwrap()).unwrap(), sampler.position());
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (model, data) = (logistic::model(), logistic_data(100));
    let run = || sgld(&model, &data, 1e-3).minibatch(10).seed(5).chains(4).sample(&logistic_start(), 30).unwrap();
    let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run);
    let (serial, parallel) = (on(1), on(4));
    assert_eq!(serial.chains(), parallel.chains());
    assert_ne!(serial.chains()[0], serial.chains()[1]);
}

/// The posterior of a normal mean is known: control variates from the mode find it.
#[test]
fn the_posterior_of_a_normal_mean_is_found_from_the_mode() {
    let n = 2000;
    let (model, data) = (normal_mean::model(), NormalMean::simulate(n, 1).posterior.data().clone());
    let precision = n as f64 + 0.01;
    let h = 0.2 / precision;
    let fit = sgldcv(&model, &data, h).minibatch(50).seed(2).chains(2).sample(&full([1], 3.0), 4000).unwrap();
    let mode = fit.mode().unwrap();
    let exact = normals(n, 1).iter().sum::<f64>() / precision;
    assert!((mode.theta[0] - exact).abs() * precision.sqrt() < 0.1, "the mode is off: {mode}");
    let row = *fit.summary().row("theta").unwrap();
    // SGLD with an exact gradient: variance h/(1 − ρ²), ρ = 1 − hA/2, is 5 % above 1/A here.
    let sd = (h / (1.0 - (1.0 - 0.5 * h * precision).powi(2))).sqrt();
    let error = sd / row.ess_bulk.sqrt();
    assert!((row.mean - exact).abs() < 5.0 * error, "mean {} against {exact} ± {error}", row.mean);
    assert!((row.sd / sd - 1.0).abs() < 0.1, "sd {} against {sd}", row.sd);
    assert!(row.ess_bulk > 300.0 && row.ess_bulk < 2000.0, "ess {}", row.ess_bulk);
    // 89 % of a normal distribution is within 1.598 standard deviations.
    let width = (row.eti89_ub - row.eti89_lb) / (2.0 * 1.598 * sd);
    assert!((width - 1.0).abs() < 0.1, "{width}");
}

#[test]
fn draws_carry_their_step_size_as_weight() {
    let (model, data) = (normal_mean::model(), NormalMean::simulate(50, 1).posterior.data().clone());
    let fit = ula(&model, &data, |t: u64| 1e-3 / (1.0 + t as f64)).sample(&zeros([1]), 4).unwrap();
    let weights = fit.chains()[0].weights();
    assert_eq!(weights, [1e-3, 1e-3 / 2.0, 1e-3 / 3.0, 1e-3 / 4.0]);
    let draws = &fit.element("theta").unwrap()[0];
    let total: f64 = weights.iter().sum();
    let expected = draws.iter().zip(weights).map(|(x, w)| w * x).sum::<f64>() / total;
    assert!((fit.summary().row("theta").unwrap().mean - expected).abs() < 1e-15);
}

#[test]
fn sinks_see_what_memory_keeps() {
    let (model, data) = (logistic::model(), logistic_data(100));
    let run = sgld(&model, &data, 1e-3).minibatch(10).seed(5).chains(2);
    let fit = run.sample(&logistic_start(), 50).unwrap();
    let sinks = run
        .sample_into(&logistic_start(), 50, |_| {
            (Moments::new(SecondMoments::Covariance), TestFunction::new(|values: &[f64]| Ok(values[2])))
        })
        .unwrap();
    let (first, ending) = &sinks[0];
    assert_eq!(*ending, ChainOutcome::Complete);
    assert_eq!(first.1.values, fit.chains()[0].element(2));
    let mean = first.1.values.iter().sum::<f64>() / 50.0;
    assert!((first.0.mean()[2] - mean).abs() < 1e-12);
    assert_eq!(first.0.covariance().unwrap().len(), 36);
}

#[test]
fn streaming_quantiles_are_those_of_the_draws() {
    let (model, data) = (normal_mean::model(), NormalMean::simulate(50, 1).posterior.data().clone());
    let run = sgld(&model, &data, 1e-3).minibatch(10).seed(8);
    let fit = run.sample(&zeros([1]), 2000).unwrap();
    let streamed = run.sample_into(&zeros([1]), 2000, |_| Quantiles::new()).unwrap();
    let row = *fit.summary().row("theta").unwrap();
    let median: Vec<f64> = fit.quantile(&zeros([1]), 0.5).unwrap().into_data().iter::<f64>().collect();
    for (p, exact) in [(0.055, row.eti89_lb), (0.5, median[0]), (0.945, row.eti89_ub)] {
        let found = streamed[0].0[0].quantile(p);
        assert!((found - exact).abs() < 0.02 * row.sd, "p {p}: {found} against {exact}");
    }
}

#[test]
fn a_mode_search_that_ran_out_of_iterations_is_reported() {
    let (model, data) = (logistic::model(), logistic_data(100));
    let run = sgldcv(&model, &data, 1e-3).find_mode(ModeSearch::as_in_r(1e-3, 3)).minibatch(10);
    let fit = run.sample(&logistic_start(), 5).unwrap();
    assert!(fit.summary().warnings()[0].contains("stopped at the iteration limit after 3 steps"));
}

/// Chains run on threads with a small stack, on which a closure of many operations is compiled too.
#[test]
fn long_closures_run_on_the_threads_of_chains() {
    let long = Model::density(|p: Tensor<1>| {
        let x = (0..3000).fold(p.clone(), |x, _| x.tanh() + p.clone() * 0.5);
        (x - p).square() * -0.5
    });
    let fit = hmc(&long, &Dataset::none(), 0.01).chains(4).seed(1).sample(&full([1], 0.1), 20).unwrap();
    assert!(fit.outcomes().iter().all(|outcome| *outcome == ChainOutcome::Complete), "{:?}", fit.outcomes());
    assert!(fit.chains().iter().all(|chain| chain.len() == 20));
}

/// The likelihood of a hidden Markov model with two states, whose forward recursion is written as a loop.
#[test]
fn a_hidden_markov_model_written_as_a_loop_runs() {
    const T: usize = 200;
    let y: Vec<f64> = (0..T).map(|t| if t / 20 % 2 == 0 { 1.0 } else { -1.0 } + 0.3 * (t as f64).sin()).collect();
    let data = Dataset::new(array(y, [1, T]).unwrap()).unwrap();
    let model = Model::new(|means: Tensor<1>, y: Tensor<2>| {
        let mean = |state: usize| means.clone().narrow(0, state, 1);
        let density = |state: usize, y: Tensor<1>| Normal::new(mean(state), 0.5).log_prob(y).exp();
        let at = |t: usize| y.clone().narrow(1, t, 1).squeeze_dim::<1>(1);
        let (mut low, mut high) = (density(0, at(0)) * 0.5, density(1, at(0)) * 0.5);
        let mut log_likelihood = (low.clone() + high.clone()).log();
        for t in 1..T {
            let sum = low.clone() + high.clone();
            let (a, b) = (low / sum.clone(), high / sum);
            low = (a.clone() * 0.9 + b.clone() * 0.1) * density(0, at(t));
            high = (a * 0.1 + b * 0.9) * density(1, at(t));
            log_likelihood = log_likelihood + (low.clone() + high.clone()).log();
        }
        log_likelihood
    })
    .prior(|means: Tensor<1>| Normal::new(0.0, 2.0).log_prob(means).sum());
    let start = array(vec![-0.5, 0.5], [2]).unwrap();
    // With jitter, the states of a chain may be exchanged.
    let fit = hmc(&model, &data, 1e-3).chains(2).jitter(0.0).burn_in(50).seed(1).sample(&start, 150).unwrap();
    assert!(fit.outcomes().iter().all(|outcome| *outcome == ChainOutcome::Complete), "{:?}", fit.outcomes());
    let means: Vec<f64> = fit.summary().rows().iter().map(|row| row.mean).collect();
    assert!((means[0] + 1.0).abs() < 0.2 && (means[1] - 1.0).abs() < 0.2, "{means:?}");
}
