//! A run killed while it writes leaves a readable fit with all draws it had flushed.
//!
//! The runs are child processes: this test program itself, told by the environment to be one.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use sgmcmc_samplers::sink::Sink;
use sgmcmc_storage::fits;

use crate::common::{bits, chain, schema, with_draw};
use crate::formats::{ENDINGS, sinks, under_way};

const CHILD: &str = "SGMCMC_TEST_WRITER";

/// Writes draws without end into the directory the parent named; does nothing when run as an ordinary test.
#[test]
fn child() {
    let Ok(task) = std::env::var(CHILD) else { return };
    let (ending, directory) = task.split_once(' ').unwrap();
    let directory = Path::new(directory);
    let make = sinks(ending, &directory.join(format!("run.{ending}")));
    let mut chains: Vec<_> = (0..2).map(make).collect();
    for (number, sink) in chains.iter_mut().enumerate() {
        sink.begin(&schema(number, 1 << 40)).unwrap();
    }
    for place in 0.. {
        for (number, sink) in chains.iter_mut().enumerate() {
            with_draw(number, place, |draw| sink.record(draw)).unwrap();
            if (place + 50 * number) % 100 == 99 {
                sink.flush().unwrap();
            }
        }
        // Told after the flush: these draws must be there.
        if place % 100 == 99 {
            fs::write(directory.join("told"), (place + 1).to_string()).unwrap();
        }
    }
}

#[test]
fn a_killed_writer_leaves_all_flushed_draws() {
    for ending in ENDINGS {
        for moment in 0..3 {
            let directory = tempfile::tempdir().unwrap();
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["killed::child", "--exact"]).stdout(Stdio::null()).stderr(Stdio::null());
            let mut run = command.env(CHILD, format!("{ending} {}", directory.path().display())).spawn().unwrap();
            let told = directory.path().join("told");
            while !told.exists() {
                assert!(run.try_wait().unwrap().is_none(), "{ending}: the writer failed");
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(30 + 13 * moment));
            run.kill().unwrap();
            assert!(!run.wait().unwrap().success());
            let flushed: usize = fs::read_to_string(&told).unwrap().parse().unwrap_or(100);
            let fit = fits::open(under_way(ending, &directory.path().join(format!("run.{ending}")))).unwrap();
            assert!(fit.chains()[0].len() >= flushed, "{ending}: {} of {flushed}", fit.chains()[0].len());
            // The second chain flushes half a hundred draws later.
            assert!(fit.chains()[1].len() + 100 > flushed);
            for (number, found) in fit.chains().iter().enumerate() {
                assert!(bits(found) == bits(&chain(number, found.len())), "{ending}: the numbers differ");
            }
        }
    }
}
