//! A run killed at any moment goes on to the same draws; Ctrl-C keeps what was drawn.
//!
//! The runs are child processes: this test program itself, selected by an environment variable.

#![cfg(unix)]

use sgmcmc::fit::ChainOutcome;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rand::RngExt;
use sgmcmc::Builder;
use sgmcmc::algorithms::Sgld;
use sgmcmc::gradient::Svrg;
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::run::{CheckpointInterval, StopSignal};
use sgmcmc::sink::Memory;
use sgmcmc::storage::FileCheckpoints;
use sgmcmc::storage::fits::draws_csv::CsvDraws;
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::logistic::Logistic;
use sgmcmc_testkit::rng;

const CHILD: &str = "SGMCMC_TEST_CHILD";
const DRAWS: usize = 30_000;

/// Samples into the directory the parent named; does nothing when run as an ordinary test.
#[test]
fn child() {
    let Ok(directory) = std::env::var(CHILD) else { return };
    let directory = Path::new(&directory);
    let simulated = Logistic::simulate(200, 1);
    let gradient = Svrg::new(WithoutReplacement::new(20), 50);
    let store = FileCheckpoints::new(directory).unwrap();
    let signal = StopSignal::on_ctrl_c().unwrap();
    let run = Builder::new(simulated.by_hand.clone(), Sgld, gradient, 1e-3).seed(2).chains(2).thin(2);
    let run = run.checkpoint(store, CheckpointInterval::Steps(3000)).stop_on(&signal);
    let sink = |chain| (Memory::default(), CsvDraws::new(directory.join(format!("draws-{chain}.csv"))));
    let outcome = run.sample_into(&simulated.start, DRAWS, sink).unwrap();
    for (chain, ((draws, _), ending)) in outcome.iter().enumerate() {
        assert!(matches!(ending, ChainOutcome::Complete | ChainOutcome::Stopped), "{ending:?}");
        let sum: Vec<u64> = draws.rows().last().unwrap().iter().map(|value| value.to_bits()).collect();
        std::fs::write(directory.join(format!("result-{chain}")), format!("{ending:?} {} {sum:?}", draws.len()))
            .unwrap();
    }
}

fn spawn(directory: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["killed::child", "--exact"])
        .env(CHILD, directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn result(directory: &Path) -> (Vec<String>, Vec<String>) {
    let read = |name: String| std::fs::read_to_string(directory.join(name)).unwrap();
    ((0..2).map(|k| read(format!("result-{k}"))).collect(), (0..2).map(|k| read(format!("draws-{k}.csv"))).collect())
}

#[test]
fn a_run_killed_at_twenty_moments_gives_the_same_draws() {
    let whole = tempfile::tempdir().unwrap();
    let began = std::time::Instant::now();
    assert!(spawn(whole.path()).wait().unwrap().success());
    let duration = began.elapsed().as_secs_f64();
    let expected = result(whole.path());
    let lines = expected.1[0].lines().count();
    assert_eq!(lines, DRAWS + 1);

    let killed = tempfile::tempdir().unwrap();
    let mut rng = rng(5);
    let (mut kills, mut finished) = (0, false);
    while kills < 20 {
        // Start over once the run got to its end before the twentieth kill.
        if finished {
            assert_eq!(result(killed.path()), expected);
            std::fs::remove_dir_all(killed.path()).unwrap();
            std::fs::create_dir(killed.path()).unwrap();
        }
        let mut child = spawn(killed.path());
        std::thread::sleep(Duration::from_secs_f64(rng.random_range(0.0..0.5) * duration));
        let signal = ["KILL", "KILL", "INT", "TERM"][rng.random_range(0..4)];
        if child.try_wait().unwrap().is_none() {
            // The process may end before the signal reaches it.
            let id = child.id().to_string();
            Command::new("kill").args([&format!("-{signal}"), &id]).stderr(Stdio::null()).status().unwrap();
            kills += 1;
        }
        let succeeded = child.wait().unwrap().success();
        // A run that SIGINT stopped succeeds too, and is not complete.
        finished = succeeded && result(killed.path()).0.iter().all(|result| result.starts_with("Complete"));
    }
    assert!(spawn(killed.path()).wait().unwrap().success());
    assert_eq!(result(killed.path()), expected);
}

/// The second process is refused, and the first one is not disturbed.
#[test]
fn two_processes_do_not_share_a_directory() {
    let (alone, shared) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut first = spawn(shared.path());
    while !shared.path().join("chain-1.checkpoint").exists() {
        assert!(first.try_wait().unwrap().is_none(), "the run was over before the second one began");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(!spawn(shared.path()).wait().unwrap().success());
    assert!(first.wait().unwrap().success());
    assert!(spawn(alone.path()).wait().unwrap().success());
    assert_eq!(result(shared.path()), result(alone.path()));
}

/// As when a program is started in the background of a shell.
#[test]
fn a_run_that_ctrl_c_does_not_reach_runs() {
    let directory = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    let script = r#"trap '' INT; exec "$0" killed::child --exact"#;
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(program).env(CHILD, directory.path()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().unwrap().success());
    assert!(result(directory.path()).0.iter().all(|result| result.starts_with("Complete")));
}

#[test]
fn ctrl_c_keeps_what_was_drawn() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = spawn(directory.path());
    // With a checkpoint each, both chains are under way.
    while !(0..2).all(|chain| directory.path().join(format!("chain-{chain}.checkpoint")).exists()) {
        assert!(child.try_wait().unwrap().is_none(), "the run was over before it could be stopped");
        std::thread::sleep(Duration::from_millis(1));
    }
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success() && child.wait().unwrap().success());
    let (results, files) = result(directory.path());
    assert!(results.iter().any(|result| result.starts_with("Stopped")), "{results:?}");
    for (result, file) in results.iter().zip(files) {
        let draws: usize = result.split(' ').nth(1).unwrap().parse().unwrap();
        assert!(draws > 1000);
        assert_eq!(file.lines().count(), draws + 1);
    }
}
