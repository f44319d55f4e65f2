//! A sink that keeps every draw in memory.

use sgmcmc_gradient::Result;

use super::{Draw, Schema, Sink};
use crate::ChainDraws;
use crate::codec::{decode, encode};

/// A sink that keeps every draw in memory. The memory is allocated before the first draw.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::sink::Memory;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let chains = hmc(&model, &Dataset::none(), 0.025).sample_into(&zeros([2]), 50, |_chain| Memory::default())?;
/// let (draws, _outcome) = &chains[0];
/// assert_eq!(draws.len(), 50);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Memory {
    draws: ChainDraws,
    /// The number of draws that are in a checkpoint.
    appended: usize,
}

impl Memory {
    /// Returns the memory in bytes of `draws` draws with `values` values and `stats` statistics each.
    pub fn bytes(draws: usize, values: usize, stats: usize) -> usize {
        // Each draw also has a weight, a log posterior and an iteration.
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
