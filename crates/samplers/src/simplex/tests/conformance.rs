//! Every algorithm on the simplex with every estimator: seeds, resumption, threads.

use std::fmt::Debug;

use sgmcmc_gradient::{
    ControlVariate, Epochs, FullGradient, GradientEstimator, MinibatchGradient, Saga, Svrg, Weighted, WithReplacement,
    WithoutReplacement,
};

use super::{categorical, start};
use crate::chain::Chain;
use crate::dynamics::Dynamics;
use crate::langevin::Sgld;
use crate::run::{Builder, CheckpointInterval, InMemoryCheckpoints};
use crate::simplex::{ExpandedMean, ExpandedNatural, ReducedMean, ReducedNatural, Scir, SimplexTarget, StatisticsFn};

/// Counts of latent variables that are drawn given the simplex.
fn latent() -> SimplexTarget {
    use rand::RngExt;
    let statistics = StatisticsFn::new(30, |observation, counts| {
        let u: f64 = observation.rng().random();
        let first = observation.omega[0];
        counts[if u < first { 0 } else { 1 + observation.row % 2 }] += observation.weight;
    });
    SimplexTarget::new(vec![8.0; 3], statistics).unwrap()
}

fn path(chain: &mut dyn Chain, steps: usize) -> Vec<Vec<f64>> {
    (0..steps)
        .map(|_| {
            chain.step().unwrap();
            chain.position().to_vec()
        })
        .collect()
}

/// Runs `check(dynamics, gradient)` over all algorithms and estimators.
macro_rules! over_all {
    ($check:ident) => {
        over_all!(@estimators $check: Scir);
        over_all!(@estimators $check: ExpandedMean);
        over_all!(@estimators $check: ExpandedNatural);
        over_all!(@estimators $check: ReducedMean);
        over_all!(@estimators $check: ReducedNatural);
    };
    (@estimators $check:ident: $dynamics:expr) => {
        $check($dynamics, FullGradient);
        $check($dynamics, MinibatchGradient::new(WithoutReplacement::new(5)));
        $check($dynamics, MinibatchGradient::new(Epochs::new(7)));
        $check($dynamics, MinibatchGradient::new(Weighted::new(5, (1..=30).map(f64::from).collect()).unwrap()));
        $check($dynamics, ControlVariate::new(WithReplacement::new(5)));
        $check($dynamics, Svrg::new(WithoutReplacement::new(5), 4));
        $check($dynamics, Saga::new(WithoutReplacement::new(5)));
    };
}

const AT: [f64; 3] = [2.5, 2.7, 2.2];
const H: f64 = 1e-2;

#[test]
fn the_same_seed_gives_the_same_path_and_starting_does_not_move() {
    fn check<D, G>(dynamics: D, gradient: G)
    where
        D: Dynamics<G> + Debug + Copy,
        G: GradientEstimator + Debug + Clone,
    {
        let begin = |seed| start(&latent(), dynamics, gradient.clone(), H, &AT, seed);
        assert_eq!(begin(3).position(), AT);
        assert_eq!(path(&mut begin(3), 20), path(&mut begin(3), 20));
        assert_ne!(path(&mut begin(3), 20), path(&mut begin(4), 20));
    }
    over_all!(check);
}

#[test]
fn a_chain_stopped_and_resumed_goes_on_bit_for_bit() {
    fn check<D, G>(dynamics: D, gradient: G)
    where
        D: Dynamics<G> + Debug + Copy,
        G: GradientEstimator + Debug + Clone,
    {
        let begin = |seed| start(&latent(), dynamics, gradient.clone(), H, &AT, seed);
        let mut chain = begin(3);
        path(&mut chain, 13);
        let saved = chain.save().unwrap();
        let mut resumed = begin(99);
        path(&mut resumed, 5);
        resumed.restore(&saved).unwrap();
        assert_eq!(chain.info(), resumed.info());
        assert_eq!(path(&mut chain, 20), path(&mut resumed, 20));
    }
    over_all!(check);
}

#[test]
fn draws_do_not_depend_on_the_number_of_threads() {
    fn check<D, G>(dynamics: D, gradient: G)
    where
        D: Dynamics<G> + Debug + Copy + 'static,
        G: GradientEstimator + Debug + Clone + 'static,
    {
        let run = Builder::new(latent(), dynamics, gradient, H).seed(5).chains(3);
        let chains = || run.sample(&vec![0.3, 0.3, 0.4], 5).unwrap();
        let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(chains);
        assert_eq!(on(1).chains(), on(4).chains());
    }
    over_all!(check);
}

/// A run that stops at half of its draws and is resumed from its checkpoint.
#[test]
fn a_run_is_resumed_from_its_checkpoint() {
    let run = || {
        let gradient = MinibatchGradient::new(WithoutReplacement::new(5));
        Builder::new(categorical(0.1, &[20, 10, 0]), Scir, gradient, 0.1).seed(2)
    };
    let values = vec![0.3, 0.3, 0.4];
    let whole = run().sample(&values, 40).unwrap();
    let store = InMemoryCheckpoints::default();
    let every = || CheckpointInterval::Steps(10);
    run().checkpoint(store.clone(), every()).sample(&values, 20).unwrap();
    let resumed = run().checkpoint(store, every()).sample(&values, 40).unwrap();
    assert_eq!(whole.chains(), resumed.chains());
}

/// Other algorithms sample the density of the target: SGLD with control variates on the expanded natural parameter.
#[test]
fn langevin_dynamics_sample_the_density() {
    let target = categorical(4.0, &[6, 3, 5]).density();
    let gradient = ControlVariate::new(WithoutReplacement::new(7));
    let fit = Builder::new(target, Sgld, gradient, 0.02).seed(1).thin(5).sample(&vec![0.4, 0.3, 0.3], 20_000);
    let fit = fit.unwrap();
    let draws: Vec<f64> = fit.chains()[0].rows().flatten().copied().collect();
    let a = [10.0, 7.0, 9.0];
    assert!(sgmcmc_diagnostics::distance::dirichlet_ks(&draws, &a).unwrap() < 0.03);
}
