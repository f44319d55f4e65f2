//! Sinks of interleaved chains.

use std::path::PathBuf;

use serde_bytes::ByteBuf;
use sgmcmc_gradient::Result;

use super::{Draw, Schema, Sink, join, split};
use crate::codec::encode;

/// The sinks of the M chains that one run interleaves. Iteration t, where the first is 1, moves chain (t − 1) mod M.
///
/// With M = 1, checkpoints contain the same bytes as those of the single sink.
#[derive(Debug)]
pub struct Interleaved<S> {
    sinks: Vec<S>,
}

impl<S: Sink> Interleaved<S> {
    /// Creates the sinks of run number `run`. `make` takes the index of a recorded chain, from `run`·M to `run`·M + M −
    /// 1.
    pub fn new(run: usize, chains: usize, make: impl Fn(usize) -> S) -> Self {
        Self { sinks: (0..chains).map(|chain| make(run * chains + chain)).collect() }
    }
}

impl<S: Sink> Sink for Interleaved<S> {
    type Output = Vec<S::Output>;

    /// Starts the sinks. `schema` has the index of the run and the number of draws of all its chains together.
    fn begin(&mut self, schema: &Schema) -> Result<()> {
        let chains = self.sinks.len();
        for (chain, sink) in self.sinks.iter_mut().enumerate() {
            let (chain, draws) = (schema.chain * chains + chain, schema.draws / chains);
            sink.begin(&Schema { chain, draws, chains: schema.chains * chains, ..schema.clone() })?;
        }
        Ok(())
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        match self.sinks.as_mut_slice() {
            [sink] => sink.record(draw),
            sinks => {
                let chain = (draw.iteration - 1) % sinks.len() as u64;
                sinks[chain as usize].record(draw)
            }
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.sinks.iter_mut().try_for_each(Sink::flush)
    }

    fn files(&self) -> Vec<PathBuf> {
        self.sinks.iter().flat_map(Sink::files).collect()
    }

    fn append(&mut self) -> Result<Vec<u8>> {
        if let [sink] = self.sinks.as_mut_slice() {
            return sink.append();
        }
        join(self.sinks.iter_mut().map(Sink::append).collect::<Result<_>>()?)
    }

    fn replay(&mut self, part: &[u8]) -> Result<()> {
        if let [sink] = self.sinks.as_mut_slice() {
            return sink.replay(part);
        }
        let parts = split(part, self.sinks.len())?;
        let recorded = self.sinks.iter_mut().zip(&parts).filter(|(_, part)| !part.is_empty());
        recorded.into_iter().try_for_each(|(sink, part)| sink.replay(part))
    }

    fn save(&self) -> Result<Vec<u8>> {
        if let [sink] = self.sinks.as_slice() {
            return sink.save();
        }
        let saved = self.sinks.iter().map(|sink| Ok(ByteBuf::from(sink.save()?)));
        encode(&saved.collect::<Result<Vec<_>>>()?)
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        if let [sink] = self.sinks.as_mut_slice() {
            return sink.restore(saved);
        }
        let saved = split(saved, self.sinks.len())?;
        self.sinks.iter_mut().zip(saved).try_for_each(|(sink, saved)| sink.restore(&saved))
    }

    fn finish(self) -> Self::Output {
        self.sinks.into_iter().map(Sink::finish).collect()
    }
}
