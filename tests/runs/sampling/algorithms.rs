//! Properties of single algorithms: friction by parameter, estimated noise, cycles, and relocation.

use std::sync::Arc;

use sgmcmc::algorithms::{
    Badodab, Chain, ChainSpec, CyclicalSgld, GradientChain, Hamcmc, NoiseEstimate, Sghmc, Sgnht, Thermostats,
};
use sgmcmc::gradient::{FullGradient, MinibatchGradient, Target};
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::prelude::*;
use sgmcmc::rng::ChainRng;
use sgmcmc::schedule::CyclicalCosine;
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::logistic::{self, Logistic};

use super::{by_name, logistic_data, logistic_start, path, start_chain};

/// The same number for every name is that number for all, whatever the common one says.
#[test]
fn equal_frictions_by_name_are_one_friction() {
    let gradient = || MinibatchGradient::new(WithoutReplacement::new(10));
    macro_rules! reduces {
        ($($dynamics:ident { $field:ident $(, $other:ident: $value:expr)* })+) => {$(
            let run = |$field| {
                let dynamics = $dynamics { $field, $($other: $value,)* ..$dynamics::default() };
                path(&mut start_chain(dynamics, gradient(), 3), 20)
            };
            assert_eq!(run(by_name(0.2, 0.2)), run(0.2.into()));
            assert_ne!(run(by_name(0.2, 0.3)), run(0.2.into()));
        )+};
    }
    reduces! {
        Sghmc { alpha } Sghmc { alpha, noise: NoiseEstimate::FisherScoring } Sgnht { a } Badodab { a }
    }
    let global = |a| path(&mut start_chain(Sgnht { a, thermostats: Thermostats::Global }, gradient(), 3), 20);
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

/// Relocating a HAMCMC chain moves the newest of its M interleaved chains. The others continue from their own positions.
#[test]
fn hamcmc_moves_only_its_newest_sample_when_it_is_put_elsewhere() {
    let mut chain = start_chain(Hamcmc { memory: 4, ..Hamcmc::default() }, FullGradient, 3);
    path(&mut chain, 9);
    let mut elsewhere = chain.position().to_vec();
    elsewhere[2] = 50.0;
    chain.relocate(&elsewhere).unwrap();
    assert_eq!(chain.position(), elsewhere);
    let positions = path(&mut chain, 4);
    assert!(positions[..3].iter().all(|position| position[2].abs() < 5.0), "{positions:?}");
    assert!((positions[3][2] - 50.0).abs() < 1.0, "{positions:?}");
}
