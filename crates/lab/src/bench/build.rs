//! Milliseconds to construct an evaluator from closures and data, which a run does before its first step.

use std::error::Error;
use std::time::Instant;

use sgmcmc::gradient::Result;
use sgmcmc::prelude::*;

use crate::bench::arguments::Arguments;
use crate::bench::engine::{Engine, with_engine};
use crate::bench::workloads::{Task, Workload, each};

/// The number of evaluators after the first.
const REPETITIONS: usize = 5;

/// Prints a row for each workload: the time of the first evaluator, and of the fastest of the others.
pub(crate) fn run(arguments: &Arguments) -> std::result::Result<(), Box<dyn Error>> {
    println!("{:<16} {:>12} {:>12}", "workload", "first ms", "best ms");
    Ok(each(&arguments.workloads, &mut Build(arguments.engine))?)
}

struct Build(Engine);

impl Task for Build {
    fn run<P: TensorTree, D: TensorTree>(&mut self, workload: &Workload<P, D>) -> Result<()> {
        let posterior = with_engine(workload.posterior.clone(), self.0);
        let milliseconds = || {
            let began = Instant::now();
            let evaluator = posterior.evaluator(&workload.start)?;
            let milliseconds = began.elapsed().as_secs_f64() * 1e3;
            std::hint::black_box(evaluator);
            Ok::<f64, sgmcmc::gradient::Error>(milliseconds)
        };
        let first = milliseconds()?;
        let mut best = f64::INFINITY;
        for _ in 0..REPETITIONS {
            best = best.min(milliseconds()?);
        }
        println!("{:<16} {first:>12.3} {best:>12.3}", workload.name);
        Ok(())
    }
}
