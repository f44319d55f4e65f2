//! Milliseconds to make an evaluator from closures and data, which is what a run does before its first step.

use std::error::Error;
use std::time::Instant;

use sgmcmc::Result;
use sgmcmc::prelude::*;

use crate::arguments::Arguments;
use crate::engine::{Engine, with_engine};
use crate::workloads::{Task, Workload, each};

/// How many are made after the first.
const MORE: usize = 5;

/// Prints a row for each workload: the first evaluator of the program, and the fastest of those after it.
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
            Ok::<f64, sgmcmc::Error>(milliseconds)
        };
        let first = milliseconds()?;
        let mut best = f64::INFINITY;
        for _ in 0..MORE {
            best = best.min(milliseconds()?);
        }
        println!("{:<16} {first:>12.3} {best:>12.3}", workload.name);
        Ok(())
    }
}
