//! A store of checkpoints that takes a known time.

use std::io::Read;
use std::time::Duration;

use sgmcmc_gradient::Result;
use sgmcmc_samplers::run::{CheckpointStore, InMemoryCheckpoints};

/// The time that [`Slow`] takes for each checkpoint.
pub(crate) const SAVE: Duration = Duration::from_millis(50);

/// Checkpoints in memory whose saving takes [`SAVE`].
#[derive(Clone, Default)]
pub(crate) struct Slow(InMemoryCheckpoints);

impl CheckpointStore for Slow {
    fn save(&self, chain: usize, state: &[u8]) -> Result<()> {
        std::thread::sleep(SAVE);
        self.0.save(chain, state)
    }

    fn load(&self, chain: usize) -> Result<Option<Vec<u8>>> {
        self.0.load(chain)
    }

    fn append(&self, chain: usize, at: u64, bytes: &[u8]) -> Result<()> {
        self.0.append(chain, at, bytes)
    }

    fn journal(&self, chain: usize, length: u64) -> Result<Box<dyn Read + Send + '_>> {
        self.0.journal(chain, length)
    }
}
