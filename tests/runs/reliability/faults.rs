//! Every operation on files fails once; every operation is the last one of the process once.
//!
//! The runs have two chains with draws in memory, in checkpoints and in files: in a text file with many checkpoints, and in every
//! other format with few. Whatever fails, the other state of the run is whole: the error names the file, and the next run ends with
//! the draws of a run that was never interrupted.

use std::path::Path;
use std::process::{Command, Stdio};

use sgmcmc::algorithms::Sgld;
use sgmcmc::fit::{ChainDraws, ChainOutcome};
use sgmcmc::gradient::FullGradient;
use sgmcmc::run::CheckpointInterval;
use sgmcmc::sink::{Memory, Sink};
use sgmcmc::storage::FileCheckpoints;
use sgmcmc::storage::fits;
use sgmcmc::storage::fits::draws_csv::CsvDraws;
use sgmcmc::storage::fits::native::NativeDraws;
use sgmcmc::storage::fits::parquet::ParquetDraws;
use sgmcmc::storage::fits::stan_csv::StanCsvDraws;
use sgmcmc::storage::fits::zarr::ZarrFit;
use sgmcmc::{Builder, Error};
use sgmcmc_output::fault::{Fault, Injector, Operation};
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::logistic::Logistic;

const CHILD: &str = "SGMCMC_TEST_FAULTS";
/// With this environment variable, runs with all formats have a fault at every operation.
const EVERY: &str = "SGMCMC_TEST_EVERY_FAULT";

type Outcome = Result<Vec<(ChainDraws, ChainOutcome)>, Error>;

/// The sinks of a run.
#[derive(Clone, Copy, Debug)]
enum Files {
    /// The draws as text, and many checkpoints.
    Text,
    /// The formats of whole fits, and two checkpoints for each chain.
    Fits,
}

impl Files {
    const ALL: [Self; 2] = [Self::Text, Self::Fits];

    /// The least number of operations of a run.
    fn least_operations(self) -> usize {
        match self {
            Self::Text => 140,
            Self::Fits => 400,
        }
    }

    /// The distance between two operations with a fault. The runs with all formats are slow. `crates/storage/tests/fits/faults.rs`
    /// goes through every operation of each format alone.
    fn stride(self) -> usize {
        match self {
            Self::Fits if std::env::var_os(EVERY).is_none() => 7,
            _ => 1,
        }
    }

    fn sample(self, directory: &Path) -> Outcome {
        let file = |name: &str, chain: usize, extension: &str| directory.join(format!("{name}-{chain}.{extension}"));
        match self {
            Self::Text => run(directory, 30, 7, |chain| CsvDraws::new(file("draws", chain, "csv"))),
            Self::Fits => {
                let zarr = ZarrFit::new(directory.join("fit.zarr"))?;
                let sink = |chain| {
                    let native = NativeDraws::new(file("native", chain, "sgmcmc"));
                    let parquet = ParquetDraws::new(file("parquet", chain, "parquet"));
                    (StanCsvDraws::new(file("stan", chain, "csv")), ((native, parquet), zarr.chain()))
                };
                run(directory, 16, 9, sink)
            }
        }
    }

    /// The draws in the files. Files of fits are read, because their blocks depend on interruptions.
    fn read(self, directory: &Path) -> Vec<String> {
        let open = |name: &str| format!("{:?}", fits::open(directory.join(name)).unwrap().chains());
        match self {
            Self::Text => (0..2)
                .map(|chain| std::fs::read_to_string(directory.join(format!("draws-{chain}.csv"))).unwrap())
                .collect(),
            Self::Fits => {
                let names = |chain| {
                    [format!("native-{chain}.sgmcmc"), format!("parquet-{chain}.parquet"), format!("stan-{chain}.csv")]
                };
                let single = (0..2).flat_map(names).map(|name| open(&name));
                single.chain([open("fit.zarr")]).collect()
            }
        }
    }
}

/// Makes `draws` draws of two chains, with a checkpoint every `every` steps.
fn run<S: Sink>(directory: &Path, draws: usize, every: u64, sink: impl Fn(usize) -> S + Sync) -> Outcome {
    let simulated = Logistic::simulate(30, 1);
    let store = FileCheckpoints::new(directory.join("checkpoints"))?;
    let run = Builder::new(simulated.by_hand.clone(), Sgld, FullGradient, 1e-3).seed(2).chains(2);
    let run = run.checkpoint(store, CheckpointInterval::Steps(every));
    let outcome = run.sample_into(&simulated.start, draws, |chain| (Memory::default(), sink(chain)))?;
    Ok(outcome.into_iter().map(|((draws, _), ending)| (draws, ending)).collect())
}

/// A run that was not interrupted.
struct Whole {
    outcome: Vec<(ChainDraws, ChainOutcome)>,
    draws: Vec<String>,
    operations: Vec<(Operation, String)>,
}

impl Whole {
    fn new(files: Files) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let counter = Injector::new(directory.path(), Fault::None, 0);
        let outcome = files.sample(directory.path()).unwrap();
        let relative = |path: &Path| path.strip_prefix(directory.path()).unwrap().display().to_string();
        let operations: Vec<_> = counter.operations().iter().map(|(kind, path)| (*kind, relative(path))).collect();
        drop(counter);
        assert!(operations.len() >= files.least_operations(), "{files:?}: {} operations", operations.len());
        Self { outcome, draws: files.read(directory.path()), operations }
    }
}

/// Asserts that the next run, without a fault, ends like one that was not interrupted.
fn resumes(files: Files, directory: &Path, whole: &Whole, at: usize) {
    let resumed = files.sample(directory).unwrap_or_else(|error| panic!("{files:?}, operation {at}: {error}"));
    assert_eq!(resumed, whole.outcome, "{files:?}, operation {at}");
    assert!(files.read(directory) == whole.draws, "{files:?}, operation {at}: the files differ");
}

#[test]
fn every_operation_fails_once() {
    for files in Files::ALL {
        let whole = Whole::new(files);
        for at in (0..whole.operations.len()).step_by(files.stride()) {
            let directory = tempfile::tempdir().unwrap();
            let injector = Injector::new(directory.path(), Fault::Fail, at);
            let messages: Vec<String> = match files.sample(directory.path()) {
                Err(error) => vec![error.to_string()],
                Ok(outcome) => {
                    // Whatever was drawn is right.
                    for ((draws, _), (whole, _)) in outcome.iter().zip(&whole.outcome) {
                        assert!(draws.rows().zip(whole.rows()).all(|(a, b)| a == b), "operation {at}");
                    }
                    let failed = outcome.iter().filter_map(|(_, outcome)| match outcome {
                        ChainOutcome::Failed(error) => Some(error.to_string()),
                        _ => None,
                    });
                    failed.collect()
                }
            };
            let failed = injector.operations().get(at).cloned();
            drop(injector);
            if let Some((operation, path)) = failed {
                let path = path.strip_prefix(directory.path()).unwrap();
                // The files and directories of the operation, without the parts of temporary names.
                let names = path.iter().map(|name| {
                    let name = name.to_string_lossy();
                    name.trim_start_matches(".unfinished-")
                        .trim_start_matches('.')
                        .split('.')
                        .next()
                        .unwrap()
                        .to_owned()
                });
                let named = names.into_iter().any(|name| messages.iter().any(|message| message.contains(&name)));
                // Leftovers that cannot be removed do no harm, and are not reported.
                let harmless = operation == Operation::Remove;
                assert!(named || harmless, "operation {at}, {operation:?} of {}: {messages:?}", path.display());
            }
            resumes(files, directory.path(), &whole, at);
        }
        println!("{files:?}: {} operations, every {} failed once", whole.operations.len(), files.stride());
    }
}

/// Before the state of a checkpoint gets its name, everything that it counts is on the disk.
#[test]
fn what_a_checkpoint_counts_is_on_the_disk_before_it() {
    let Whole { operations, .. } = Whole::new(Files::Text);
    let mut checkpoints = 0;
    for (at, (_, renamed)) in operations.iter().enumerate().filter(|(_, (kind, _))| *kind == Operation::Rename) {
        for chain in 0..2 {
            if !renamed.contains(&format!("chain-{chain}")) {
                continue;
            }
            checkpoints += 1;
            for counted in [format!("checkpoints/chain-{chain}.journal"), format!("draws-{chain}.csv")] {
                let last = |wanted: Operation| {
                    operations[..at].iter().rposition(|(kind, path)| *kind == wanted && *path == counted)
                };
                let (written, synced) = (last(Operation::Write), last(Operation::Sync));
                assert!(written.is_some() && written < synced, "{counted} before operation {at}: {operations:?}");
            }
        }
    }
    assert!(checkpoints >= 8, "{checkpoints} checkpoints");
}

/// Runs with a kill at the operation that the parent named; does nothing when run as an ordinary test.
#[test]
fn child() {
    let Ok(task) = std::env::var(CHILD) else { return };
    let mut parts = task.splitn(3, ' ');
    let (files, at, directory) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
    let files = Files::ALL[files.parse::<usize>().unwrap()];
    let _injector = Injector::new(directory, Fault::Kill, at.parse().unwrap());
    files.sample(Path::new(directory)).unwrap();
}

#[test]
fn every_operation_is_the_last_one_once() {
    for (index, files) in Files::ALL.into_iter().enumerate() {
        let whole = Whole::new(files);
        for at in (files.stride() / 2..whole.operations.len()).step_by(files.stride()) {
            let directory = tempfile::tempdir().unwrap();
            let mut command = Command::new(std::env::current_exe().unwrap());
            command
                .args(["reliability::faults::child", "--exact"])
                .env(CHILD, format!("{index} {at} {}", directory.path().display()));
            let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
            assert!(!status.success(), "{files:?}: operation {at} did not end the process");
            resumes(files, directory.path(), &whole, at);
        }
        println!("{files:?}: {} operations, every {} was the last one once", whole.operations.len(), files.stride());
    }
}
