//! Every operation on files fails once; every operation is the last one of the process once.
//!
//! The run has two chains with draws in memory, in a text file and in checkpoints. Whatever fails, the other state of the run is whole:
//! the error names the file, and the next run ends with the draws of a run that was never interrupted.

use std::path::Path;
use std::process::{Command, Stdio};

use sgmcmc::Builder;
use sgmcmc::algorithms::Sgld;
use sgmcmc::fit::ChainDraws;
use sgmcmc::fit::ChainOutcome;
use sgmcmc::gradient::Error;
use sgmcmc::gradient::FullGradient;
use sgmcmc::run::CheckpointInterval;
use sgmcmc::sink::Memory;
use sgmcmc::storage::FileCheckpoints;
use sgmcmc::storage::fits::draws_csv::CsvDraws;
use sgmcmc_output::fault::{Fault, Injector};
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::logistic::Logistic;

const DRAWS: usize = 30;
const CHILD: &str = "SGMCMC_TEST_FAULTS";

type Outcome = Result<Vec<(ChainDraws, ChainOutcome)>, Error>;

fn sample(directory: &Path) -> Outcome {
    let simulated = Logistic::simulate(30, 1);
    let store = FileCheckpoints::new(directory.join("checkpoints"))?;
    let run = Builder::new(simulated.by_hand.clone(), Sgld, FullGradient, 1e-3).seed(2).chains(2);
    let sink = |chain| (Memory::default(), CsvDraws::new(directory.join(format!("draws-{chain}.csv"))));
    let outcome = run.checkpoint(store, CheckpointInterval::Steps(7)).sample_into(&simulated.start, DRAWS, sink)?;
    Ok(outcome.into_iter().map(|((draws, _), ending)| (draws, ending)).collect())
}

/// The files of draws, as they are.
fn files(directory: &Path) -> Vec<String> {
    (0..2).map(|chain| std::fs::read_to_string(directory.join(format!("draws-{chain}.csv"))).unwrap()).collect()
}

/// A run that is not interrupted, and the number of its operations on files.
fn whole() -> (Outcome, Vec<String>, usize) {
    let directory = tempfile::tempdir().unwrap();
    let counter = Injector::new(directory.path(), Fault::None, 0);
    let outcome = sample(directory.path());
    let operations = counter.operations().len();
    drop(counter);
    let files = files(directory.path());
    (outcome, files, operations)
}

#[test]
fn every_operation_fails_once() {
    let (expected, files, operations) = whole();
    let expected = expected.unwrap();
    for at in 0..operations {
        let directory = tempfile::tempdir().unwrap();
        let injector = Injector::new(directory.path(), Fault::Fail, at);
        let messages: Vec<String> =
            match sample(directory.path()) {
                Err(error) => vec![error.to_string()],
                Ok(outcome) => {
                    // Whatever was drawn is right.
                    for ((draws, _), (whole, _)) in outcome.iter().zip(&expected) {
                        assert!(draws.rows().zip(whole.rows()).all(|(a, b)| a == b), "operation {at}");
                    }
                    outcome
                        .iter()
                        .filter_map(|(_, ending)| {
                            if let ChainOutcome::Failed(error) = ending { Some(error.to_string()) } else { None }
                        })
                        .collect()
                }
            };
        let failed = injector.operations().get(at).cloned();
        drop(injector);
        if let Some((operation, path)) = failed {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let stem = name.split('.').next().unwrap().trim_start_matches('.').to_owned();
            let named = messages.iter().any(|message| message.contains(&stem) || message.contains("checkpoints"));
            // Leftovers that cannot be removed do no harm, and are not reported.
            let harmless = format!("{operation:?}").contains("Remove");
            assert!(named || harmless, "operation {at}, {operation:?} of {name}: {messages:?}");
        }
        let resumed = sample(directory.path()).unwrap_or_else(|error| panic!("operation {at}: {error}"));
        assert_eq!(resumed, expected, "operation {at}");
        assert_eq!(self::files(directory.path()), files, "operation {at}");
    }
    println!("{operations} operations failed, one at a time");
}

/// Runs with a kill at the operation that the parent named; does nothing when run as an ordinary test.
#[test]
fn child() {
    let Ok(task) = std::env::var(CHILD) else { return };
    let (at, directory) = task.split_once(' ').unwrap();
    let _injector = Injector::new(directory, Fault::Kill, at.parse().unwrap());
    sample(Path::new(directory)).unwrap();
}

#[test]
fn every_operation_is_the_last_one_once() {
    let (expected, files, operations) = whole();
    let expected = expected.unwrap();
    for at in 0..operations {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["reliability::faults::child", "--exact"])
            .env(CHILD, format!("{at} {}", directory.path().display()));
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(!status.success(), "operation {at} did not end the process");
        assert_eq!(sample(directory.path()).unwrap(), expected, "operation {at}");
        assert_eq!(self::files(directory.path()), files, "operation {at}");
    }
    println!("{operations} operations were the last of a process");
}
