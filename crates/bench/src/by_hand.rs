//! Steps of closures against loops written by hand, in turns: a slow spell of the machine then falls on both.

use std::error::Error;

use sgmcmc::Result;
use sgmcmc::prelude::*;

use crate::analytic;
use crate::arguments::Arguments;
use crate::engine::{Engine, with_engine};
use crate::handwritten;
use crate::timed::sgld_seconds;
use crate::workloads::{Task, Workload, each};

const ROUNDS: usize = 20;

/// Prints µs per step of both, the fastest of the rounds, and their ratio, for the workloads that are written by hand.
pub(crate) fn run(arguments: &Arguments) -> std::result::Result<(), Box<dyn Error>> {
    let names: Vec<_> = arguments.workloads.iter().copied().filter(|name| analytic::NAMES.contains(name)).collect();
    println!("{:<16} {:>10} {:>10} {:>8}", "workload", "closures", "by hand", "ratio");
    Ok(each(&names, &mut ByHand(arguments.engine))?)
}

struct ByHand(Engine);

impl Task for ByHand {
    fn run<P: TensorTree, D: TensorTree>(&mut self, workload: &Workload<P, D>) -> Result<()> {
        let Workload { name, size, posterior, start } = workload;
        let posterior = with_engine(posterior.clone(), self.0);
        let mut best = [f64::INFINITY; 2];
        for _ in 0..ROUNDS {
            best[0] = best[0].min(sgld_seconds(posterior.clone(), start, *size, 1, size.iterations)?);
            best[1] = best[1].min(handwritten::seconds(name, *size));
        }
        let [ours, by_hand] = best.map(|seconds| seconds * 1e6 / size.iterations as f64);
        println!("{name:<16} {ours:>10.3} {by_hand:>10.3} {:>8.2}", ours / by_hand);
        Ok(())
    }
}
