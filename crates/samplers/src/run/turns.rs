//! More chains than threads: the chains take turns.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use sgmcmc_gradient::{Error, Result};

/// A chain that takes turns.
pub(super) trait TurnTaker: Sized + Send {
    type Result: Send;

    /// Returns the number of iterations so far. The chain with the fewest is next.
    fn iteration(&self) -> u64;

    /// Takes a turn.
    ///
    /// # Errors
    ///
    /// Returns an error that ends the run of all chains.
    fn take_turn(self) -> Result<Turn<Self>>;

    /// Ends a chain because another one has an error.
    fn abandon(self);
}

/// The result of a turn.
pub(super) enum Turn<P: TurnTaker> {
    Unfinished(P),
    Finished(P::Result),
}

/// The chains between their turns.
struct TurnQueue<P: TurnTaker> {
    waiting: Vec<(usize, P)>,
    finished: Vec<(usize, P::Result)>,
    error: Option<Error>,
}

/// Runs all chains on the threads of the pool and returns their results in order.
///
/// # Errors
///
/// Returns the first error of a turn. Chains that wait for a turn then are abandoned.
pub(super) fn run<P: TurnTaker>(chains: Vec<P>) -> Result<Vec<P::Result>> {
    let threads = threads(chains.len());
    let queue =
        Mutex::new(TurnQueue { waiting: chains.into_iter().enumerate().collect(), finished: Vec::new(), error: None });
    // The scope moves a single chain to a thread of the pool, where splitting its work is cheapest.
    rayon::scope(|_| (0..threads).into_par_iter().with_max_len(1).for_each(|_| run_turns(&queue)));
    let TurnQueue { mut finished, error, .. } = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = error {
        return Err(error);
    }
    finished.sort_by_key(|(index, _)| *index);
    Ok(finished.into_iter().map(|(_, result)| result).collect())
}

/// Returns the number of threads that run `chains` chains.
pub(super) fn threads(chains: usize) -> usize {
    rayon::current_num_threads().min(chains)
}

/// Gives turns to waiting chains on one thread, until none waits. Chains in their turns on other threads stay there.
fn run_turns<P: TurnTaker>(queue: &Mutex<TurnQueue<P>>) {
    loop {
        let (next, abandoned) = {
            let mut queue = lock(queue);
            if queue.error.is_some() { (None, std::mem::take(&mut queue.waiting)) } else { (queue.next(), Vec::new()) }
        };
        abandoned.into_iter().for_each(|(_, chain)| chain.abandon());
        let Some((index, chain)) = next else { return };
        let turn = chain.take_turn();
        let mut queue = lock(queue);
        match turn {
            Ok(Turn::Unfinished(chain)) => queue.waiting.push((index, chain)),
            Ok(Turn::Finished(result)) => queue.finished.push((index, result)),
            Err(error) => {
                queue.error.get_or_insert(error);
            }
        }
    }
}

impl<P: TurnTaker> TurnQueue<P> {
    /// Removes the chain with the fewest iterations.
    fn next(&mut self) -> Option<(usize, P)> {
        let order = |(_, (index, chain)): &(usize, &(usize, P))| (chain.iteration(), *index);
        let (place, _) = self.waiting.iter().enumerate().min_by_key(order)?;
        Some(self.waiting.swap_remove(place))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// A chain of 10 turns, each of `speed` iterations.
    struct Counter {
        index: usize,
        iteration: u64,
        speed: u64,
        log: Arc<Mutex<Vec<u64>>>,
        abandoned: Arc<AtomicU64>,
        fails_at: u64,
    }

    impl TurnTaker for Counter {
        type Result = (usize, u64);

        fn iteration(&self) -> u64 {
            self.iteration
        }

        fn take_turn(mut self) -> Result<Turn<Self>> {
            self.iteration += self.speed;
            if self.iteration >= self.fails_at {
                return Err(Error::EmptyModel);
            }
            let spread = {
                let mut log = lock(&self.log);
                log[self.index] = self.iteration;
                log.iter().max().copied().unwrap_or(0) - log.iter().min().copied().unwrap_or(0)
            };
            // Four chains on two threads: one that waits is at most one turn behind, one in its turn at most two.
            assert!(spread <= 3 * 10, "{spread}");
            let end = 10 * self.speed;
            Ok(if self.iteration < end { Turn::Unfinished(self) } else { Turn::Finished((self.index, self.iteration)) })
        }

        fn abandon(self) {
            self.abandoned.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn count(fails_at: u64) -> (Result<Vec<(usize, u64)>>, u64) {
        let log = Arc::new(Mutex::new(vec![0; 4]));
        let abandoned = Arc::new(AtomicU64::new(0));
        let counter = |index| Counter {
            index,
            iteration: 0,
            speed: 10,
            log: log.clone(),
            abandoned: abandoned.clone(),
            fails_at,
        };
        let counters = (0..4).map(counter).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let results = pool.install(|| run(counters));
        (results, abandoned.load(Ordering::Relaxed))
    }

    #[test]
    fn four_chains_on_two_threads_stay_together() {
        let (results, abandoned) = count(u64::MAX);
        assert_eq!(results.unwrap(), [(0, 100), (1, 100), (2, 100), (3, 100)]);
        assert_eq!(abandoned, 0);
    }

    #[test]
    fn an_error_ends_all_chains() {
        let (results, abandoned) = count(50);
        assert!(matches!(results, Err(Error::EmptyModel)));
        // One or two turns fail; the others are abandoned.
        assert!((2..=3).contains(&abandoned), "{abandoned}");
    }
}
