//! Checkpoints: a run that finds these bytes goes on or refuses them.
#![no_main]

use std::sync::{Arc, LazyLock, Mutex};

use libfuzzer_sys::fuzz_target;
use sgmcmc::prelude::*;
use sgmcmc::run::{CheckpointStore, Every};
use sgmcmc::{Error, sgld};

#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<Option<Vec<u8>>>>);

impl CheckpointStore for Shelf {
    fn save(&self, _: usize, bytes: &[u8]) -> Result<(), Error> {
        *self.0.lock().expect("no thread panics here") = Some(bytes.to_vec());
        Ok(())
    }

    fn load(&self, _: usize) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.0.lock().expect("no thread panics here").clone())
    }
}

fn run(shelf: &Shelf) -> Result<(), Error> {
    let model = Model::new(|theta: Tensor<1>, y: Tensor<1>| (y - theta).square() * -0.5);
    let data = Dataset::new(array(vec![0.5, 1.0, -0.25], [3])?)?;
    let run = sgld(&model, &data, 1e-2).minibatch(2).checkpoint(shelf.clone(), Every::Steps(5));
    run.sample(&array(vec![0.0], [1])?, 12).map(|_| ())
}

/// A checkpoint of this very run.
static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let shelf = Shelf::default();
    run(&shelf).expect("the run is fine");
    shelf.load(0).ok().flatten().unwrap_or_default()
});

fuzz_target!(|data: &[u8]| {
    // The bytes themselves, and the changes they make to a whole checkpoint: place and value.
    let mut changed = WHOLE.clone();
    for change in data.chunks_exact(3) {
        let place = usize::from(u16::from_le_bytes([change[0], change[1]]));
        if let Some(byte) = changed.get_mut(place) {
            *byte = change[2];
        }
    }
    for bytes in [data.to_vec(), changed] {
        let shelf = Shelf::default();
        let _ = CheckpointStore::save(&shelf, 0, &bytes);
        let _ = run(&shelf);
    }
});
