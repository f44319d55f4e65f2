//! A damaged checkpoint is refused, whatever byte has changed.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rand::RngExt;
use sgmcmc::Builder;
use sgmcmc::algorithms::Sgld;
use sgmcmc::gradient::Error;
use sgmcmc::gradient::FullGradient;
use sgmcmc::prelude::*;
use sgmcmc::run::{CheckpointInterval, CheckpointStore};
use sgmcmc::storage::FileCheckpoints;
use sgmcmc_fit::checkpoint::sealed::{seal, unseal};
use sgmcmc_fuzzing::mutate;
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::logistic::Logistic;
use sgmcmc_testkit::rng;

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

/// A store of the state of one chain, without a journal.
#[derive(Clone, Default)]
struct StateOnly(Arc<Mutex<Option<Vec<u8>>>>);

impl CheckpointStore for StateOnly {
    fn save(&self, _: usize, bytes: &[u8]) -> Result<(), Error> {
        *self.0.lock().unwrap() = Some(bytes.to_vec());
        Ok(())
    }

    fn load(&self, _: usize) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn append(&self, _: usize, _: u64, _: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn journal(&self, _: usize, _: u64) -> Result<Box<dyn Read + Send + '_>, Error> {
        Ok(Box::new(std::io::empty()))
    }
}

/// As the fuzz target of checkpoints does: random bytes, and random changes of a valid state, whose seal is made anew.
#[test]
fn random_checkpoints_do_not_panic() {
    let simulated = Logistic::simulate(30, 1);
    let sample = |state: Option<Vec<u8>>| {
        let store = StateOnly(Arc::new(Mutex::new(state)));
        let run = Builder::new(simulated.by_hand.clone(), Sgld, FullGradient, 1e-3).seed(2);
        let outcome = run.checkpoint(store.clone(), CheckpointInterval::Steps(4)).sample(&simulated.start, 10);
        (outcome, store.load(0).unwrap().unwrap())
    };
    let (_, whole) = sample(None);
    let content = unseal(&whole).unwrap().to_vec();
    let mut rng = rng(11);
    for _ in 0..2000 {
        let noise: Vec<u8> = (0..rng.random_range(0..300)).map(|_| rng.random()).collect();
        let changed = mutate(&content, &noise, &mut rng);
        for state in [noise, seal(&changed), changed] {
            let error = sample(Some(state)).0.map(|fit| fit.chains()[0].len());
            assert!(!matches!(error, Err(Error::Panicked { .. })), "{error:?}");
        }
    }
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
