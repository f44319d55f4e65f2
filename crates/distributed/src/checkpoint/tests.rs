//! Tests of checkpoints of several ranks.

use std::fs;

use sgmcmc_samplers::run::InMemoryCheckpoints;
use sgmcmc_storage::output::fault::{Fault, Injector};

use super::*;
use crate::collective::on_threads;

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn ranks_resume_from_the_newest_epoch_of_all() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let save = |epochs: u64, of_rank_1: u64| {
        on_threads(2, |ranks| {
            let mut store = EpochCheckpoints::in_directory(path, ranks.clone(), "run")?;
            let resumed = store.resume()?.map(|resumed| (text(resumed.state), text(resumed.journal)));
            let first = resumed.as_ref().map_or(0, |(state, _)| state.parse::<u64>().unwrap_or(0));
            for epoch in first + 1..=epochs {
                if epoch > of_rank_1 {
                    // Rank 1 is killed before it writes this epoch.
                    if ranks.rank() == 0 {
                        let _ = store.save(epoch.to_string().as_bytes(), format!("{epoch},").as_bytes());
                    }
                    break;
                }
                store.save(epoch.to_string().as_bytes(), format!("{epoch},").as_bytes())?;
            }
            Ok(resumed)
        })
    };
    assert_eq!(save(3, 9).unwrap(), [None, None]);
    // Rank 0 writes epoch 4, which rank 1 never has.
    let _ = save(4, 3);
    let resumed = Some(("3".to_owned(), "1,2,3,".to_owned()));
    assert_eq!(save(5, 9).unwrap(), [resumed.clone(), resumed]);
    let resumed = Some(("5".to_owned(), "1,2,3,4,5,".to_owned()));
    assert_eq!(save(5, 9).unwrap(), [resumed.clone(), resumed]);

    // Other numbers of ranks and other settings are refused.
    let resume = |ranks: usize, identity: &str| {
        on_threads(ranks, |ranks| EpochCheckpoints::in_directory(path, ranks.clone(), identity)?.resume()).unwrap_err()
    };
    assert!(resume(4, "run").to_string().contains("made by 2 ranks, but this run has 4"), "{}", resume(4, "run"));
    assert!(resume(1, "run").to_string().contains("made by 2 ranks, but this run has 1"));
    assert!(resume(2, "other").to_string().contains("rank 0 was made by a run with other settings"));

    // Damage and missing files name the rank.
    let file = path.join("rank-1").join("chain-1.checkpoint");
    let mut bytes = fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&file, bytes).unwrap();
    let error = resume(2, "run").to_string();
    assert!(error.contains("rank 1 of 2") && error.contains("checksum"), "{error}");
    fs::remove_dir_all(path.join("rank-1")).unwrap();
    let error = resume(2, "run").to_string();
    assert!(error.contains("rank 1 has no checkpoint"), "{error}");
}

/// Every operation on the files of rank 1 fails once: all ranks stop, and resume from the same epoch.
#[test]
fn a_full_disk_of_one_rank_leaves_a_common_epoch() {
    const EPOCHS: u64 = 3;
    let run = |path: &std::path::Path| {
        on_threads(2, |ranks| {
            let mut store = EpochCheckpoints::in_directory(path, ranks.clone(), "run")?;
            let mut sum = store.resume()?.map_or(String::new(), |resumed| text(resumed.journal));
            for epoch in sum.len() as u64 / 2 + 1..=EPOCHS {
                let draw = format!("{epoch},");
                sum.push_str(&draw);
                store.save(epoch.to_string().as_bytes(), draw.as_bytes())?;
            }
            Ok(sum)
        })
    };
    let mut at = 0;
    loop {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let injector = Injector::new(path.join("rank-1"), Fault::Fail, at);
        let first = run(path);
        let operations = injector.operations();
        drop(injector);
        assert_eq!(first.is_ok(), operations.len() <= at, "{:?}", operations.get(at));
        let whole = "1,2,3,".to_owned();
        assert_eq!(run(path).unwrap(), [whole.clone(), whole], "{:?}", operations.get(at));
        if operations.len() <= at {
            break;
        }
        at += 1;
    }
    assert!(at > 15, "{at} injection points");
}

#[test]
fn a_run_that_never_completed_an_epoch_starts_again() {
    let stores = [InMemoryCheckpoints::default(), InMemoryCheckpoints::default()];
    let _ = on_threads(2, |ranks| {
        let mut store = EpochCheckpoints::new(stores[ranks.rank()].clone(), ranks.clone(), "run");
        if ranks.rank() == 0 { store.save(b"1", b"") } else { Ok(()) }
    });
    let resumed =
        on_threads(2, |ranks| EpochCheckpoints::new(stores[ranks.rank()].clone(), ranks.clone(), "run").resume());
    assert_eq!(resumed.unwrap(), [None, None]);
}
