//! Sinks: receivers of draws during a run. Sinks do not depend on samplers.

mod interleaved;
mod memory;
mod moments;
mod quantiles;
mod scores;
mod test_function;

pub use interleaved::Interleaved;
pub use memory::Memory;
pub use moments::{Moments, RunningMoments, SecondMoments};
pub use quantiles::{Quantiles, TDigest};
pub use scores::{ChainScores, Scores};
pub use test_function::{TestFunction, Trace};

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use sgmcmc_gradient::{Error, Layout, Result};

use crate::codec::{decode, encode};
pub use crate::draw::Draw;

/// The structure of the draws of a chain. A sink receives it before the first draw.
///
/// # Examples
///
/// See [`Sink`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// The names, shapes and ranges of the parameters.
    pub layout: Layout,
    /// The number of requested draws of this chain.
    pub draws: usize,
    /// The index of the chain. Each interleaved chain has its own index, see `Builder::sample_into`.
    pub chain: usize,
    /// The number of chains of the run, or 0 if it is unknown. If the process runs only a range of the chains, this is
    /// the end of the range.
    #[serde(default)]
    pub chains: usize,
    /// The names of the statistics of each draw, for instance thermostats or the `alpha` of the sampling threshold.
    pub stats: Vec<String>,
}

/// A receiver of the draws of one chain. A tuple of two sinks is a sink that passes each draw to both.
///
/// Algorithms that interleave M chains have M sinks per run, one for each chain.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::{Error, Result};
/// use sgmcmc::prelude::*;
/// use sgmcmc::sink::{Draw, Schema, Sink};
///
/// /// Keeps the largest first value.
/// struct Largest(f64);
///
/// impl Sink for Largest {
///     type Output = f64;
///     fn begin(&mut self, _schema: &Schema) -> Result<()> { Ok(()) }
///     fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
///         self.0 = self.0.max(draw.values[0]);
///         Ok(())
///     }
///     fn save(&self) -> Result<Vec<u8>> { Ok(self.0.to_le_bytes().to_vec()) }
///     fn restore(&mut self, saved: &[u8]) -> Result<()> {
///         let bytes = saved.try_into().map_err(|_| Error::Checkpoint { reason: "8 bytes expected".into() })?;
///         self.0 = f64::from_le_bytes(bytes);
///         Ok(())
///     }
///     fn finish(self) -> f64 { self.0 }
/// }
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let run = hmc(&model, &Dataset::none(), 0.025).seed(1);
/// let largest = run.sample_into(&zeros([1]), 100, |_chain| Largest(f64::NEG_INFINITY))?[0].0;
/// assert!(largest > 0.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait Sink: Send {
    /// The result of the sink at the end of the chain.
    type Output: Send;

    /// Prepares the sink. Called once, before the first draw.
    fn begin(&mut self, schema: &Schema) -> Result<()>;

    /// Records a draw.
    fn record(&mut self, draw: &Draw<'_>) -> Result<()>;

    /// Writes all recorded draws to durable storage.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Returns the files that this sink writes. Runs check that no two chains write the same file.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the draws recorded since the last call, as bytes that a checkpoint appends to its journal. The default
    /// is no bytes.
    ///
    /// A sink that keeps every draw returns them here, so that each draw is written once. [`save`](Self::save) then
    /// returns the rest of the state.
    fn append(&mut self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    /// Restores draws from bytes that [`append`](Self::append) returned. Called after [`begin`](Self::begin) and before
    /// [`restore`](Self::restore), once for each non-empty result of `append`, in order.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are from another sink.
    fn replay(&mut self, part: &[u8]) -> Result<()> {
        let reason = format!("a sink without a journal was given {} bytes", part.len());
        Err(Error::Checkpoint { reason })
    }

    /// Returns the state of the sink as bytes for a checkpoint.
    fn save(&self) -> Result<Vec<u8>>;

    /// Restores the state that [`save`](Self::save) returned. Called after [`begin`](Self::begin).
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are from another sink.
    fn restore(&mut self, saved: &[u8]) -> Result<()>;

    /// Ends the sink and returns its result. Also called when a chain is stopped or fails, so that no draws are lost.
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

/// Checks that a restored sink has as many draws as it had when it was saved.
fn check_count(expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::Checkpoint { reason: format!("it has {found} draws where there should be {expected}") })
}

/// Encodes the journal entries of several sinks as one entry. Returns no bytes if all entries are empty.
fn join(parts: Vec<Vec<u8>>) -> Result<Vec<u8>> {
    if parts.iter().all(Vec::is_empty) {
        return Ok(Vec::new());
    }
    encode(&parts.into_iter().map(ByteBuf::from).collect::<Vec<_>>())
}

/// Decodes the journal entries of `sinks` sinks that [`join`] encoded.
fn split(joined: &[u8], sinks: usize) -> Result<Vec<ByteBuf>> {
    let parts: Vec<ByteBuf> = decode(joined)?;
    if parts.len() == sinks {
        return Ok(parts);
    }
    Err(Error::Checkpoint { reason: format!("it has the draws of {} sinks, but this run has {sinks}", parts.len()) })
}
