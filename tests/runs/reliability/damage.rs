//! A damaged checkpoint is refused, whatever byte has changed.

use std::fs;
use std::path::Path;

use sgmcmc::Builder;
use sgmcmc::algorithms::Sgld;
use sgmcmc::gradient::Error;
use sgmcmc::gradient::FullGradient;
use sgmcmc::prelude::*;
use sgmcmc::run::CheckpointInterval;
use sgmcmc::storage::FileCheckpoints;
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::logistic::Logistic;

fn sample(directory: &Path, draws: usize) -> Result<Fit, Error> {
    let simulated = Logistic::simulate(30, 1);
    let store = FileCheckpoints::new(directory).unwrap();
    let run = Builder::new(simulated.by_hand.clone(), Sgld, FullGradient, 1e-3).seed(2);
    run.checkpoint(store, CheckpointInterval::Steps(4)).sample(&simulated.start, draws)
}

/// Every byte of the state and of the journal is changed in one bit; every change is noticed.
#[test]
fn every_changed_byte_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path(), 10).unwrap();
    let whole = sample(directory.path(), 12).unwrap();
    for name in ["chain-0.checkpoint", "chain-0.journal"] {
        let path = directory.path().join(name);
        let bytes = fs::read(&path).unwrap();
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1 << (place % 8);
            fs::write(&path, &changed).unwrap();
            let error = sample(directory.path(), 12).unwrap_err().to_string();
            assert!(error.starts_with("the checkpoint cannot be used: "), "byte {place} of {name}: {error}");
        }
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        assert!(sample(directory.path(), 12).is_err(), "{name} cut");
        fs::write(&path, &bytes).unwrap();
    }
    assert_eq!(sample(directory.path(), 12).unwrap().chains(), whole.chains());
}

/// Draws that were taken are appended once: the state stays small however long the run is, and the journal is written once.
#[test]
fn draws_are_written_once() {
    let sizes = |draws: usize| {
        let directory = tempfile::tempdir().unwrap();
        sample(directory.path(), draws).unwrap();
        ["chain-0.checkpoint", "chain-0.journal"].map(|name| fs::metadata(directory.path().join(name)).unwrap().len())
    };
    let ([short_state, short_journal], [long_state, long_journal]) = (sizes(40), sizes(4000));
    assert!(long_state < short_state + 64, "{short_state} bytes grew to {long_state}");
    // Six values and three other numbers in a draw, nine bytes each, and the names of a part of four draws.
    assert!(long_journal > 50 * short_journal && long_journal < 4000 * 9 * 9 + 1000 * 400, "{long_journal}");
}
