//! Sinks: what becomes of draws. A sink never sees a sampler, and a sampler never sees a sink.

mod interleaved;
mod memory;
mod moments;
mod quantiles;
mod scores;
mod test_function;

pub(crate) use interleaved::Interleaved;
pub use memory::Memory;
pub use moments::{Moments, RunningMoments, Spread};
pub use quantiles::{Digest, Quantiles};
pub use scores::{ChainScores, Scores};
pub use test_function::{TestFunction, Trace};

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use sgmcmc_core::{Error, Layout, Result};

use crate::run::{decode, encode};

/// What draws look like, told before the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// Names, shapes and places of the values.
    pub layout: Layout,
    /// How many draws of this chain are planned.
    pub draws: usize,
    /// The number of the chain. Interleaved chains are numbered one by one, see
    /// [`Builder::sample_into`](crate::Builder::sample_into).
    pub chain: usize,
    /// The names of the numbers that come with each draw: thermostats, `alpha` of the sampling threshold, and the like.
    pub stats: Vec<String>,
}

/// One draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw<'a> {
    /// The iteration it was made in, counted from 1, burn-in included.
    pub iteration: u64,
    /// The values of the parameters.
    pub values: &'a [f64],
    /// Its weight: the step size it was made with.
    pub weight: f64,
    /// The estimate of the log density that came with its gradient: see [`StepInfo`](crate::StepInfo::log_posterior).
    pub log_posterior: f64,
    /// The numbers that come with it, in the order of their names in the [`Schema`].
    pub stats: &'a [f64],
}

/// Takes the draws of one chain. Two sinks in a tuple are a sink.
///
/// Algorithms that interleave M chains have M sinks per run, one for each chain.
pub trait Sink: Send {
    /// What is left when the chain ends.
    type Output: Send;

    /// Told once, before the first draw.
    fn begin(&mut self, schema: &Schema) -> Result<()>;

    /// Takes one draw.
    fn record(&mut self, draw: &Draw<'_>) -> Result<()>;

    /// Makes sure that what was taken is safe.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Returns the files that this sink writes, so that two chains do not write the same one.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns what was taken since the last call, as bytes that a checkpoint appends to those of earlier calls; none by default.
    ///
    /// A sink that keeps every draw returns them here, so that each is written once. Its [`save`](Self::save) is then the rest.
    fn append(&mut self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    /// Takes back bytes that [`append`](Self::append) returned. Called after [`begin`](Self::begin), once for each of them that was not
    /// empty, in their order, and before [`restore`](Self::restore).
    ///
    /// # Errors
    ///
    /// If the bytes are of another sink.
    fn replay(&mut self, part: &[u8]) -> Result<()> {
        let reason = format!("a sink that appends nothing was given {} bytes", part.len());
        Err(Error::Checkpoint { reason })
    }

    /// Returns the state of the sink as bytes for a checkpoint.
    fn save(&self) -> Result<Vec<u8>>;

    /// Goes on from what [`save`](Self::save) gave. Called after [`begin`](Self::begin).
    ///
    /// # Errors
    ///
    /// If the bytes are of another sink.
    fn restore(&mut self, saved: &[u8]) -> Result<()>;

    /// Ends the sink. Also called when a chain ends early: nothing drawn is lost.
    fn finish(self) -> Self::Output;
}

impl<A: Sink, B: Sink> Sink for (A, B) {
    type Output = (A::Output, B::Output);

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        self.0.begin(schema)?;
        self.1.begin(schema)
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        self.0.record(draw)?;
        self.1.record(draw)
    }

    fn flush(&mut self) -> Result<()> {
        self.0.flush()?;
        self.1.flush()
    }

    fn files(&self) -> Vec<PathBuf> {
        [self.0.files(), self.1.files()].concat()
    }

    fn append(&mut self) -> Result<Vec<u8>> {
        join([self.0.append()?, self.1.append()?].into())
    }

    fn replay(&mut self, part: &[u8]) -> Result<()> {
        let parts = split(part, 2)?;
        for (number, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            if number == 0 { self.0.replay(part)? } else { self.1.replay(part)? }
        }
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&(ByteBuf::from(self.0.save()?), ByteBuf::from(self.1.save()?)))
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let (first, second): (ByteBuf, ByteBuf) = decode(saved)?;
        self.0.restore(&first)?;
        self.1.restore(&second)
    }

    fn finish(self) -> Self::Output {
        (self.0.finish(), self.1.finish())
    }
}

/// An error unless a sink took back as many draws as it had when it was saved.
fn check_count(expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::Checkpoint { reason: format!("it has {found} draws where there should be {expected}") })
}

/// The parts of several sinks as one part; empty if all of them are.
fn join(parts: Vec<Vec<u8>>) -> Result<Vec<u8>> {
    if parts.iter().all(Vec::is_empty) {
        return Ok(Vec::new());
    }
    encode(&parts.into_iter().map(ByteBuf::from).collect::<Vec<_>>())
}

/// The parts of `sinks` sinks that [`join`] put together.
fn split(joined: &[u8], sinks: usize) -> Result<Vec<ByteBuf>> {
    let parts: Vec<ByteBuf> = decode(joined)?;
    if parts.len() == sinks {
        return Ok(parts);
    }
    Err(Error::Checkpoint { reason: format!("it has the draws of {} sinks, but this run has {sinks}", parts.len()) })
}
