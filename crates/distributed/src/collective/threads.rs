//! Ranks that are threads of one process.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::traffic::lock;
use super::{Collective, Error, Incoming, Outgoing, Result, Traffic};

/// A rank that is a thread of this process.
///
/// [`on_threads`] creates the ranks of a run. [`ThreadRank::alone`] is the only rank of a run.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::collective::{Collective, ThreadRank};
///
/// let rank = ThreadRank::alone();
/// let mut values = [1.5];
/// rank.all_reduce_sum(&mut values)?;
/// assert_eq!((rank.size(), values), (1, [1.5]));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct ThreadRank {
    rank: usize,
    shared: Arc<Shared>,
    traffic: Traffic,
}

/// The mailboxes of all ranks.
#[derive(Debug)]
struct Shared {
    size: usize,
    /// The messages from rank f to rank t, at index f · size + t.
    mailboxes: Vec<Mailbox>,
    /// The first failure of a rank.
    failure: Mutex<Option<Error>>,
}

#[derive(Debug, Default)]
struct Mailbox {
    queue: Mutex<Queue>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    messages: VecDeque<Vec<u8>>,
    /// Buffers of messages that were received, for the next messages.
    spare: Vec<Vec<u8>>,
    /// True if the sender has ended.
    closed: bool,
}

impl Shared {
    fn new(size: usize) -> Self {
        let mailboxes = (0..size * size).map(|_| Mailbox::default()).collect();
        Self { size, mailboxes, failure: Mutex::new(None) }
    }

    fn mailbox(&self, from: usize, to: usize) -> &Mailbox {
        &self.mailboxes[from * self.size + to]
    }

    /// Ends the messages of `rank`.
    fn close(&self, rank: usize) {
        for to in 0..self.size {
            let mailbox = self.mailbox(rank, to);
            lock(&mailbox.queue).closed = true;
            mailbox.arrived.notify_all();
        }
    }

    /// Records that `rank` failed, unless another rank failed before, and wakes all ranks.
    fn fail(&self, rank: usize, message: &str) {
        let size = self.size;
        lock(&self.failure).get_or_insert_with(|| Error::RankFailed { rank, size, message: message.into() });
        for mailbox in &self.mailboxes {
            // A receiver checks for failures with the lock held.
            let _queue = lock(&mailbox.queue);
            mailbox.arrived.notify_all();
        }
    }

    fn check_failure(&self) -> Result<()> {
        lock(&self.failure).clone().map_or(Ok(()), Err)
    }
}

impl ThreadRank {
    /// Creates the only rank of a run.
    pub fn alone() -> Self {
        Self { rank: 0, shared: Arc::new(Shared::new(1)), traffic: Traffic::default() }
    }

    fn send(&self, message: &Outgoing<'_>) {
        let mailbox = self.shared.mailbox(self.rank, message.to);
        let mut queue = lock(&mailbox.queue);
        let mut bytes = queue.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(message.bytes);
        queue.messages.push_back(bytes);
        mailbox.arrived.notify_all();
    }

    fn receive(&self, place: &mut Incoming<'_>) -> Result<()> {
        let mailbox = self.shared.mailbox(place.from, self.rank);
        let mut queue = lock(&mailbox.queue);
        loop {
            self.shared.check_failure()?;
            if let Some(message) = queue.messages.pop_front() {
                let (expected, found) = (place.bytes.len(), message.len());
                if expected != found {
                    return Err(Error::MessageLength { from: place.from, to: self.rank, expected, found });
                }
                place.bytes.copy_from_slice(&message);
                queue.spare.push(message);
                return Ok(());
            }
            if queue.closed {
                let (rank, size, waiting) = (place.from, self.shared.size, self.rank);
                return Err(Error::RankEnded { rank, size, waiting });
            }
            queue = mailbox.arrived.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Collective for ThreadRank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.shared.size
    }

    fn transfer(
        &self,
        outgoing: &[Outgoing<'_>],
        incoming: &mut [Incoming<'_>],
        meanwhile: &mut dyn FnMut(),
    ) -> Result<()> {
        self.shared.check_failure()?;
        outgoing.iter().for_each(|message| self.send(message));
        meanwhile();
        incoming.iter_mut().try_for_each(|place| self.receive(place))
    }

    fn fail(&self, message: &str) {
        self.shared.fail(self.rank, message);
    }

    fn traffic(&self) -> &Traffic {
        &self.traffic
    }
}

/// Runs `body` on `ranks` threads of this process, one rank each. Returns its results in the order of the ranks.
///
/// The ranks divide the threads of the pool of the caller: each has a pool of its own, on which its chains run.
///
/// # Errors
///
/// Returns the error of the rank that failed first. A panic of `body` is converted into an error.
///
/// # Examples
///
/// See [`Collective`].
pub fn on_threads<T: Send>(ranks: usize, body: impl Fn(Arc<dyn Collective>) -> Result<T> + Sync) -> Result<Vec<T>> {
    if ranks == 0 {
        return Err(Error::Setting { name: "the number of ranks", value: "0".into(), expected: "it is at least 1" });
    }
    let shared = Arc::new(Shared::new(ranks));
    // A rank that waits in a pool that it shares with the rank it waits for would wait forever.
    let threads = (rayon::current_num_threads() / ranks).max(1);
    let pool = || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|error| Error::Launch { reason: format!("no threads for a rank: {error}") })
    };
    let run = &|rank: usize| {
        let collective = Arc::new(ThreadRank { rank, shared: shared.clone(), traffic: Traffic::default() });
        let result = catch_unwind(AssertUnwindSafe(|| pool()?.install(|| body(collective))));
        let result = result.unwrap_or_else(|panic| {
            let what = format!("the program of rank {rank}");
            Err(Error::Model(sgmcmc_gradient::Error::Panicked { what, message: message_of(panic.as_ref()) }))
        });
        match &result {
            Ok(_) => shared.close(rank),
            Err(error) => shared.fail(rank, &error.to_string()),
        }
        result
    };
    let results: Vec<Result<T>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..ranks).map(|rank| scope.spawn(move || run(rank))).collect();
        let ended = |(rank, thread): (usize, std::thread::ScopedJoinHandle<'_, Result<T>>)| {
            thread.join().unwrap_or(Err(Error::RankEnded { rank, size: ranks, waiting: rank }))
        };
        threads.into_iter().enumerate().map(ended).collect()
    });
    match lock(&shared.failure).take() {
        Some(failure) => Err(failure),
        None => results.into_iter().collect(),
    }
}

/// Returns the message of a panic.
fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}
