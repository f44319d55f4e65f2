//! Every algorithm on 1, 2 and 4 ranks: seeds, threads, and the results of all ranks. Resumption and laws are tested beside
//! each algorithm.

use super::algorithms::{RUNS, Run};
use crate::collective::on_threads;

/// Returns the draws of all chains, from the fit of rank 0, on `threads` threads in all.
fn draws(run: Run, size: usize, seed: u64, threads: usize) -> Vec<Vec<f64>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let fits = pool.install(|| on_threads(size, |ranks| run(ranks, seed))).unwrap();
    fits[0].as_ref().unwrap().chains().iter().map(|chain| chain.values().to_vec()).collect()
}

#[test]
fn draws_are_a_function_of_the_seed_and_not_of_threads() {
    for (name, run) in RUNS {
        for size in [1, 2, 4] {
            let first = draws(run, size, 5, 1);
            assert!(first.iter().flatten().all(|x| x.is_finite()) && !first[0].is_empty(), "{name} on {size} ranks");
            assert_eq!(draws(run, size, 5, 1), first, "{name} on {size} ranks, again");
            assert_eq!(draws(run, size, 5, 8), first, "{name} on {size} ranks, more threads");
            assert_ne!(draws(run, size, 6, 1), first, "{name} on {size} ranks, another seed");
            let distinct = first.iter().enumerate().all(|(index, chain)| !first[..index].contains(chain));
            assert!(distinct, "{name} on {size} ranks: two chains are equal");
        }
    }
}
