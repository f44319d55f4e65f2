//! One writer per file and one run per directory of checkpoints.

use std::fs;

use sgmcmc::Builder;
use sgmcmc::algorithms::Sgld;
use sgmcmc::fit::ChainOutcome;
use sgmcmc::gradient::FullGradient;
use sgmcmc::run::{CheckpointInterval, Progress, ProgressOption};
use sgmcmc::sink::Memory;
use sgmcmc::storage::FileCheckpoints;
use sgmcmc::storage::fits::draws_csv::CsvDraws;
use sgmcmc::storage::fits::native::NativeDraws;
use sgmcmc::storage::fits::stan_csv::StanCsvDraws;
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::logistic::Logistic;

#[test]
fn chains_with_one_file_are_refused_before_anything_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let simulated = Logistic::simulate(30, 1);
    let run = Builder::new(simulated.by_hand.clone(), Sgld, FullGradient, 1e-3).chains(2);
    let path = directory.path().join("draws.csv");
    let error = run.sample_into(&simulated.start, 10, |_| (Memory::default(), CsvDraws::new(&path))).unwrap_err();
    assert!(error.to_string().contains("chains 0 and 1 would write to"), "{error}");
    assert!(!path.exists());
    // Two names of one file.
    fs::write(&path, "").unwrap();
    let link = directory.path().join("link.csv");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let name = |chain| if chain == 0 { &path } else { &link };
    assert!(run.sample_into(&simulated.start, 10, |chain| CsvDraws::new(name(chain))).is_err());
    // The other formats with a file per chain.
    let path = directory.path().join("draws");
    let native = run.sample_into(&simulated.start, 10, |_| NativeDraws::new(&path)).unwrap_err().to_string();
    let stan = run.sample_into(&simulated.start, 10, |_| StanCsvDraws::new(&path)).unwrap_err().to_string();
    assert!([native, stan].iter().all(|error| error.contains("chains 0 and 1 would write to")));
    assert!(!path.exists());
}

/// The reporter of one run starts another with the same directory, or the same file of draws.
#[test]
fn a_directory_and_a_file_belong_to_one_run_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let simulated = Logistic::simulate(30, 1);
    let (place, target, start) = (directory.path().to_owned(), simulated.by_hand.clone(), simulated.start);
    let run = {
        let (place, target) = (place.clone(), target.clone());
        move || {
            let store = FileCheckpoints::new(&place).unwrap();
            Builder::new(target.clone(), Sgld, FullGradient, 1e-3).checkpoint(store, CheckpointInterval::Steps(5))
        }
    };
    let inner = run.clone();
    let draws = place.join("draws.csv");
    let file = draws.clone();
    let report = move |progress: &Progress| {
        if progress.stage.has_ended() || progress.iteration != 3 {
            return;
        }
        let start = Logistic::simulate(30, 1).start;
        let error = inner().sample(&start, 5).unwrap_err().to_string();
        assert!(error.contains("another run uses"), "{error}");
        let free = Builder::new(target.clone(), Sgld, FullGradient, 1e-3);
        let error = free.sample_into(&start, 5, |_| CsvDraws::new(&file)).unwrap_err().to_string();
        assert!(error.contains("another chain or another process writes to it"), "{error}");
    };
    let watched = run().progress(ProgressOption::By(std::sync::Arc::new(report), std::time::Duration::ZERO));
    let outcome = watched.sample_into(&start, 10, |_| (Memory::default(), CsvDraws::new(&draws))).unwrap();
    assert_eq!(outcome[0].1, ChainOutcome::Complete);
    assert_eq!(fs::read_to_string(&draws).unwrap().lines().count(), 11);
    // The lock ends with the run.
    let sink = |_| (Memory::default(), CsvDraws::new(&draws));
    assert_eq!(run().sample_into(&start, 20, sink).unwrap()[0].1, ChainOutcome::Complete);
}
