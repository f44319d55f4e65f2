//! The cost of communication, and the buffers that it reuses.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sgmcmc_fit::Communication;

/// The counters and buffers of one rank. Every [`Collective`](super::Collective) owns one.
#[derive(Debug, Default)]
pub struct Traffic {
    sent: Mutex<Sent>,
    buffer: Mutex<Vec<f64>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    messages: u64,
    bytes: u64,
    waited: Duration,
}

impl Traffic {
    /// Counts messages that were sent, and the time that the rank waited for the exchange to end.
    pub fn count(&self, messages: usize, bytes: usize, waited: Duration) {
        let mut sent = lock(&self.sent);
        sent.messages += messages as u64;
        sent.bytes += bytes as u64;
        sent.waited += waited;
    }

    /// Returns the cost so far, on a rank of `ranks`.
    pub(super) fn cost(&self, ranks: usize) -> Communication {
        let Sent { messages, bytes, waited } = *lock(&self.sent);
        Communication { ranks, messages, bytes, seconds: waited.as_secs_f64() }
    }

    /// Takes the buffer for received numbers.
    pub(super) fn take_buffer(&self) -> Vec<f64> {
        std::mem::take(&mut *lock(&self.buffer))
    }

    /// Returns the buffer for the next operation.
    pub(super) fn return_buffer(&self, buffer: Vec<f64>) {
        *lock(&self.buffer) = buffer;
    }
}

/// Locks a mutex. All values behind the mutexes of this crate are valid between two instructions of their owner.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
