//! Composed chains resume, do not depend on threads, and end well.

use sgmcmc::algorithms::{Hamcmc, Hmc, HmcBfgs, Mala, MetropolisHastings, RandomWalk, Sghmc, UpdateContext};
use sgmcmc::fit::ChainOutcome;
use sgmcmc::run::{CheckpointInterval, InMemoryCheckpoints};

use super::*;

fn start() -> Pair {
    Pair { theta: full([1], 0.3), w: full([1], 1.7) }
}

/// A chain with a held parameter, a Gibbs step and a Metropolis step.
fn composed<D: Dynamics<FullGradient> + Clone + std::fmt::Debug + 'static>(dynamics: D) -> PairRun<D> {
    Builder::new(bivariate().with(&Dataset::none()), dynamics, FullGradient, 0.02)
        .hold("w")
        .gibbs(|_| conditional)
        .update(|_| MetropolisHastings::new("w", RandomWalk { scale: 0.3 }))
        .update(|_| MetropolisHastings::new("theta", RandomWalk { scale: 0.3 }).repeats(2))
        .chains(2)
        .seed(7)
}

#[test]
fn composed_chains_resume_bit_for_bit() {
    fn check<D: Dynamics<FullGradient> + Clone + std::fmt::Debug + 'static>(dynamics: D) {
        let store = InMemoryCheckpoints::default();
        let saved = || composed(dynamics.clone()).checkpoint(store.clone(), CheckpointInterval::Steps(4));
        saved().sample(&start(), 15).unwrap();
        let resumed = saved().sample(&start(), 48).unwrap();
        let whole = composed(dynamics.clone()).sample(&start(), 48).unwrap();
        for (resumed, whole) in resumed.chains().iter().zip(whole.chains()) {
            assert_eq!(resumed.values(), whole.values());
            assert_eq!(resumed.stat("acceptance.w"), whole.stat("acceptance.w"));
            assert!(resumed.stat("acceptance.theta").is_some());
        }
        let other = composed(dynamics.clone()).hold("theta").checkpoint(store.clone(), CheckpointInterval::Steps(4));
        assert!(other.sample(&start(), 48).is_err());
    }
    check(Sgld);
    check(Sghmc::default());
    check(Mala::default());
    check(Hmc::default());
    check(Hamcmc::default());
    check(HmcBfgs::default());
}

#[test]
fn threads_do_not_change_the_draws() {
    let draws = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let fit = pool.install(|| composed(Hamcmc::default()).sample(&start(), 60)).unwrap();
        fit.chains().iter().map(|chain| chain.values().to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(draws(1), draws(3));
}

#[test]
fn a_panic_in_an_update_ends_the_chain_and_keeps_its_draws() {
    let run = Builder::new(bivariate().with(&Dataset::none()), Sgld, FullGradient, 0.02).chains(2);
    let run = run.update(|chain| {
        move |context: &mut UpdateContext<'_>| {
            assert!(chain == 0 || context.iteration() < 11, "a broken update");
            Ok(())
        }
    });
    let fit = run.sample(&start(), 30).unwrap();
    assert_eq!(fit.chains().iter().map(|chain| chain.len()).collect::<Vec<_>>(), [30, 10]);
    let ChainOutcome::Failed(error) = &fit.outcomes()[1] else { panic!("{:?}", fit.outcomes()) };
    let error = error.to_string();
    assert!(error.contains("a broken update") && error.contains("update"), "{error}");
}
