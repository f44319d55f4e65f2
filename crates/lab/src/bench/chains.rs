//! Draws per second of one chain and of two chains on two threads. The same rates of hand-written loops without shared
//! state show the limit of the machine.
//!
//! One and two chains alternate in many short rounds, because other processes slow down single cores for about a tenth
//! of a second at a time. `ratio` is the ratio of the fastest rounds, `median` the median of the ratios of neighboring
//! rounds.

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use sgmcmc::gradient::Result;
use sgmcmc::prelude::*;

use crate::bench::arguments::Arguments;
use crate::bench::engine::{Engine, with_engine};
use crate::bench::handwritten;
use crate::bench::timed::sgld_seconds;
use crate::bench::workloads::{Size, Task, Workload, each};

/// The smallest number of rounds.
const MIN_ROUNDS: usize = 12;
/// The smallest duration of all rounds together.
const MIN_DURATION: Duration = Duration::from_secs(15);

/// The number of draws of a chain, as a multiple of that of the workload. Longer chains reduce the effect of starting
/// threads.
const LENGTH_FACTOR: usize = 2;

/// Prints two rows each for `gauss2` and `logistic`.
pub(crate) fn run(arguments: &Arguments) -> std::result::Result<(), Box<dyn Error>> {
    println!("{:<16} {:>14} {:>14} {:>8} {:>8}", "workload", "1 chain", "2 chains", "ratio", "median");
    Ok(each(&["gauss2", "logistic"], &mut Chains(arguments.engine))?)
}

struct Chains(Engine);

impl Task for Chains {
    fn run<P: TensorTree, D: TensorTree>(&mut self, workload: &Workload<P, D>) -> Result<()> {
        let Workload { name, size, posterior, start } = workload;
        let posterior = with_engine(posterior.clone(), self.0);
        let draws = if self.0 == Engine::Eager { size.iterations / 10 } else { LENGTH_FACTOR * size.iterations };
        let closures = rounds(draws, |chains| sgld_seconds(posterior.clone(), start, *size, chains, draws))?;
        print(name, &closures);
        let size = Size { iterations: draws, ..*size };
        print("  by hand", &rounds(draws, |threads| Ok(by_hand(name, size, threads)))?);
        Ok(())
    }
}

/// Returns the draws per second of one and of two chains in each round.
fn rounds(draws: usize, mut seconds: impl FnMut(usize) -> Result<f64>) -> Result<Vec<[f64; 2]>> {
    let mut rate = |chains: usize| -> Result<f64> { Ok((chains * draws) as f64 / seconds(chains)?) };
    let (began, mut rounds) = (Instant::now(), Vec::new());
    while rounds.len() < MIN_ROUNDS || began.elapsed() < MIN_DURATION {
        rounds.push([rate(1)?, rate(2)?]);
    }
    Ok(rounds)
}

/// Returns the seconds of the slowest of `threads` hand-written loops in parallel, without the simulation of the data.
fn by_hand(name: &'static str, size: Size, threads: usize) -> f64 {
    let loops: Vec<_> = (0..threads).map(|_| thread::spawn(move || handwritten::seconds(name, size))).collect();
    loops.into_iter().filter_map(|thread| thread.join().ok()).fold(0.0, f64::max)
}

/// Prints a row.
fn print(name: &str, rounds: &[[f64; 2]]) {
    let [one, two] = [0, 1].map(|chains| rounds.iter().map(|rates| rates[chains]).fold(0.0, f64::max));
    let mut ratios: Vec<f64> = rounds.iter().map(|[one, two]| two / one).collect();
    ratios.sort_by(f64::total_cmp);
    println!("{name:<16} {one:>14.0} {two:>14.0} {:>8.3} {:>8.3}", two / one, ratios[ratios.len() / 2]);
}
