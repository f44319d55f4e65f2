//! Draws per second of one chain, and of two on two threads; and of loops written by hand, which share nothing: what the machine gives.
//!
//! One and two take turns, in many short rounds: whoever else uses the machine slows down one core or the other for a tenth of a second at
//! a time. `ratio` is that of the fastest rounds, `median` that of the ratios of neighbouring rounds.

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use sgmcmc::Result;
use sgmcmc::prelude::*;

use crate::arguments::Arguments;
use crate::engine::{Engine, with_engine};
use crate::handwritten;
use crate::timed::sgld_seconds;
use crate::workloads::{Size, Task, Workload, each};

/// Rounds at least, and for how long there are more.
const ROUNDS: usize = 12;
const AT_LEAST: Duration = Duration::from_secs(15);

/// Draws of a chain, in those of the workload: threads that start and stop should not count.
const LONGER: usize = 2;

/// Prints two rows for `gauss2` and `logistic`.
pub(crate) fn run(arguments: &Arguments) -> std::result::Result<(), Box<dyn Error>> {
    println!("{:<16} {:>14} {:>14} {:>8} {:>8}", "workload", "1 chain", "2 chains", "ratio", "median");
    Ok(each(&["gauss2", "logistic"], &mut Chains(arguments.engine))?)
}

struct Chains(Engine);

impl Task for Chains {
    fn run<P: TensorTree, D: TensorTree>(&mut self, workload: &Workload<P, D>) -> Result<()> {
        let Workload { name, size, posterior, start } = workload;
        let posterior = with_engine(posterior.clone(), self.0);
        let draws = if self.0 == Engine::Eager { size.iterations / 10 } else { LONGER * size.iterations };
        let ours = rounds(draws, |chains| sgld_seconds(posterior.clone(), start, *size, chains, draws))?;
        print(name, &ours);
        let size = Size { iterations: draws, ..*size };
        print("  by hand", &rounds(draws, |threads| Ok(by_hand(name, size, threads)))?);
        Ok(())
    }
}

/// Draws per second of one and of two, in each round.
fn rounds(draws: usize, mut seconds: impl FnMut(usize) -> Result<f64>) -> Result<Vec<[f64; 2]>> {
    let mut rate = |chains: usize| -> Result<f64> { Ok((chains * draws) as f64 / seconds(chains)?) };
    let (began, mut rounds) = (Instant::now(), Vec::new());
    while rounds.len() < ROUNDS || began.elapsed() < AT_LEAST {
        rounds.push([rate(1)?, rate(2)?]);
    }
    Ok(rounds)
}

/// Seconds of the slowest of `threads` loops side by side. Making the data, which all do first, does not count.
fn by_hand(name: &'static str, size: Size, threads: usize) -> f64 {
    let loops: Vec<_> = (0..threads).map(|_| thread::spawn(move || handwritten::seconds(name, size))).collect();
    loops.into_iter().filter_map(|one| one.join().ok()).fold(0.0, f64::max)
}

fn print(name: &str, rounds: &[[f64; 2]]) {
    let [one, two] = [0, 1].map(|chains| rounds.iter().map(|rates| rates[chains]).fold(0.0, f64::max));
    let mut ratios: Vec<f64> = rounds.iter().map(|[one, two]| two / one).collect();
    ratios.sort_by(f64::total_cmp);
    println!("{name:<16} {one:>14.0} {two:>14.0} {:>8.3} {:>8.3}", two / one, ratios[ratios.len() / 2]);
}
