//! A run that is killed while it writes leaves a readable fit with all flushed draws.
//!
//! The runs are child processes of this test program, which are selected by an environment variable.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use sgmcmc_fit::sink::Sink;
use sgmcmc_storage::fits;

use crate::common::{as_read, bits, chain, schema, with_draw};
use crate::formats::{STREAMED, draws_of_run, sinks};

const CHILD: &str = "SGMCMC_TEST_WRITER";

/// Writes draws without end to the directory of the parent process. Does nothing as an ordinary test.
#[test]
fn child() {
    let Ok(task) = std::env::var(CHILD) else { return };
    let (name, directory) = task.split_once(' ').unwrap();
    let format = *STREAMED.iter().find(|format| format!("{format:?}") == name).unwrap();
    let directory = Path::new(directory);
    let make = sinks(format, &directory.join(format!("run.{}", format.extension())));
    let mut chains: Vec<_> = (0..2).map(make).collect();
    for (number, sink) in chains.iter_mut().enumerate() {
        sink.begin(&schema(number, 1 << 40)).unwrap();
    }
    for index in 0.. {
        for (number, sink) in chains.iter_mut().enumerate() {
            with_draw(number, index, |draw| sink.record(draw)).unwrap();
            if (index + 50 * number) % 100 == 99 {
                sink.flush().unwrap();
            }
        }
        // The number of draws is written after the flush: these draws must be readable.
        if index % 100 == 99 {
            fs::write(directory.join("flushed"), (index + 1).to_string()).unwrap();
        }
    }
}

#[test]
fn a_killed_writer_leaves_all_flushed_draws() {
    for format in STREAMED.iter().copied() {
        for moment in 0..3 {
            let directory = tempfile::tempdir().unwrap();
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["killed::child", "--exact"]).stdout(Stdio::null()).stderr(Stdio::null());
            let mut run = command.env(CHILD, format!("{format:?} {}", directory.path().display())).spawn().unwrap();
            let counter = directory.path().join("flushed");
            while !counter.exists() {
                assert!(run.try_wait().unwrap().is_none(), "{format:?}: the writer failed");
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(30 + 13 * moment));
            run.kill().unwrap();
            assert!(!run.wait().unwrap().success());
            let flushed: usize = fs::read_to_string(&counter).unwrap().parse().unwrap_or(100);
            let run = directory.path().join(format!("run.{}", format.extension()));
            let fit = fits::open(draws_of_run(format, &run)).unwrap();
            assert!(fit.chains()[0].len() >= flushed, "{format:?}: {} of {flushed}", fit.chains()[0].len());
            // The second chain flushes fifty draws later.
            assert!(fit.chains()[1].len() + 100 > flushed);
            for (number, found) in fit.chains().iter().enumerate() {
                let expected = as_read(format, &chain(number, found.len()));
                assert!(bits(found) == bits(&expected), "{format:?}: the numbers differ");
            }
        }
    }
}
