//! Ranks that work together: the contract [`Collective`], and its implementations by threads and by MPI.
//!
//! A *rank* is one of several copies of the same program, each with its own part of the data. All ranks call the same
//! operations in the same order.

mod agreement;
mod error;
mod launch;
#[cfg(feature = "mpi")]
mod mpi;
mod reduce;
#[cfg(test)]
mod tests;
mod threads;
mod traffic;

use std::fmt;
use std::time::{Duration, Instant};

pub use agreement::agree;
pub(crate) use agreement::check_same;
pub use error::{Error, Result};
pub use launch::{Launcher, launch};
#[cfg(feature = "mpi")]
pub use mpi::Mpi;
pub use threads::{ThreadRank, on_threads};
pub use traffic::Traffic;

use sgmcmc_fit::Communication;

/// A message to another rank.
///
/// # Examples
///
/// Each rank sends a byte to the next one in a ring:
///
/// ```
/// use sgmcmc::distributed::collective::{Incoming, Outgoing, on_threads};
///
/// let received = on_threads(3, |ranks| {
///     let (rank, mut byte) = (ranks.rank(), [0]);
///     let outgoing = [Outgoing { to: (rank + 1) % 3, bytes: &[rank as u8] }];
///     let mut incoming = [Incoming { from: (rank + 2) % 3, bytes: &mut byte }];
///     ranks.exchange(&outgoing, &mut incoming, &mut || ())?;
///     Ok(byte[0])
/// })?;
/// assert_eq!(received, [2, 0, 1]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// The receiver.
    pub to: usize,
    /// The content.
    pub bytes: &'a [u8],
}

/// A message from another rank.
///
/// # Examples
///
/// See [`Outgoing`].
#[derive(Debug)]
pub struct Incoming<'a> {
    /// The sender.
    pub from: usize,
    /// The place of the content. Its length is that of the message.
    pub bytes: &'a mut [u8],
}

/// Communication between the ranks of a run.
///
/// An implementation provides [`transfer`](Self::transfer), which moves bytes between ranks. All other operations
/// are written once, on top of it, so that the order of every sum is the same with every implementation: threads and
/// MPI give the same bits.
///
/// | operation | rounds of messages | bytes sent by a rank, for n bytes and P ranks |
/// |---|---|---|
/// | [`all_reduce_sum`](Self::all_reduce_sum) | log₂ P, or 2 log₂ P above 16 kB | n log₂ P, or 2n |
/// | [`broadcast`](Self::broadcast) | log₂ P | at most n log₂ P |
/// | [`gather`](Self::gather) | 1 + log₂ P | n |
/// | [`barrier`](Self::barrier) | log₂ P | 0 |
///
/// Between two ranks, messages arrive in the order in which they were sent.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::collective::on_threads;
///
/// let sums = on_threads(4, |ranks| {
///     let mut values = [ranks.rank() as f64, 1.0];
///     ranks.all_reduce_sum(&mut values)?;
///     Ok(values)
/// })?;
/// assert_eq!(sums, [[6.0, 4.0]; 4]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait Collective: Send + Sync + fmt::Debug {
    /// Returns the rank of the caller, less than [`size`](Self::size).
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn size(&self) -> usize;

    /// Sends and receives messages between ranks that exist. Calls `meanwhile` once, after the messages are on their way and
    /// before waiting for them.
    ///
    /// This is what an implementation provides. Call [`exchange`](Self::exchange), which checks its arguments and counts the
    /// cost.
    ///
    /// # Errors
    ///
    /// Returns an error that names the rank if another rank failed or ended, and an error if a message has another
    /// length than its place.
    fn transfer(
        &self,
        outgoing: &[Outgoing<'_>],
        incoming: &mut [Incoming<'_>],
        meanwhile: &mut dyn FnMut(),
    ) -> Result<()>;

    /// Ends the run of all ranks because this rank cannot go on for the reason `message`.
    ///
    /// With threads, all other ranks receive [`Error::RankFailed`] in their current or next operation. With MPI, the
    /// message is written to standard error and the job is aborted, because a rank that computes or waits inside MPI
    /// cannot be reached otherwise.
    fn fail(&self, message: &str);

    /// Returns the counters of this rank.
    fn traffic(&self) -> &Traffic;

    /// Sends and receives messages. Calls `meanwhile` after the messages are on their way and before waiting for them,
    /// so that computation and communication overlap.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`transfer`](Self::transfer), and an error if a sender or receiver is not a rank.
    fn exchange(
        &self,
        outgoing: &[Outgoing<'_>],
        incoming: &mut [Incoming<'_>],
        meanwhile: &mut dyn FnMut(),
    ) -> Result<()> {
        let others = outgoing.iter().map(|message| message.to).chain(incoming.iter().map(|place| place.from));
        if let Some(rank) = others.into_iter().find(|rank| *rank >= self.size()) {
            let expected = "it is less than the number of ranks";
            return Err(Error::Setting { name: "the rank of a message", value: rank.to_string(), expected });
        }
        let (began, mut computed) = (Instant::now(), Duration::ZERO);
        self.transfer(outgoing, incoming, &mut || {
            let computing = Instant::now();
            meanwhile();
            computed += computing.elapsed();
        })?;
        let bytes = outgoing.iter().map(|message| message.bytes.len()).sum();
        self.traffic().count(outgoing.len(), bytes, began.elapsed().saturating_sub(computed));
        Ok(())
    }

    /// Returns the messages and bytes that this rank has sent, and the seconds that it has waited.
    fn communication(&self) -> Communication {
        self.traffic().cost(self.size())
    }

    /// Returns the messages and bytes that all ranks have sent, and the longest time that a rank has waited.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`exchange`](Self::exchange).
    fn communication_of_all(&self) -> Result<Communication> {
        let own = self.communication();
        let words = [own.messages, own.bytes, own.seconds.to_bits()];
        let all = self.all_gather(bytemuck::cast_slice(&words))?;
        let cost = |bytes: &Vec<u8>| {
            let (words, _) = bytes.as_chunks::<8>();
            let word = |index: usize| words.get(index).map_or(0, |word| u64::from_ne_bytes(*word));
            Communication { ranks: self.size(), messages: word(0), bytes: word(1), seconds: f64::from_bits(word(2)) }
        };
        Ok(Communication::from_ranks(all.iter().map(cost)))
    }

    /// Replaces `values` on every rank by the sums over all ranks. The order of the sums depends on the number of ranks
    /// only.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`exchange`](Self::exchange).
    fn all_reduce_sum(&self, values: &mut [f64]) -> Result<()> {
        let mut buffer = self.traffic().take_buffer();
        let reduced = reduce::all_reduce_sum(self, values, &mut buffer);
        self.traffic().return_buffer(buffer);
        reduced
    }

    /// Replaces `bytes` on every rank by those of `root`. The lengths must agree.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`exchange`](Self::exchange).
    fn broadcast(&self, root: usize, bytes: &mut [u8]) -> Result<()> {
        reduce::broadcast(self, root, bytes)
    }

    /// Returns the `bytes` of all ranks on `root`, and `None` on the other ranks. The lengths may differ.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`exchange`](Self::exchange).
    fn gather(&self, root: usize, bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        reduce::gather(self, root, bytes)
    }

    /// Returns the `bytes` of all ranks on every rank. The lengths may differ.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`exchange`](Self::exchange).
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        reduce::all_gather(self, bytes)
    }

    /// Returns when all ranks have called it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`exchange`](Self::exchange).
    fn barrier(&self) -> Result<()> {
        self.all_reduce_sum(&mut [])
    }
}

/// Sends bytes to one rank and receives bytes from another, for instance its neighbors in a ring.
///
/// # Errors
///
/// Returns the errors of [`Collective::exchange`].
pub(crate) fn send_receive<C: Collective + ?Sized>(
    ranks: &C,
    to: usize,
    outgoing: &[u8],
    from: usize,
    incoming: &mut [u8],
) -> Result<()> {
    ranks.exchange(&[Outgoing { to, bytes: outgoing }], &mut [Incoming { from, bytes: incoming }], &mut || ())
}

/// Returns the numbers whose bytes a rank has sent.
pub(crate) fn numbers(bytes: &[u8]) -> Vec<f64> {
    let (numbers, _) = bytes.as_chunks::<8>();
    numbers.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect()
}
