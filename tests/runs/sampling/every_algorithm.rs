//! Every algorithm on every kind of estimator: seeds, resumption, threads, and pinned draws.

use std::fmt::Debug;

use sgmcmc::algorithms::{
    Adaptation, AdaptiveSgld, Badodab, Baoab, Chain, Covariance, CyclicalSgld, DualAveraging, Dynamics, Hamcmc, Hmc,
    HmcBfgs, InitialScale, InverseHessian, Mala, Metric, NoiseEstimate, OrnsteinUhlenbeck, PreconditionedSgld, Psgld,
    Qnhmc, QuasiNewtonMass, RiemannianMala, Sgfs, Sghmc, Sgld, Sgnht, Sgrld, WarmUp,
};
use sgmcmc::data::Precision;
use sgmcmc::gradient::{ControlVariate, FullGradient, GradientEstimator, MinibatchGradient, Saga, Svrg};
use sgmcmc::minibatch::{Epochs, WithReplacement, WithoutReplacement};
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::logistic;

use super::{by_name, logistic_data, logistic_start, path, start_chain};

/// Runs `$check!(dynamics, gradient)` over every algorithm on every estimator.
macro_rules! over_all_algorithms {
    ($check:ident) => {
        over_all_algorithms!(@dynamics $check: Sgld, Sghmc::default(),
            Sghmc { alpha: by_name(0.1, 0.3), noise: NoiseEstimate::FisherScoring, ..Sghmc::default() },
            Sgnht { a: by_name(0.1, 0.3), ..Sgnht::default() }, Baoab::default(),
            Badodab { a: by_name(0.1, 0.3), ..Badodab::default() }, CyclicalSgld::new(7));
        over_all_algorithms!(@few $check:
            AdaptiveSgld::default(), whitened(),
            PreconditionedSgld::diagonal(vec![0.5, 1.0, 2.0, 0.1, 0.3, 1.0]), correlated(), ornstein_uhlenbeck(), Psgld::default(),
            Psgld { gamma: true, ..Psgld::default() }, Sgrld::new(shrinking()), Sgfs::default(), Sgfs::diagonal(),
            Hamcmc::default(), Hamcmc { memory: 5, lambda: 0.1, gamma: InitialScale::Newest(0.1) });
        over_all_algorithms!(@exact $check: Mala::default(), Mala { adapt: SEARCH, ..Mala::default() }, Hmc::default(),
            Hmc { jitter: 0.5, adapt: SEARCH, ..Hmc::default() }, Hmc { warm_up: Some(WarmUp::diagonal(20)), ..Hmc::default() },
            Hmc { jitter: 0.5, warm_up: Some(WarmUp::dense(20)), ..Hmc::default() }, Qnhmc { adaptation: Adaptation::First(16), ..QNHMC },
            Qnhmc { inverse_hessian: InverseHessian::Lbfgs { memory: 3, gamma: InitialScale::Newest(1.0) }, adaptation: Adaptation::Continual, ..QNHMC },
            Qnhmc { mass: PUBLISHED, adaptation: Adaptation::First(16), ..QNHMC },
            Qnhmc { mass: PUBLISHED, inverse_hessian: InverseHessian::Lbfgs { memory: 3, gamma: InitialScale::Newest(1.0) }, ..QNHMC },
            HmcBfgs { adapt: SEARCH, ..HmcBfgs::default() }, RiemannianMala::new(shrinking()));
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
const PUBLISHED: QuasiNewtonMass = QuasiNewtonMass::Published { covariance: Covariance::IDENTITY };

/// QNHMC by its settings, as a constant.
const QNHMC: Qnhmc = Qnhmc {
    steps: 3,
    jitter: 0.0,
    mass: QuasiNewtonMass::Whitening,
    inverse_hessian: InverseHessian::Bfgs,
    adaptation: Adaptation::Continual,
    adapt: None,
};

/// A dense matrix for the six coordinates.
fn equicorrelation() -> Vec<f64> {
    (0..36).map(|k| if k / 6 == k % 6 { 1.0 } else { 0.3 }).collect()
}

fn correlated() -> PreconditionedSgld {
    PreconditionedSgld::dense(&equicorrelation(), 6).unwrap()
}

fn ornstein_uhlenbeck() -> OrnsteinUhlenbeck {
    OrnsteinUhlenbeck { covariance: Covariance::dense(&equicorrelation()).unwrap() }
}

fn whitened() -> Baoab {
    Baoab { covariance: Covariance::dense(&equicorrelation()).unwrap(), ..Baoab::default() }
}

/// A metric that depends on θ.
fn shrinking() -> Metric {
    Metric::diagonal(|theta, m| m.iter_mut().zip(theta).for_each(|(m, theta)| *m = 1.0 / (1.0 + theta * theta)))
}

#[test]
fn the_same_seed_gives_the_same_path_and_starting_does_not_move() {
    fn check<D: Dynamics<G> + Debug + Clone, G: GradientEstimator + Debug + Clone>(dynamics: D, gradient: G) {
        let mut first = start_chain(dynamics.clone(), gradient.clone(), 3);
        assert_eq!(first.position(), [0.1; 6]);
        let first = path(&mut first, 20);
        assert_eq!(first, path(&mut start_chain(dynamics.clone(), gradient.clone(), 3), 20));
        assert_ne!(first, path(&mut start_chain(dynamics, gradient, 4), 20));
    }
    over_all_algorithms!(check);
}

#[test]
fn a_chain_stopped_and_resumed_goes_on_bit_for_bit() {
    fn check<D: Dynamics<G> + Debug + Clone, G: GradientEstimator + Debug + Clone>(dynamics: D, gradient: G) {
        let mut chain = start_chain(dynamics.clone(), gradient.clone(), 3);
        path(&mut chain, 13);
        let saved = chain.save().unwrap();
        // Resumed by a chain that has been somewhere else.
        let mut resumed = start_chain(dynamics, gradient, 99);
        path(&mut resumed, 5);
        resumed.restore(&saved).unwrap();
        assert_eq!(chain.info(), resumed.info());
        assert_eq!(path(&mut chain, 20), path(&mut resumed, 20));
    }
    over_all_algorithms!(check);
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
    over_all_algorithms!(check);
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let mut chain = start_chain(Sgld, FullGradient, 1);
    let saved = chain.save().unwrap();
    let error = chain.restore(&saved[..saved.len() / 2]).unwrap_err();
    assert!(error.to_string().contains("the checkpoint cannot be used"), "{error}");
}

/// A change here changes the draws of every user with a seed: it belongs in the changelog.
#[test]
fn first_draws_are_pinned() {
    fn tenth<D: Dynamics<MinibatchGradient> + Debug>(dynamics: D) -> f64 {
        let mut chain = start_chain(dynamics, MinibatchGradient::new(WithoutReplacement::new(10)), 13);
        path(&mut chain, 10)[9].iter().sum()
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
        tenth(AdaptiveSgld::default()),
        tenth(whitened()),
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
        0.6454005423925275,
        -0.7774320326094786,
    ];
    // The exponentials of different platforms differ in the last digit.
    let same = drawn.iter().zip(pinned).all(|(drawn, pinned)| (drawn - pinned).abs() < 1e-10);
    assert!(same, "{drawn:#?} are not {pinned:#?}");
}
