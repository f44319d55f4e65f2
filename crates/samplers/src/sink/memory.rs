//! Keeps every draw.

use serde::{Deserialize, Serialize};
use sgmcmc_core::Result;

use super::{Draw, Schema, Sink};
use crate::run::{ChainDraws, decode, encode};

/// Keeps every draw in memory, allocated before the first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    draws: ChainDraws,
}

impl Memory {
    /// Bytes that `draws` draws of `values` values and `stats` other numbers take.
    pub fn bytes(draws: usize, values: usize, stats: usize) -> usize {
        // The values, and weight, log posterior and iteration of each draw.
        draws.saturating_mul(values.saturating_add(stats).saturating_add(3)).saturating_mul(size_of::<f64>())
    }
}

impl Sink for Memory {
    type Output = ChainDraws;

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        self.draws = ChainDraws::with_capacity(schema.draws, schema.layout.value_count(), schema.stats.clone());
        Ok(())
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        self.draws.push(draw)
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&self.draws)
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        self.draws = decode(saved)?;
        Ok(())
    }

    fn finish(self) -> ChainDraws {
        self.draws
    }
}
