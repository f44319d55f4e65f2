//! Microseconds per step of SGLD with all draws stored, the best of three runs.

use std::error::Error;

use sgmcmc::gradient::Result;
use sgmcmc::prelude::*;

use crate::bench::analytic;
use crate::bench::arguments::Arguments;
use crate::bench::engine::{Engine, with_engine};
use crate::bench::handwritten;
use crate::bench::timed::sgld_seconds;
use crate::bench::workloads::{Size, Task, Workload, each};

const RUNS: usize = 3;

/// Prints `sgmcmc <workload> <µs per step>`, and `handwritten <workload> <µs per step>` with the analytic engine.
pub(crate) fn run(arguments: &Arguments) -> std::result::Result<(), Box<dyn Error>> {
    if arguments.engine != Engine::Analytic {
        return Ok(each(&arguments.workloads, &mut Steps(arguments.engine))?);
    }
    for name in &arguments.workloads {
        let size = Size::from_name(name);
        let iterations = size.iterations;
        let microseconds = match *name {
            "gauss2" => best(iterations, || {
                sgld_seconds(analytic::gauss2(size), &analytic::gauss2_start(), size, 1, iterations)
            }),
            _ => best(iterations, || {
                sgld_seconds(analytic::logistic(name, size), &analytic::logistic_start(name), size, 1, iterations)
            }),
        };
        println!("sgmcmc {name} {:.2}", microseconds?);
        println!("handwritten {name} {:.2}", best(iterations, || Ok(handwritten::seconds(name, size)))?);
    }
    Ok(())
}

struct Steps(Engine);

impl Task for Steps {
    fn run<P: TensorTree, D: TensorTree>(&mut self, workload: &Workload<P, D>) -> Result<()> {
        let Workload { name, size, posterior, start } = workload;
        // Eager steps take longer, so a tenth of the iterations is as accurate.
        let iterations = if self.0 == Engine::Eager { (size.iterations / 10).max(100) } else { size.iterations };
        let posterior = with_engine(posterior.clone(), self.0);
        let microseconds = best(iterations, || sgld_seconds(posterior.clone(), start, *size, 1, iterations))?;
        println!("sgmcmc {name} {microseconds:.2}");
        Ok(())
    }
}

/// Returns the microseconds per iteration of the fastest run.
fn best(iterations: usize, mut seconds: impl FnMut() -> Result<f64>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        best = best.min(seconds()?);
    }
    Ok(best * 1e6 / iterations as f64)
}
