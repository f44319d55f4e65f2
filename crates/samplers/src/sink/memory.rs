//! Keeps every draw.

use sgmcmc_core::Result;

use super::{Draw, Schema, Sink};
use crate::run::{ChainDraws, decode, encode};

/// Keeps every draw in memory, allocated before the first.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    draws: ChainDraws,
    /// How many of them are in a checkpoint.
    appended: usize,
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
        self.appended = 0;
        Ok(())
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        self.draws.push(draw)
    }

    fn append(&mut self) -> Result<Vec<u8>> {
        if self.appended == self.draws.len() {
            return Ok(Vec::new());
        }
        let part = encode(&self.draws.since(self.appended))?;
        self.appended = self.draws.len();
        Ok(part)
    }

    fn replay(&mut self, part: &[u8]) -> Result<()> {
        self.draws.extend(&decode(part)?)?;
        self.appended = self.draws.len();
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&self.draws.len())
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        super::check_count(decode(saved)?, self.draws.len())
    }

    fn finish(self) -> ChainDraws {
        self.draws
    }
}
