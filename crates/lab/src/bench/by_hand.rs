//! Steps of closures compared with hand-written loops. The two alternate, so that variations of the speed of the
//! machine affect both.

use std::error::Error;

use sgmcmc::gradient::Result;
use sgmcmc::prelude::*;

use crate::bench::analytic;
use crate::bench::arguments::Arguments;
use crate::bench::engine::{Engine, with_engine};
use crate::bench::handwritten;
use crate::bench::timed::sgld_seconds;
use crate::bench::workloads::{Task, Workload, each};

const ROUNDS: usize = 20;

/// Prints µs per step of both, in the fastest round, and their ratio, for the workloads with a hand-written loop.
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
        let [closures, by_hand] = best.map(|seconds| seconds * 1e6 / size.iterations as f64);
        println!("{name:<16} {closures:>10.3} {by_hand:>10.3} {:>8.2}", closures / by_hand);
        Ok(())
    }
}
