//! Draws per second of one chain, and of two on two threads; and of loops written by hand, which share nothing: what the machine gives.

use std::error::Error;
use std::thread;

use sgmcmc::Result;
use sgmcmc::prelude::*;

use crate::arguments::Arguments;
use crate::engine::{Engine, with_engine};
use crate::handwritten;
use crate::timed::sgld_seconds;
use crate::workloads::{Size, Task, Workload, each};

const ROUNDS: usize = 12;

/// Draws of a chain, in those of the workload: threads that start and stop should not count.
const LONGER: usize = 4;

/// Prints two rows for `gauss2` and `logistic`: the best of the rounds, one chain and two taking turns.
pub(crate) fn run(arguments: &Arguments) -> std::result::Result<(), Box<dyn Error>> {
    println!("{:<16} {:>14} {:>14} {:>8}", "workload", "1 chain", "2 chains", "ratio");
    Ok(each(&["gauss2", "logistic"], &mut Chains(arguments.engine))?)
}

struct Chains(Engine);

impl Task for Chains {
    fn run<P: TensorTree, D: TensorTree>(&mut self, workload: &Workload<P, D>) -> Result<()> {
        let Workload { name, size, posterior, start } = workload;
        let posterior = with_engine(posterior.clone(), self.0);
        let draws = if self.0 == Engine::Eager { size.iterations / 10 } else { LONGER * size.iterations };
        let mut best = [0.0_f64; 2];
        for _ in 0..ROUNDS {
            for (best, chains) in best.iter_mut().zip([1, 2]) {
                let seconds = sgld_seconds(posterior.clone(), start, *size, chains, draws)?;
                *best = best.max((chains * draws) as f64 / seconds);
            }
        }
        print(name, best);
        print("  by hand", by_hand(name, Size { iterations: draws, ..*size }));
        Ok(())
    }
}

fn by_hand(name: &'static str, size: Size) -> [f64; 2] {
    let mut best = [0.0_f64; 2];
    for _ in 0..ROUNDS {
        for (best, threads) in best.iter_mut().zip([1, 2]) {
            let loops: Vec<_> = (0..threads).map(|_| thread::spawn(move || handwritten::seconds(name, size))).collect();
            // Making the data, which all do first, does not count; then they run side by side.
            let slowest = loops.into_iter().filter_map(|one| one.join().ok()).fold(0.0, f64::max);
            *best = best.max((threads * size.iterations) as f64 / slowest);
        }
    }
    best
}

fn print(name: &str, [one, two]: [f64; 2]) {
    println!("{name:<16} {one:>14.0} {two:>14.0} {:>8.3}", two / one);
}
