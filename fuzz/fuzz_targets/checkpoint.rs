//! Checkpoints: a run resumes from the bytes or returns an error.
#![no_main]

use std::io::Read;
use std::sync::{Arc, LazyLock, Mutex};

use libfuzzer_sys::fuzz_target;
use sgmcmc::gradient::Result;
use sgmcmc::prelude::*;
use sgmcmc::run::{CheckpointInterval, CheckpointStore};

/// A store that keeps the state of one chain and drops the journal.
#[derive(Clone, Default)]
struct MemoryStore(Arc<Mutex<Option<Vec<u8>>>>);

impl CheckpointStore for MemoryStore {
    fn save(&self, _: usize, bytes: &[u8]) -> Result<()> {
        *self.0.lock().expect("no thread panics here") = Some(bytes.to_vec());
        Ok(())
    }

    fn load(&self, _: usize) -> Result<Option<Vec<u8>>> {
        Ok(self.0.lock().expect("no thread panics here").clone())
    }

    fn append(&self, _: usize, _: u64, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn journal(&self, _: usize, _: u64) -> Result<Box<dyn Read + Send + '_>> {
        Ok(Box::new(std::io::empty()))
    }
}

fn run(store: &MemoryStore) -> sgmcmc::Result<()> {
    let model = Model::new(|theta: Tensor<1>, y: Tensor<1>| (y - theta).square() * -0.5);
    let data = Dataset::new(array(vec![0.5, 1.0, -0.25], [3])?)?;
    let run = sgld(&model, &data, 1e-2).minibatch(2).checkpoint(store.clone(), CheckpointInterval::Steps(5));
    run.sample(&array(vec![0.0], [1])?, 12)?;
    Ok(())
}

/// A valid checkpoint of the run.
static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let store = MemoryStore::default();
    run(&store).expect("the run is valid");
    store.load(0).ok().flatten().unwrap_or_default()
});

fuzz_target!(|data: &[u8]| {
    // The input is used as a checkpoint, and as a list of changes (offset and value) of a valid checkpoint.
    let mut changed = WHOLE.clone();
    for change in data.chunks_exact(3) {
        let offset = usize::from(u16::from_le_bytes([change[0], change[1]]));
        if let Some(byte) = changed.get_mut(offset) {
            *byte = change[2];
        }
    }
    for bytes in [data.to_vec(), changed] {
        let store = MemoryStore::default();
        let _ = CheckpointStore::save(&store, 0, &bytes);
        let _ = run(&store);
    }
});
