//! Runs: seeds, threads, checkpoints.

use sgmcmc_samplers::chain::Chain;
use sgmcmc_samplers::run::{CheckpointInterval, InMemoryCheckpoints};

use super::{counts, points, prior};
use crate::mixture::{Counts, DirichletProcess, Family};

/// A chain that is saved and restored into a new chain continues bit for bit.
fn check_restore<F: Family>(process: &DirichletProcess<F>, data: &F::Data) {
    let mut original = process.clone().seed(1).sampler(data).unwrap();
    for _ in 0..50 {
        original.step().unwrap();
    }
    let saved = original.save().unwrap();
    let mut restored = process.clone().seed(2).sampler(data).unwrap();
    restored.restore(&saved).unwrap();
    for _ in 0..50 {
        original.step().unwrap();
        restored.step().unwrap();
        assert_eq!(original.mixture(), restored.mixture());
        assert_eq!(Chain::position(&original), Chain::position(&restored));
    }
    assert_eq!(original.save().unwrap(), restored.save().unwrap());
}

#[test]
fn saved_chains_continue_bit_for_bit() {
    check_restore(&DirichletProcess::multinomial(0.5), &counts());
    check_restore(&DirichletProcess::multinomial(0.5).minibatch(2), &counts());
    check_restore(&DirichletProcess::multinomial(0.5).minibatch(4).scir(0.1), &counts());
    check_restore(&DirichletProcess::multinomial(0.5).minibatch(4).sgrld(0.01), &counts());
    check_restore(&DirichletProcess::gaussian_with(prior()).minibatch(4), &points());
}

#[test]
fn states_of_other_data_are_errors() {
    let saved = DirichletProcess::multinomial(0.5).sampler(&counts()).unwrap().save().unwrap();
    let other = Counts::new(3, [vec![(0, 1)], vec![(1, 1)]]).unwrap();
    let mut sampler = DirichletProcess::multinomial(0.5).sampler(&other).unwrap();
    assert!(sampler.restore(&saved).unwrap_err().to_string().contains("allocations"));
    assert!(sampler.restore(&saved[..saved.len() / 2]).is_err());
}

#[test]
fn draws_do_not_depend_on_the_number_of_threads() {
    let process = DirichletProcess::multinomial(0.5).minibatch(3).scir(0.2).chains(4).seed(7).burn_in(20);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| process.fit(&counts(), 100).unwrap())
    };
    let (one, four) = (run(1), run(4));
    assert_eq!(one.fit().chains(), four.fit().chains());
    assert_eq!(one.mixtures(), four.mixtures());
    assert_eq!(one.mixtures().len(), 4);
    assert_eq!(one.mixtures()[0].len(), 10);
    assert_ne!(one.fit().chains()[0], one.fit().chains()[1]);
}

#[test]
fn resumed_runs_have_the_draws_and_mixtures_of_one_run() {
    let process =
        DirichletProcess::multinomial(0.5).minibatch(3).scir(0.2).chains(2).seed(7).burn_in(20).mixture_every(3);
    let whole = process.fit(&counts(), 100).unwrap();
    let store = InMemoryCheckpoints::default();
    let resumable = process.run_with(move |run| run.checkpoint(store.clone(), CheckpointInterval::Steps(10)));
    resumable.fit(&counts(), 37).unwrap();
    let resumed = resumable.fit(&counts(), 100).unwrap();
    assert_eq!(whole.fit().chains(), resumed.fit().chains());
    assert_eq!(whole.mixtures(), resumed.mixtures());
}
