//! Many chains on few threads, an async runtime around a run, and places that cannot be written.

use sgmcmc::algorithms::Sgld;
use sgmcmc::fit::ChainOutcome;
use sgmcmc::gradient::{FullGradient, MinibatchGradient};
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::storage::FileCheckpoints;
use sgmcmc::storage::fits::draws_csv::CsvDraws;
use sgmcmc::{Builder, Fit};
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
    assert!(few.outcomes().iter().all(|ending| *ending == ChainOutcome::Complete));
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

/// Set in the child process whose address space is limited.
#[cfg(target_os = "linux")]
const LIMITED: &str = "SGMCMC_TEST_LIMITED";

#[cfg(target_os = "linux")]
#[test]
fn limited_child() {
    use sgmcmc::algorithms::Sgfs;
    use sgmcmc::storage::read;

    let Ok(directory) = std::env::var(LIMITED) else { return };
    let directory = std::path::Path::new(&directory);
    // 2⁴⁰ numbers are announced and none is there.
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }\n";
    let bytes = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
    std::fs::write(directory.join("huge.npy"), bytes).unwrap();
    assert!(read::npy(directory.join("huge.npy"), "x").is_err());
    let simulated = Logistic::simulate(30, 1);
    let run = Builder::new(simulated.posterior, Sgld, FullGradient, 1e-3);
    let error = run.clone().sample(&simulated.start, 1 << 40).unwrap_err().to_string();
    assert!(error.contains("memory_limit"), "{error}");
    let error =
        run.clone().dynamics(Sgfs::default()).memory_limit(16).sample(&simulated.start, 1).unwrap_err().to_string();
    assert!(error.contains("the limit is 16"), "{error}");
    assert_eq!(run.sample(&simulated.start, 50).unwrap().chains()[0].len(), 50);
}

/// With an address space of 3 GiB (`ulimit -v`), requests for more memory are errors, and a run works.
#[cfg(target_os = "linux")]
#[test]
fn a_limited_address_space_makes_errors_not_aborts() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", r#"ulimit -v 3145728 && exec "$0" reliability::environment::limited_child --exact --nocapture"#]);
    let output = command.arg(std::env::current_exe().unwrap()).env(LIMITED, directory.path()).output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
