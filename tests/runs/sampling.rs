//! Running chains: stepwise and in one call, on threads, stopped and resumed, and when things go wrong.

use sgmcmc::TreeLayout;
use sgmcmc::gradient::Target;
use std::fmt::Debug;
use std::sync::Arc;

use sgmcmc::algorithms::{
    Adaptation, Badodab, Baoab, Chain, ChainSpec, Covariance, CyclicalSgld, Dynamics, Hamcmc, HmcBfgs, InitialScale,
    InverseHessian, Metric, NoiseEstimate, Preconditioned, Psgld, Qnhmc, QuasiNewtonMass, Sgfs, Sghmc, Sgld, Sgnht,
    Sgrld, Thermostats,
};
use sgmcmc::algorithms::{CorrectedLangevin, DualAveraging, Hmc, Mala};
use sgmcmc::data::Precision;
use sgmcmc::fit::ChainOutcome;
use sgmcmc::gradient::Error;
use sgmcmc::gradient::{ControlVariate, FullGradient, GradientEstimator, MinibatchGradient, Saga, Svrg};
use sgmcmc::minibatch::{Epochs, WithReplacement, WithoutReplacement};
use sgmcmc::mode::ModeSearch;
use sgmcmc::prelude::*;
use sgmcmc::presets::{sgld, sgldcv, ula};
use sgmcmc::rng::ChainRng;
use sgmcmc::run::SamplingThreshold;
use sgmcmc::schedule::CyclicalCosine;
use sgmcmc::schedule::PerParameter;
use sgmcmc::sink::{Moments, Quantiles, Spread, TestFunction};
use sgmcmc::{Builder, Starts, StepSize};
use sgmcmc_testkit::models::logistic::{self, Logistic};
use sgmcmc_testkit::models::normal_mean::{self, NormalMean};
use sgmcmc_testkit::models::{Case, normals};

/// Runs `$check!(dynamics, gradient)` over every algorithm on every estimator.
macro_rules! over_all_kernels {
    ($check:ident) => {
        over_all_kernels!(@dynamics $check: Sgld, Sghmc::default(),
            Sghmc { alpha: by_name(0.1, 0.3), noise: NoiseEstimate::FisherScoring, ..Sghmc::default() },
            Sgnht { a: by_name(0.1, 0.3), ..Sgnht::default() }, Baoab::default(),
            Badodab { a: by_name(0.1, 0.3), ..Badodab::default() }, CyclicalSgld::new(7));
        over_all_kernels!(@few $check:
            Preconditioned::diagonal(vec![0.5, 1.0, 2.0, 0.1, 0.3, 1.0]), correlated(), Psgld::default(),
            Psgld { gamma: true, ..Psgld::default() }, Sgrld::new(shrinking()), Sgfs::default(), Sgfs::diagonal(),
            Hamcmc::default(), Hamcmc { memory: 5, lambda: 0.1, gamma: InitialScale::Newest(0.1) });
        over_all_kernels!(@exact $check: Mala::default(), Mala { adapt: SEARCH, ..Mala::default() }, Hmc::default(),
            Hmc { jitter: 0.5, adapt: SEARCH, ..Hmc::default() }, Qnhmc { learning: Adaptation::First(16), ..QNHMC },
            Qnhmc { inverse_hessian: InverseHessian::Lbfgs { memory: 3, gamma: InitialScale::Newest(1.0) }, learning: Adaptation::Continual, ..QNHMC },
            Qnhmc { mass: PUBLISHED, learning: Adaptation::First(16), ..QNHMC },
            Qnhmc { mass: PUBLISHED, inverse_hessian: InverseHessian::Lbfgs { memory: 3, gamma: InitialScale::Newest(1.0) }, ..QNHMC },
            HmcBfgs { adapt: SEARCH, ..HmcBfgs::default() }, CorrectedLangevin::new(shrinking()));
    };
    // One estimator of each kind: without minibatches, with them, with a memory. All of them would double the time to compile this file.
    (@few $check:ident: $($dynamics:expr),+) => {
        $(
            $check($dynamics, FullGradient);
            $check($dynamics, MinibatchGradient::new(WithoutReplacement::new(10)));
            $check($dynamics, Svrg::new(WithoutReplacement::new(10), 4));
        )+
    };
    (@exact $check:ident: $($dynamics:expr),+) => {
        $($check($dynamics, FullGradient);)+
    };
    (@dynamics $check:ident: $($dynamics:expr),+) => {
        $(
            $check($dynamics, FullGradient);
            $check($dynamics, MinibatchGradient::new(WithoutReplacement::new(10)));
            $check($dynamics, MinibatchGradient::new(Epochs::new(7)));
            $check($dynamics, ControlVariate::new(WithReplacement::new(10)));
            $check($dynamics, Svrg::new(WithoutReplacement::new(10), 4));
            $check($dynamics, Saga::new(WithoutReplacement::new(10)));
        )+
    };
}

/// A search for the step size that ends within the tests.
const SEARCH: Option<DualAveraging> = Some(DualAveraging { iterations: 16, acceptance: 0.8 });

/// The mass of QNHMC in its paper.
const PUBLISHED: QuasiNewtonMass = QuasiNewtonMass::Published { covariance: Covariance::UNIT };

/// QNHMC by its settings, as a constant.
const QNHMC: Qnhmc = Qnhmc {
    steps: 3,
    jitter: 0.0,
    mass: QuasiNewtonMass::Whitening,
    inverse_hessian: InverseHessian::Bfgs,
    learning: Adaptation::Continual,
    adapt: None,
};

/// Frictions of the two parameters of the logistic regression; nobody has the common one.
fn by_name(bias: f64, beta: f64) -> PerParameter<f64> {
    PerParameter::from(0.9).parameter("bias", bias).parameter("beta", beta)
}

/// A dense matrix for the six coordinates.
fn correlated() -> Preconditioned {
    let entry = |k: usize| if k / 6 == k % 6 { 1.0 } else { 0.3 };
    Preconditioned::dense(&(0..36).map(entry).collect::<Vec<_>>(), 6).unwrap()
}

/// A metric that depends on θ.
fn shrinking() -> Metric {
    Metric::diagonal(|theta, m| m.iter_mut().zip(theta).for_each(|(m, theta)| *m = 1.0 / (1.0 + theta * theta)))
}

fn kernel<D, G>(dynamics: D, gradient: G, seed: u64) -> impl Chain
where
    G: GradientEstimator + Debug,
    D: Dynamics<G> + Debug,
{
    let simulated = Logistic::simulate(60, 1);
    let recipe = ChainSpec {
        dynamics: Arc::new(dynamics),
        gradient: Arc::new(gradient),
        step_size: StepSize::from(1e-3).parameter("bias", 5e-4),
        temperature: 1.0.into(),
    };
    let evaluator = simulated.by_hand.evaluator(&simulated.start).unwrap();
    recipe.start(evaluator, &[0.1; 6], ChainRng::new(seed, 0)).unwrap()
}

fn path(kernel: &mut dyn Chain, steps: usize) -> Vec<Vec<f64>> {
    (0..steps)
        .map(|_| {
            kernel.step().unwrap();
            kernel.position().to_vec()
        })
        .collect()
}

#[test]
fn the_same_seed_gives_the_same_path_and_starting_does_not_move() {
    fn check<D: Dynamics<G> + Debug + Clone, G: GradientEstimator + Debug + Clone>(dynamics: D, gradient: G) {
        let mut first = kernel(dynamics.clone(), gradient.clone(), 3);
        assert_eq!(first.position(), [0.1; 6]);
        let first = path(&mut first, 20);
        assert_eq!(first, path(&mut kernel(dynamics.clone(), gradient.clone(), 3), 20));
        assert_ne!(first, path(&mut kernel(dynamics, gradient, 4), 20));
    }
    over_all_kernels!(check);
}

#[test]
fn a_chain_stopped_and_resumed_goes_on_bit_for_bit() {
    fn check<D: Dynamics<G> + Debug + Clone, G: GradientEstimator + Debug + Clone>(dynamics: D, gradient: G) {
        let mut chain = kernel(dynamics.clone(), gradient.clone(), 3);
        path(&mut chain, 13);
        let saved = chain.save().unwrap();
        // Resumed by a chain that has been somewhere else.
        let mut resumed = kernel(dynamics, gradient, 99);
        path(&mut resumed, 5);
        resumed.restore(&saved).unwrap();
        assert_eq!(chain.info(), resumed.info());
        assert_eq!(path(&mut chain, 20), path(&mut resumed, 20));
    }
    over_all_kernels!(check);
}

/// The same number for every name is that number for all, whatever the common one says.
#[test]
fn equal_frictions_by_name_are_one_friction() {
    let gradient = || MinibatchGradient::new(WithoutReplacement::new(10));
    macro_rules! reduces {
        ($($dynamics:ident { $field:ident $(, $other:ident: $value:expr)* })+) => {$(
            let run = |$field| {
                let dynamics = $dynamics { $field, $($other: $value,)* ..$dynamics::default() };
                path(&mut kernel(dynamics, gradient(), 3), 20)
            };
            assert_eq!(run(by_name(0.2, 0.2)), run(0.2.into()));
            assert_ne!(run(by_name(0.2, 0.3)), run(0.2.into()));
        )+};
    }
    reduces! {
        Sghmc { alpha } Sghmc { alpha, noise: NoiseEstimate::FisherScoring } Sgnht { a } Badodab { a }
    }
    let global = |a| path(&mut kernel(Sgnht { a, thermostats: Thermostats::Global }, gradient(), 3), 20);
    assert_eq!(global(by_name(0.2, 0.2)), global(0.2.into()));
}

/// Noise that outweighs the friction takes all of the injected noise away and no more: with steps that long nothing is left to draw.
#[test]
fn estimated_noise_takes_no_more_than_is_injected() {
    let simulated = Logistic::simulate(60, 1);
    for (bias, beta) in [(0.1, 0.9), (0.9, 0.1)] {
        let chain = |seed| {
            let recipe = ChainSpec {
                dynamics: Arc::new(Sghmc { alpha: by_name(bias, beta), steps: 2, noise: NoiseEstimate::FisherScoring }),
                gradient: Arc::new(MinibatchGradient::new(WithoutReplacement::new(10))),
                step_size: 1e4.into(),
                temperature: 1.0.into(),
            };
            let evaluator = simulated.by_hand.evaluator(&simulated.start).unwrap();
            recipe.start(evaluator, &[0.1; 6], ChainRng::new(seed, 0)).unwrap()
        };
        let mut first = chain(3);
        first.step().unwrap();
        let saved = first.save().unwrap();
        first.step().unwrap();
        // The same minibatches with other noise: the same step, because there is no noise left.
        let mut second = chain(3);
        second.restore(&saved).unwrap();
        *second.noise() = chain(4).noise().clone();
        second.step().unwrap();
        assert_eq!(first.position(), second.position());
    }
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let mut chain = kernel(Sgld, FullGradient, 1);
    let saved = chain.save().unwrap();
    let error = chain.restore(&saved[..saved.len() / 2]).unwrap_err();
    assert!(error.to_string().contains("the checkpoint cannot be used"), "{error}");
}

fn logistic_data(n: usize) -> Dataset<logistic::Observations> {
    Logistic::simulate(n, 1).posterior.data().clone()
}

fn logistic_start() -> logistic::Weights {
    Logistic::simulate(2, 1).start
}

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

#[test]
fn chains_start_where_they_are_told() {
    let (model, data) = (normal_mean::model(), NormalMean::simulate(50, 1).posterior.data().clone());
    // Steps so small that a chain stays where it starts.
    let run = ula(&model, &data, 1e-20).chains(3).seed(1);
    let first = |fit: &sgmcmc::Fit| fit.element("theta").unwrap().iter().map(|chain| chain[0]).collect::<Vec<f64>>();
    let each = [full([1], 1.0), full([1], 2.0), full([1], 3.0)];
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(close(&first(&run.sample(&each[..], 1).unwrap()), &[1.0, 2.0, 3.0]));
    let drawn = run.sample(Starts::drawn(|rng| full([1], rand::RngExt::random_range(rng, 5.0..6.0))), 1).unwrap();
    let drawn = first(&drawn);
    assert!(drawn.iter().all(|x| (5.0..6.0).contains(x)) && (drawn[0] - drawn[1]).abs() > 1e-6);
    let jittered = first(&run.clone().jitter(1e10).sample(&zeros([1]), 1).unwrap());
    assert!(jittered.iter().all(|x| *x != 0.0 && x.abs() < 10.0) && (jittered[0] - jittered[1]).abs() > 1e-6);
    let error = run.sample(&each[..2], 1).unwrap_err().to_string();
    assert!(error.contains("one per chain") && error.contains("length 2, expected 3"), "{error}");
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
    let row = fit.summary().row("theta").unwrap().clone();
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
            (Moments::new(Spread::Covariance), TestFunction::new(|values: &[f64]| Ok(values[2])))
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
fn a_chain_that_diverges_keeps_its_draws_and_names_the_parameter() {
    // 100 observations with gradient one each and h = 0.01: steps of one half, without noise. Beyond 2.2 the density is NaN.
    let upward = Model::new(|theta: Tensor<1>, x: Tensor<1>| {
        let value = theta.to_data().iter::<f64>().next().unwrap();
        let terms = x + theta;
        if value > 2.2 { terms * f64::NAN } else { terms }
    });
    let data = Dataset::new(zeros([100])).unwrap();
    let run = Builder::new(upward.with(&data), Sgld, FullGradient, 0.01).temperature(0.0);
    let fit = run.sample(&zeros([1]), 50).unwrap();
    assert_eq!(fit.chains()[0].element(0), [0.5, 1.0, 1.5, 2.0, 2.5]);
    let ChainOutcome::Failed(error) = &fit.outcomes()[0] else { panic!("the chain did not fail") };
    let message = error.to_string();
    assert!(message.contains("`theta`") && message.contains("iteration 6"), "{message}");
    assert!(message.contains("smaller step"), "{message}");
    assert!(fit.summary().to_string().contains("chain 0 ended after 5 draws"));
}

#[test]
fn one_failing_chain_leaves_the_others_alone() {
    let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| {
        assert!(theta.to_data().iter::<f64>().next().unwrap() < 100.5, "beyond the edge of the world");
        x + theta
    });
    let data = Dataset::new(zeros([100])).unwrap();
    let run = Builder::new(model.with(&data), Sgld, FullGradient, 0.01).temperature(0.0).chains(4);
    let starts = [full([1], 0.0), full([1], 1.0), full([1], 99.0), full([1], 2.0)];
    let fit = run.sample(&starts[..], 10).unwrap();
    let lengths: Vec<usize> = fit.chains().iter().map(|chain| chain.len()).collect();
    assert_eq!(lengths, [10, 10, 3, 10]);
    assert_eq!(fit.outcomes()[0], ChainOutcome::Complete);
    match &fit.outcomes()[2] {
        ChainOutcome::Failed(Error::ClosurePanicked { message, .. }) => assert!(message.contains("edge of the world")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn settings_out_of_range_are_named() {
    let (model, data) = (logistic::model(), logistic_data(100));
    let run = || sgld(&model, &data, 1e-3).minibatch(10);
    let start = logistic_start();
    let check = |error: Error, part: &str| assert!(error.to_string().contains(part), "{error}");
    check(run().chains(0).sample(&start, 5).unwrap_err(), "number of chains is 0");
    check(run().thin(0).sample(&start, 5).unwrap_err(), "thin is 0");
    check(run().minibatch(0).sample(&start, 5).unwrap_err(), "minibatch of 0");
    check(run().minibatch(0.001).start(&start).unwrap_err(), "rounds to 0");
    check(run().temperature(f64::NAN).start(&start).unwrap_err(), "temperature is NaN");
    check(run().jitter(-1.0).start(&start).unwrap_err(), "jitter is -1");
    check(sgld(&model, &data, 0.0).minibatch(10).start(&start).unwrap_err(), "step size is 0");
    let named = StepSize::from(1e-3).parameter("slope", 1e-4);
    check(sgld(&model, &data, named).minibatch(10).start(&start).unwrap_err(), "no parameter `slope`");
    let run = |dynamics| run().dynamics(dynamics).start(&start).unwrap_err();
    check(run(Sghmc { alpha: (-0.1).into(), ..Sghmc::default() }), "friction alpha is -0.1");
    check(run(Sghmc { alpha: by_name(0.1, 1.5), ..Sghmc::default() }), "friction alpha is 1.5");
    check(
        run(Sghmc { alpha: PerParameter::from(0.1).parameter("slope", 0.1), ..Sghmc::default() }),
        "no parameter `slope`",
    );
    let uneven = Sghmc { alpha: by_name(0.5, 0.1), noise: NoiseEstimate::Fixed(0.2), ..Sghmc::default() };
    check(run(uneven), "noise estimate is 0.2");
    check(run(Sghmc { steps: 0, ..Sghmc::default() }), "inner steps is 0");
    check(run(Sghmc { noise: NoiseEstimate::Fixed(0.5), ..Sghmc::default() }), "noise estimate is 0.5");
    let run = |dynamics| sgld(&model, &data, 1e-3).minibatch(10).dynamics(dynamics).start(&start).unwrap_err();
    check(run(Sgnht { a: by_name(0.1, -0.1), ..Sgnht::default() }), "noise a is -0.1");
    check(
        run(Sgnht { a: PerParameter::from(0.1).parameter("slope", 0.1), ..Sgnht::default() }),
        "no parameter `slope`",
    );
    check(run(Sgnht { a: by_name(0.1, 0.2), thermostats: Thermostats::Global }), "0.1 for one parameter and 0.2");
    let run = |dynamics| sgld(&model, &data, 1e-3).minibatch(10).dynamics(dynamics).start(&start).unwrap_err();
    check(run(Psgld { alpha: 1.1, ..Psgld::default() }), "memory alpha is 1.1");
    check(run(Psgld { lambda: 0.0, ..Psgld::default() }), "lambda is 0");
    let run = |dynamics| sgld(&model, &data, 1e-3).minibatch(10).dynamics(dynamics).start(&start).unwrap_err();
    check(run(Hamcmc { memory: 1, ..Hamcmc::default() }), "memory of HAMCMC is 1");
    check(run(Hamcmc { lambda: -1.0, ..Hamcmc::default() }), "lambda is -1");
    check(run(Hamcmc { gamma: InitialScale::Newest(0.0), ..Hamcmc::default() }), "gamma is 0");
    let run = |dynamics| sgld(&model, &data, 1e-3).minibatch(10).dynamics(dynamics).start(&start).unwrap_err();
    check(run(Preconditioned::diagonal(vec![1.0; 5])), "length 5, expected 6");
    check(run(Preconditioned::diagonal(vec![1.0, 1.0, 0.0, 1.0, 1.0, 1.0])), "entry of M is 0");
    check(
        Preconditioned::dense(&[1.0, 1.0, 1.0, 1.0], 2).unwrap_err(),
        "matrix is not positive definite: the pivot of row 1",
    );
    let run = |dynamics, step| Builder::new(model.with(&data), dynamics, FullGradient, step).start(&start).unwrap_err();
    check(run(Sgrld::new(Metric::diagonal(|_, m| m.fill(-1.0))), StepSize::from(1e-3)), "entry of M(theta) is -1");
    let uneven = StepSize::from(1e-3).parameter("bias", 1e-4);
    check(run(Sgrld::new(Metric::dense(|_, m| m.fill(1.0))), uneven), "different by parameter");
    let run = |dynamics, n: usize| sgld(&model, &data, 1e-3).minibatch(n).dynamics(dynamics).start(&start).unwrap();
    check(run(Sgfs::default(), 1).step().unwrap_err(), "minibatch is 1");
    let refused = sgld(&model, &data, 1e-3).dynamics(Sgfs { b: 0.0, ..Sgfs::default() }).start(&start).unwrap_err();
    check(refused, "b is 0");
    let huge = sgld(&model, &data, 1e-3).minibatch(10).sample(&start, 1 << 40).unwrap_err();
    check(huge, "Moments");
}

/// The α of a normal mean: h/4 times the variance of the gradient estimate, N(N − n)/n · s² without replacement.
fn exact_alpha(h: f64, n: usize) -> f64 {
    let x = normals(50, 1);
    let mean = x.iter().sum::<f64>() / 50.0;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 49.0;
    0.25 * h * (50 * (50 - n)) as f64 / n as f64 * variance
}

/// α falls with h; draws begin where it is small enough.
#[test]
fn draws_begin_at_the_sampling_threshold() {
    let (model, data) = (normal_mean::model(), NormalMean::simulate(50, 1).posterior.data().clone());
    let falling = |t: u64| 1e-2 / (1.0 + 0.1 * t as f64);
    let threshold = SamplingThreshold { alpha: 0.02, observations: 4000, every: 10, limit: 10_000 };
    let run = sgld(&model, &data, falling).minibatch(10).burn_in(20).collect_below(threshold);
    let fit = run.sample(&zeros([1]), 5).unwrap();
    let chain = &fit.chains()[0];
    for ((alpha, iteration), weight) in chain.stat("alpha").unwrap().iter().zip(chain.iterations()).zip(chain.weights())
    {
        // A variance from 4000 terms is known to 2.2 %: four standard errors.
        let expected = exact_alpha(falling(iteration - 1), 10);
        assert!((alpha / expected - 1.0).abs() < 0.09, "iteration {iteration}: {alpha} against {expected}");
        assert!((weight / falling(iteration - 1) - 1.0).abs() < 1e-12);
    }
    let first = chain.iterations()[0];
    assert!(first > 21 && (first - 21) % 10 == 0, "the first draw is of iteration {first}");
    assert!(exact_alpha(falling(first - 2), 10) < 0.022 && exact_alpha(falling(first - 12), 10) > 0.018);

    let never = SamplingThreshold { alpha: 1e-9, limit: 50, ..threshold };
    let run = sgld(&model, &data, 1e-3).minibatch(10).collect_below(never);
    let fit = run.sample(&zeros([1]), 5).unwrap();
    let ChainOutcome::Failed(error) = &fit.outcomes()[0] else { panic!("the threshold was reached") };
    assert!(error.to_string().contains("control variates"), "{error}");
}

/// α is that of the matrix and of the estimator of the run.
#[test]
fn the_sampling_threshold_knows_matrix_and_estimator() {
    let data = NormalMean::simulate(50, 1).posterior.data().clone();
    let alpha = |kernel: &mut dyn Chain| kernel.noise_ratio(4000).unwrap();
    fn chain<D, G>(data: &Dataset<Tensor<1>>, dynamics: D, gradient: G) -> impl Chain
    where
        D: Dynamics<G> + Debug,
        G: GradientEstimator + Debug,
    {
        let (dynamics, gradient) = (Arc::new(dynamics), Arc::new(gradient));
        let recipe = ChainSpec { dynamics, gradient, step_size: 1e-3.into(), temperature: 1.0.into() };
        let evaluator = normal_mean::model().with(data).evaluator(&zeros([1])).unwrap();
        recipe.start(evaluator, &[0.0], ChainRng::new(3, 0)).unwrap()
    }
    let close = |found: f64, expected: f64| {
        assert!((found / expected - 1.0).abs() < 0.09, "{found} against {expected}");
    };
    let batches = |n: usize| MinibatchGradient::new(WithoutReplacement::new(n));
    close(alpha(&mut chain(&data, Sgld, batches(10))), exact_alpha(1e-3, 10));
    let scaled = Preconditioned::diagonal(vec![7.0]);
    close(alpha(&mut chain(&data, scaled, batches(10))), 7.0 * exact_alpha(1e-3, 10));
    // With replacement there is no finite-population factor.
    let replaced = MinibatchGradient::new(WithReplacement::new(10));
    close(alpha(&mut chain(&data, Sgld, replaced)), exact_alpha(1e-3, 10) * 49.0 / 40.0);
    // On a normal mean control variates have no noise, and all observations have none.
    let controlled = ControlVariate::new(WithoutReplacement::new(10));
    assert!(alpha(&mut chain(&data, Sgld, controlled)).abs() < 1e-12);
    assert!(alpha(&mut chain(&data, Sgld, batches(50))).abs() < 1e-12);
    // Momentum with little friction amplifies gradient noise far beyond hV/4.
    let amplified = alpha(&mut chain(&data, Baoab { alpha: 0.01 }, batches(10))) / exact_alpha(1e-3, 10);
    assert!(amplified > 50.0, "{amplified}");
}

#[test]
fn streaming_quantiles_are_those_of_the_draws() {
    let (model, data) = (normal_mean::model(), NormalMean::simulate(50, 1).posterior.data().clone());
    let run = sgld(&model, &data, 1e-3).minibatch(10).seed(8);
    let fit = run.sample(&zeros([1]), 2000).unwrap();
    let streamed = run.sample_into(&zeros([1]), 2000, |_| Quantiles::new()).unwrap();
    let row = fit.summary().row("theta").unwrap().clone();
    let median: Vec<f64> = fit.quantile(&zeros([1]), 0.5).unwrap().into_data().iter::<f64>().collect();
    for (p, exact) in [(0.055, row.eti89_lb), (0.5, median[0]), (0.945, row.eti89_ub)] {
        let found = streamed[0].0[0].quantile(p);
        assert!((found - exact).abs() < 0.02 * row.sd, "p {p}: {found} against {exact}");
    }
}

#[test]
fn a_mode_search_that_ran_out_of_iterations_is_told() {
    let (model, data) = (logistic::model(), logistic_data(100));
    let run = sgldcv(&model, &data, 1e-3).find_mode(ModeSearch::as_in_r(1e-3, 3)).minibatch(10);
    let fit = run.sample(&logistic_start(), 5).unwrap();
    assert!(fit.summary().warnings()[0].contains("stopped at the iteration limit after 3 steps"));
}

/// The first quarter of every cycle explores: no noise, and no draws.
#[test]
fn cyclical_chains_draw_only_in_their_sampling_stage() {
    let (model, data) = (logistic::model(), logistic_data(100));
    let steps = CyclicalCosine { h: 1e-3, period: 8 };
    let run = ula(&model, &data, steps).dynamics(CyclicalSgld::new(8));
    let fit = run.sample(&logistic_start(), 12).unwrap();
    assert_eq!(fit.chains()[0].iterations(), [3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 16]);
    let mut exploring = run.start(&logistic_start()).unwrap();
    let mut climbing = ula(&model, &data, steps).temperature(0.0).start(&logistic_start()).unwrap();
    for iteration in 0..3 {
        exploring.step().unwrap();
        climbing.step().unwrap();
        assert_eq!(exploring.position() == climbing.position(), iteration < 2, "iteration {iteration}");
        assert_eq!(exploring.info().keeps_draw, iteration >= 2);
    }
}

/// A change here changes the draws of every user with a seed: it belongs in the changelog.
#[test]
fn first_draws_are_pinned() {
    fn tenth<D: Dynamics<MinibatchGradient> + Debug>(dynamics: D) -> f64 {
        let mut kernel = kernel(dynamics, MinibatchGradient::new(WithoutReplacement::new(10)), 13);
        path(&mut kernel, 10)[9].iter().sum()
    }
    let drawn = [
        tenth(Sgld),
        tenth(Sghmc::default()),
        tenth(Sgnht::default()),
        tenth(Baoab::default()),
        tenth(Badodab::default()),
        tenth(CyclicalSgld::new(7)),
        tenth(correlated()),
        tenth(Psgld::default()),
        tenth(Psgld { gamma: true, ..Psgld::default() }),
        tenth(Sgrld::new(shrinking())),
        tenth(Sgfs::default()),
        tenth(Sgfs::diagonal()),
        tenth(Hamcmc::default()),
    ];
    let pinned = [
        0.6805440112681063,
        0.1674328414036309,
        -0.38931995554558796,
        -0.05341784836482011,
        -0.4291924636015283,
        0.5789582110434346,
        0.5169976787066203,
        0.8203728843677491,
        0.9395470419217932,
        0.6773190996473387,
        0.6799600951358182,
        0.6786294169987698,
        0.7020386241385713,
    ];
    // The exponentials of different platforms differ in the last digit.
    let same = drawn.iter().zip(pinned).all(|(drawn, pinned)| (drawn - pinned).abs() < 1e-10);
    assert!(same, "{drawn:#?} are not {pinned:#?}");
}

/// In one call and step by step, on one thread and on four, in both precisions: the same draws, whatever the algorithm and estimator.
#[test]
fn every_kernel_draws_the_same_however_it_is_run() {
    fn check<D, G>(dynamics: D, gradient: G)
    where
        D: Dynamics<G> + Debug + Clone + 'static,
        G: GradientEstimator + Debug + Clone + 'static,
    {
        for precision in [Precision::Single, Precision::Double] {
            let target = logistic::model().with(&logistic_data(30).with_precision(precision));
            let run = Builder::new(target, dynamics.clone(), gradient.clone(), 1e-3).seed(5);
            let fit = run.sample(&logistic_start(), 4).unwrap();
            for chain in fit.chains() {
                let mut sampler = run.start(&logistic_start()).unwrap();
                for (row, iteration) in chain.rows().zip(chain.iterations()) {
                    while sampler.info().iterations < *iteration {
                        sampler.step().unwrap();
                    }
                    assert_eq!(row, sampler.position(), "{precision:?}");
                }
            }
            let chains = || run.clone().chains(3).sample(&logistic_start(), 2).unwrap();
            let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(chains);
            assert_eq!(on(1).chains(), on(4).chains(), "{precision:?}");
        }
    }
    over_all_kernels!(check);
}

/// What is put elsewhere from outside belongs to the newest of HAMCMC's samples: the other M − 1 chains go on from their own.
#[test]
fn hamcmc_moves_only_its_newest_sample_when_it_is_put_elsewhere() {
    let mut chain = kernel(Hamcmc { memory: 4, ..Hamcmc::default() }, FullGradient, 3);
    path(&mut chain, 9);
    let mut elsewhere = chain.position().to_vec();
    elsewhere[2] = 50.0;
    chain.relocate(&elsewhere).unwrap();
    assert_eq!(chain.position(), elsewhere);
    let positions = path(&mut chain, 4);
    assert!(positions[..3].iter().all(|position| position[2].abs() < 5.0), "{positions:?}");
    assert!((positions[3][2] - 50.0).abs() < 1.0, "{positions:?}");
}

/// A start for each chain is where it begins, also after a search for the mode; one start for all is moved to the mode.
#[test]
fn chains_with_their_own_starts_keep_them_after_a_mode_search() {
    let (model, data) = (normal_mean::model(), NormalMean::simulate(50, 1).posterior.data().clone());
    let run = sgldcv(&model, &data, 1e-20).minibatch(10).chains(3).seed(1).jitter(0.0);
    let first = |fit: &sgmcmc::Fit| fit.element("theta").unwrap().iter().map(|chain| chain[0]).collect::<Vec<f64>>();
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    let each = [full([1], 1.0), full([1], 2.0), full([1], 3.0)];
    let own = run.sample(&each[..], 1).unwrap();
    assert!(close(&first(&own), &[1.0, 2.0, 3.0]), "{:?}", first(&own));
    let mode = own.mode().unwrap().theta[0];
    let common = run.sample(&each[0], 1).unwrap();
    assert!(close(&first(&common), &[mode; 3]), "{:?}", first(&common));
}

/// The jitter of starts is in units of the noise of a step: √h times the root of the matrix.
#[test]
fn the_jitter_of_starts_has_the_scale_of_the_algorithm() {
    let (model, data) = (normal_mean::model(), NormalMean::simulate(50, 1).posterior.data().clone());
    fn starts<D>(model: &Model<Tensor<1>, Tensor<1>>, data: &Dataset<Tensor<1>>, dynamics: D) -> Vec<f64>
    where
        D: Dynamics<FullGradient> + Debug + Clone + 'static,
    {
        let run = ula(model, data, 1e-20).dynamics(dynamics).chains(3).seed(1).jitter(1e10);
        let fit = run.sample(&full([1], 0.3), 1).unwrap();
        let first: Vec<f64> = fit.chains().iter().map(|chain| chain.rows().next().unwrap()[0] - 0.3).collect();
        first
    }
    let plain = starts(&model, &data, Sgld);
    assert!(plain.iter().all(|x| x.abs() > 1e-3), "{plain:?}");
    let scaled = |found: Vec<f64>, factor: f64, name: &str| {
        let off = found.iter().zip(&plain).map(|(found, plain)| (found / (factor * plain) - 1.0).abs());
        assert!(off.fold(0.0, f64::max) < 1e-6, "{name}: {found:?} against {plain:?}");
    };
    scaled(starts(&model, &data, Preconditioned::diagonal(vec![1e-4])), 0.01, "preconditioned SGLD");
    let covariance = Covariance::diagonal(&[1e-4]).unwrap();
    scaled(starts(&model, &data, Hmc { covariance: covariance.clone(), ..Hmc::default() }), 0.01, "HMC");
    scaled(starts(&model, &data, Mala { covariance, adapt: None }), 0.01, "MALA");
    scaled(starts(&model, &data, Sgrld::new(Metric::diagonal(|_, m| m.fill(4.0)))), 2.0, "SGRLD");
    scaled(starts(&model, &data, Sgfs { b: 100.0, ..Sgfs::default() }), 0.1, "SGFS");
}

/// Step sizes that part after the first iteration are refused when they do.
#[test]
fn a_dense_metric_refuses_step_sizes_that_part_later() {
    let (model, data, start) = (logistic::model(), logistic_data(50), logistic_start());
    let unit = Metric::dense(|_, m| (0..36).for_each(|k| m[k] = f64::from(u8::from(k / 6 == k % 6))));
    let parting = StepSize::from(1e-3).parameter("bias", |t: u64| if t < 5 { 1e-3 } else { 1e-4 });
    let run = Builder::new(model.with(&data), Sgrld::new(unit), FullGradient, parting);
    let fit = run.sample(&start, 20).unwrap();
    assert_eq!(fit.chains()[0].len(), 5);
    let ChainOutcome::Failed(error) = &fit.outcomes()[0] else { panic!("the chain did not fail") };
    assert!(error.to_string().contains("different by parameter at iteration 5"), "{error}");
}

/// Epochs leave the stalest gradients to the observations that come next: SAGA is biased with them, and says so.
#[test]
fn saga_refuses_epochs() {
    let (model, data, start) = (logistic::model(), logistic_data(50), logistic_start());
    let run = Builder::new(model.with(&data), Sgld, Saga::new(Epochs::new(5)), 1e-3);
    let error = run.start(&start).unwrap_err().to_string();
    assert!(error.contains("epochs") && error.contains("Svrg"), "{error}");
}
