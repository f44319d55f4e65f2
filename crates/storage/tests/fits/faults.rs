//! A full disk and kills at every operation of every writer leave the old fit, the new fit, or files that are not read
//! as complete.
//!
//! Draws CSV is not tested here, because its files do not have the number of planned draws.

use std::path::Path;
use std::process::{Command, Stdio};

use sgmcmc_fit::sink::{Draw, Schema, Sink};
use sgmcmc_fit::{ChainDraws, ChainOutcome, Fit};
use sgmcmc_gradient::Layout;
use sgmcmc_storage::fits::{self, Format};
use sgmcmc_storage::output::fault::{Fault, Injector, Operation};

use crate::common::{assert_same_draws, files};
use crate::formats::{ENDINGS, STREAMED_ENDINGS, draws_of_run, sinks};

const CHILD: &str = "SGMCMC_TEST_FAULT";
const DRAWS: usize = 3;

fn layout() -> Layout {
    Layout::new([("x".to_owned(), vec![2], None)]).unwrap()
}

/// Returns a fit of two chains whose numbers depend on `which`.
fn fit(which: f64) -> Fit {
    let chain = |number: usize| {
        let mut chain = ChainDraws::new(2, Vec::new());
        (0..DRAWS).for_each(|index| with_draw(which, number, index, |draw| chain.push(draw)).unwrap());
        chain
    };
    Fit::new(layout(), vec![chain(0), chain(1)]).unwrap()
}

fn with_draw<T>(which: f64, chain: usize, index: usize, take: impl FnOnce(&Draw<'_>) -> T) -> T {
    let number = which + 10.0 * chain as f64 + index as f64;
    let values = [number, -number];
    take(&Draw { iteration: index as u64 + 1, values: &values, weight: 1.0, log_posterior: number, stats: &[] })
}

/// Writes the new fit, and replaces the old one if it exists.
fn write(path: &Path, old: bool) -> sgmcmc_storage::Result<()> {
    if old { fits::replace(&fit(200.0), path) } else { fits::save(&fit(200.0), path) }
}

fn same(found: &Fit, which: f64) -> bool {
    let expected = fit(which);
    found.chains() == expected.chains() && found.outcomes().iter().all(|outcome| *outcome == ChainOutcome::Complete)
}

/// Checks the files of a writer that failed.
fn check_saved(path: &Path, old: bool, what: &str) {
    match fits::open(path) {
        Ok(found) if same(&found, 200.0) || (old && same(&found, 100.0)) => {}
        Ok(found) => assert!(
            !old && found.outcomes().iter().any(|outcome| *outcome != ChainOutcome::Complete),
            "{what}: an incomplete fit is read as complete"
        ),
        Err(error) => {
            assert!(!old, "{what}: the old fit is gone: {error}");
            assert!(error.to_string().contains("fit."), "{what}: {error}");
        }
    }
}

/// Returns a directory and the path of a fit in it, which exists if `old` is set.
fn prepared(ending: &str, old: bool) -> (tempfile::TempDir, std::path::PathBuf) {
    // A directory in memory, if there is one, because waiting for a disk thousands of times takes minutes.
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let path = directory.path().join(format!("fit.{ending}"));
    if old {
        fits::save(&fit(100.0), &path).unwrap();
    }
    (directory, path)
}

#[test]
fn a_full_disk_never_leaves_an_incomplete_fit_that_looks_complete() {
    let mut points = 0;
    for ending in ENDINGS.iter() {
        for old in [false, true] {
            for fault in [Fault::Fail, Fault::FailFrom] {
                for at in 0.. {
                    let (directory, path) = prepared(ending, old);
                    let injector = Injector::new(directory.path(), fault, at);
                    let written = write(&path, old);
                    let operations = injector.operations();
                    drop(injector);
                    if operations.len() <= at {
                        written.unwrap();
                        assert_same_draws(&fits::open(&path).unwrap(), &fit(200.0));
                        println!("{ending}, old fit {old}, {fault:?}: {at} points");
                        points += at;
                        break;
                    }
                    let what = format!("{ending}, old fit {old}, {fault:?} at {at}: {:?}", operations[at]);
                    if let Err(error) = written {
                        assert!(error.to_string().contains("fit."), "{what}: {error}");
                    }
                    check_saved(&path, old, &what);
                }
            }
        }
    }
    println!("{points} injection points");
    assert!(points > 200, "{points}");
}

/// Formats for other programs: the file is the old one until the new one is complete.
#[test]
fn a_full_disk_leaves_the_old_file_of_a_format_that_is_not_read() {
    let formats = fits::formats().filter(|format| format.is_available() && format.can_save() && !format.can_open());
    for ending in formats.map(Format::extension) {
        for fault in [Fault::Fail, Fault::FailFrom] {
            for at in 0.. {
                let (directory, path) = prepared(ending, true);
                let old = std::fs::read(&path).unwrap();
                let injector = Injector::new(directory.path(), fault, at);
                let written = fits::save(&fit(200.0), &path);
                let operations = injector.operations();
                drop(injector);
                if operations.len() <= at {
                    written.unwrap();
                    assert!(at > 3, "{ending}: {at} injection points");
                    assert!(std::fs::read(&path).unwrap() != old, "{ending}");
                    break;
                }
                let what = format!("{ending}, {fault:?} at {at}: {:?}", operations[at]);
                assert!(written.is_err_and(|error| error.to_string().contains("fit.")), "{what}");
                // The rename comes before the last operation.
                let is_last = operations[at].0 == Operation::Sync && operations[at].1 == directory.path();
                assert!(is_last || std::fs::read(&path).unwrap() == old, "{what}");
                assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "{what}");
            }
        }
    }
}

/// Writes a fit and is killed before the end. Does nothing as an ordinary test.
#[test]
fn child() {
    let Ok(task) = std::env::var(CHILD) else { return };
    let mut words = task.splitn(4, ' ');
    let (old, at) = (words.next() == Some("true"), words.next().unwrap().parse().unwrap());
    let streamed = words.next() == Some("true");
    let path = Path::new(words.next().unwrap());
    let _injector = Injector::new(path.parent().unwrap(), Fault::Kill, at);
    if streamed {
        stream(path);
    } else {
        write(path, old).unwrap();
    }
    std::process::exit(0);
}

/// Starts a process that is killed after operation `at`, and returns whether it reached its end.
fn survived(path: &Path, old: bool, streamed: bool, at: usize) -> bool {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["faults::child", "--exact"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.env(CHILD, format!("{old} {at} {streamed} {}", path.display())).status().unwrap().success()
}

#[cfg(unix)]
#[test]
fn a_kill_never_leaves_an_incomplete_fit_that_looks_complete() {
    let mut points = 0;
    for ending in ENDINGS.iter() {
        for old in [false, true] {
            for at in 0.. {
                let (_directory, path) = prepared(ending, old);
                if survived(&path, old, false, at) {
                    println!("{ending}, old fit {old}: {at} kills");
                    points += at;
                    break;
                }
                check_saved(&path, old, &format!("{ending}, old fit {old}, killed after {at}"));
                // The next writer removes the temporary files of the killed one.
                if at.is_multiple_of(7) {
                    write(&path, path.exists()).unwrap();
                    assert_same_draws(&fits::open(&path).unwrap(), &fit(200.0));
                    let entries = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
                    assert_eq!(entries, 1, "{ending}, killed after {at}");
                }
            }
        }
    }
    println!("{points} injection points");
    assert!(points > 100, "{points}");
}

/// Streams two chains like a run. A chain ends when its sink fails.
fn stream(path: &Path) {
    let _ = std::panic::catch_unwind(|| {
        let make = sinks(Format::from_name(path).unwrap(), path);
        let mut chains: Vec<_> = (0..2).map(|number| (number, make(number))).collect();
        let schema = |chain| Schema { layout: layout(), draws: DRAWS, chain, chains: 2, stats: Vec::new() };
        chains.retain_mut(|(number, sink)| sink.begin(&schema(*number)).is_ok());
        for index in 0..DRAWS {
            chains.retain_mut(|(number, sink)| {
                with_draw(200.0, *number, index, |draw| sink.record(draw)).and_then(|()| sink.flush()).is_ok()
            });
        }
        chains.into_iter().for_each(|(_, sink)| sink.finish());
    });
}

/// Checks the files of streaming sinks: every chain that counts as complete has all its draws.
fn check_streamed(path: &Path, what: &str) {
    if !path.exists() {
        return;
    }
    match fits::open(path) {
        Ok(found) => {
            let expected = fit(200.0);
            let complete = found.outcomes().iter().all(|outcome| *outcome == ChainOutcome::Complete);
            assert!(!complete || found.chains() == expected.chains(), "{what}: an incomplete fit is read as complete");
            // A chain whose first file could not be created is known from the files of the other one.
            assert_eq!(found.chains().len(), 2, "{what}");
        }
        Err(error) => assert!(error.to_string().contains("fit."), "{what}: {error}"),
    }
}

#[test]
fn a_stream_interrupted_by_a_full_disk_never_looks_complete() {
    let mut points = 0;
    for ending in STREAMED_ENDINGS.iter() {
        for fault in [Fault::Fail, Fault::FailFrom] {
            for at in 0.. {
                let (directory, path) = prepared(ending, false);
                let injector = Injector::new(directory.path(), fault, at);
                stream(&path);
                let operations = injector.operations();
                drop(injector);
                if operations.len() <= at {
                    points += at;
                    break;
                }
                check_streamed(&draws_at(&path), &format!("{ending}, {fault:?} at {at}: {:?}", operations[at]));
            }
        }
    }
    println!("{points} injection points");
    assert!(points > 200, "{points}");
}

#[cfg(unix)]
#[test]
fn a_stream_interrupted_by_a_kill_never_looks_complete() {
    let mut points = 0;
    for ending in STREAMED_ENDINGS.iter() {
        for at in 0.. {
            let (_directory, path) = prepared(ending, false);
            if survived(&path, false, true, at) {
                points += at;
                break;
            }
            check_streamed(&draws_at(&path), &format!("{ending}, killed after {at}"));
            // The next run writes all draws and removes the temporary files of the killed one.
            stream(&path);
            let read = fits::open(draws_at(&path)).unwrap();
            assert_eq!(read.chains(), fit(200.0).chains(), "{ending}, killed after {at}");
            let left = files(&draws_at(&path)).into_iter().find(|file| file.to_string_lossy().contains(".unfinished-"));
            assert_eq!(left, None, "{ending}, killed after {at}");
        }
    }
    println!("{points} injection points");
}

/// Returns the path of the draws of a run that writes to `path`.
fn draws_at(path: &Path) -> std::path::PathBuf {
    draws_of_run(Format::from_name(path).unwrap(), path)
}
