//! Many chains on few threads, an async runtime around a run, and places that cannot be written.

use sgmcmc::prelude::*;
use sgmcmc::run::Ending;
use sgmcmc::storage::{CsvDraws, FileCheckpoints};
use sgmcmc::{Builder, Fit, Sgld};
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::logistic::Logistic;

fn sample(chains: usize) -> Fit {
    let simulated = Logistic::simulate(30, 1);
    let gradient = MinibatchGradient::new(WithoutReplacement::new(5));
    Builder::new(simulated.posterior, Sgld, gradient, 1e-3).seed(2).chains(chains).sample(&simulated.start, 50).unwrap()
}

#[test]
fn sixty_four_chains_on_two_threads_are_those_on_eight() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| sample(64))
    };
    let (few, many) = (on(2), on(8));
    assert!(few.endings().iter().all(|ending| *ending == Ending::Complete));
    assert_eq!(few.chains(), many.chains());
}

#[test]
fn an_async_runtime_around_a_run_changes_nothing() {
    let expected = sample(4);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let found = runtime.block_on(async {
        let blocking = (0..3).map(|_| tokio::task::spawn_blocking(|| sample(4))).collect::<Vec<_>>();
        let mut found = vec![tokio::spawn(async { sample(4) }).await.unwrap()];
        for task in blocking {
            found.push(task.await.unwrap());
        }
        found
    });
    assert!(found.iter().all(|fit| fit.chains() == expected.chains()));
}

#[test]
fn places_that_cannot_be_written_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = FileCheckpoints::new(file.join("checkpoints")).unwrap_err().to_string();
    assert!(error.contains("file/checkpoints"), "{error}");
    let simulated = Logistic::simulate(30, 1);
    let run = Builder::new(simulated.by_hand.clone(), Sgld, FullGradient, 1e-3);
    let error = run.sample_into(&simulated.start, 5, |_| CsvDraws::new(file.join("draws.csv"))).unwrap_err();
    assert!(error.to_string().contains("file/draws.csv"), "{error}");
}
