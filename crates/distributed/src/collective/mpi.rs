//! Ranks that communicate by MPI.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;

use mpi::environment::Universe;
use mpi::request::{Request, Scope, scope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Equivalence, Source};
use mpi::{Rank, Threading};

use super::traffic::lock;
use super::{Collective, Error, Incoming, Outgoing, Result, Traffic};

/// A rank of a job that `mpirun`, `mpiexec` or `srun` started. Needs the feature `mpi`.
///
/// [`launch`](super::launch) creates it. MPI is finalized when it is dropped.
#[derive(Debug)]
pub struct Mpi {
    rank: usize,
    size: usize,
    traffic: Traffic,
    /// MPI allows calls from several threads only one at a time.
    turn: Mutex<()>,
    _universe: Finalizer,
}

/// Finalizes MPI when it is dropped.
struct Finalizer(#[expect(dead_code, reason = "dropping it finalizes MPI")] Universe);

impl std::fmt::Debug for Finalizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Universe")
    }
}

/// The most bytes of one MPI message, whose length is a 32-bit integer. Longer messages are sent in several parts.
const LONGEST: usize = 1 << 30;

impl Mpi {
    /// Initializes MPI and finds the rank of this process.
    ///
    /// # Errors
    ///
    /// Returns an error if MPI is already initialized, or if it does not allow calls from several threads.
    pub fn start() -> Result<Self> {
        let started = mpi::initialize_with_threading(Threading::Serialized);
        let Some((universe, threading)) = started else {
            let reason = "MPI is already initialized in this process: call `launch` once".into();
            return Err(Error::Launch { reason });
        };
        if threading < Threading::Serialized {
            let reason = format!("this MPI library supports {threading:?} only: use one with MPI_THREAD_SERIALIZED");
            return Err(Error::Launch { reason });
        }
        let world = universe.world();
        let (rank, size) = (world.rank() as usize, world.size() as usize);
        Ok(Self { rank, size, traffic: Traffic::default(), turn: Mutex::new(()), _universe: Finalizer(universe) })
    }
}

/// Waits for messages and returns the first difference of a length.
fn wait_all<'a, S: Scope<'a>>(requests: Vec<(usize, usize, Request<'a, [u8], S>)>, to: usize) -> Result<()> {
    let mut checked = Ok(());
    for (from, expected, request) in requests {
        let status = request.wait();
        let found = usize::try_from(status.count(u8::equivalent_datatype())).unwrap_or(0);
        if found != expected && checked.is_ok() {
            checked = Err(Error::MessageLength { from, to, expected, found });
        }
    }
    checked
}

impl Collective for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn transfer(
        &self,
        outgoing: &[Outgoing<'_>],
        incoming: &mut [Incoming<'_>],
        meanwhile: &mut dyn FnMut(),
    ) -> Result<()> {
        let world = SimpleCommunicator::world();
        let _turn = lock(&self.turn);
        scope(|scope| {
            let mut places = Vec::with_capacity(incoming.len());
            for place in incoming.iter_mut() {
                let process = world.process_at_rank(place.from as Rank);
                for part in parts_mut(place.bytes) {
                    let length = part.len();
                    places.push((place.from, length, process.immediate_receive_into(scope, part)));
                }
            }
            let mut sent = Vec::with_capacity(outgoing.len());
            for message in outgoing {
                let process = world.process_at_rank(message.to as Rank);
                parts(message.bytes).for_each(|part| sent.push(process.immediate_send(scope, part)));
            }
            // The requests must be completed, also if the caller panics.
            let caught = catch_unwind(AssertUnwindSafe(meanwhile));
            let arrived = wait_all(places, self.rank);
            sent.into_iter().for_each(Request::wait_without_status);
            if let Err(panic) = caught {
                resume_unwind(panic);
            }
            arrived
        })
    }

    #[expect(clippy::print_stderr, reason = "the process ends here, and nothing else can report the reason")]
    fn fail(&self, message: &str) {
        eprintln!("rank {} of {} failed: {message}", self.rank, self.size);
        SimpleCommunicator::world().abort(1);
    }

    fn traffic(&self) -> &Traffic {
        &self.traffic
    }
}

/// Splits a message into parts that MPI can send. An empty message has one empty part.
fn parts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let empty = bytes.is_empty().then_some(bytes);
    empty.into_iter().chain(bytes.chunks(LONGEST))
}

/// Splits the place of a message into parts that MPI can receive.
fn parts_mut(bytes: &mut [u8]) -> impl Iterator<Item = &mut [u8]> {
    let count = bytes.len().div_ceil(LONGEST).max(1);
    let mut rest = Some(bytes);
    (0..count).filter_map(move |_| {
        let bytes = rest.take()?;
        let (part, more) = bytes.split_at_mut(bytes.len().min(LONGEST));
        rest = Some(more);
        Some(part)
    })
}
