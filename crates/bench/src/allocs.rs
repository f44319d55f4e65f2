//! Allocations per step of six algorithms, every draw kept in memory that is there before the first step.

use std::error::Error;
use std::fmt::Debug;

use sgmcmc::prelude::*;
use sgmcmc::run::Ending;
use sgmcmc::sink::{Draw, Schema, Sink};
use sgmcmc::{Dynamics, Result};

use crate::allocator::allocations;
use crate::analytic;
use crate::arguments::Arguments;
use crate::engine::{Engine, with_engine};
use crate::workloads::{STEP_SIZE, Size, Task, Workload, each};

/// Steps before counting begins, in which buffers grow to their size.
const WARM_UP: u64 = 50;

const ALGORITHMS: [&str; 6] = ["sgld", "sghmc", "sgnht", "sgldcv", "sghmccv", "sgnhtcv"];

/// Prints a row of allocations per step for each workload.
///
/// # Errors
///
/// If any but the eager engine allocates in a step.
pub(crate) fn run(arguments: &Arguments) -> std::result::Result<(), Box<dyn Error>> {
    print!("{:<16}", "workload");
    ALGORITHMS.iter().for_each(|name| print!(" {name:>10}"));
    println!();
    let engine = arguments.engine;
    let steps = if engine == Engine::Eager { 100 } else { 1000 };
    // All threads are counted, so all must have started: what they allocate at their start is no part of a step.
    rayon::broadcast(|_| ());
    let mut task = Allocations { engine, steps, total: 0 };
    if engine == Engine::Analytic {
        for name in &arguments.workloads {
            let size = Size::of(name);
            match *name {
                "gauss2" => task.row(name, size, &analytic::gauss2(size), &analytic::gauss2_start())?,
                _ => task.row(name, size, &analytic::logistic(name, size), &analytic::logistic_start(name))?,
            }
        }
    } else {
        each(&arguments.workloads, &mut task)?;
    }
    if engine != Engine::Eager && task.total > 0 {
        return Err(format!("{} allocations where there should be none", task.total).into());
    }
    Ok(())
}

struct Allocations {
    engine: Engine,
    steps: u64,
    total: u64,
}

impl Task for Allocations {
    fn run<P: TensorTree, D: TensorTree>(&mut self, workload: &Workload<P, D>) -> Result<()> {
        let target = with_engine(workload.posterior.clone(), self.engine);
        self.row(workload.name, workload.size, &target, &workload.start)
    }
}

impl Allocations {
    fn row<T: Target + Clone>(&mut self, name: &str, size: Size, target: &T, start: &T::Params) -> Result<()> {
        let plain = MinibatchGradient::new(size.scheme());
        let controlled = ControlVariate::new(size.scheme());
        let steps = self.steps;
        let counts = [
            counted(target, start, steps, Sgld, plain)?,
            counted(target, start, steps, Sghmc::default(), plain)?,
            counted(target, start, steps, Sgnht::default(), plain)?,
            counted(target, start, steps, Sgld, controlled.clone())?,
            counted(target, start, steps, Sghmc::default(), controlled.clone())?,
            counted(target, start, steps, Sgnht::default(), controlled)?,
        ];
        self.total += counts.iter().sum::<u64>();
        print!("{name:<16}");
        counts.iter().for_each(|count| print!(" {:>10}", *count as f64 / steps as f64));
        println!();
        Ok(())
    }
}

/// Allocations in `steps` steps of a chain, with everything that a run does around them.
fn counted<T, A, G>(target: &T, start: &T::Params, steps: u64, algorithm: A, gradient: G) -> Result<u64>
where
    T: Target + Clone,
    G: GradientEstimator + Clone + Debug + 'static,
    A: Dynamics<G> + Clone + Debug + 'static,
{
    let run = Builder::new(target.clone(), algorithm, gradient, STEP_SIZE).seed(1);
    let sink = |_| Counted { memory: Memory::default(), steps, before: 0, during: 0 };
    let mut total = 0;
    for (count, ending) in run.sample_into(start, (WARM_UP + steps) as usize, sink)? {
        match ending {
            Ending::Failed(error) => return Err(error),
            _ => total += count,
        }
    }
    Ok(total)
}

/// Keeps every draw in memory, and counts the allocations between the last draw of the warm-up and the last draw of all.
struct Counted {
    memory: Memory,
    steps: u64,
    before: u64,
    during: u64,
}

impl Sink for Counted {
    type Output = u64;

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        self.memory.begin(schema)
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        self.memory.record(draw)?;
        if draw.iteration == WARM_UP {
            self.before = allocations();
        } else if draw.iteration == WARM_UP + self.steps {
            self.during = allocations() - self.before;
        }
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>> {
        self.memory.save()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        self.memory.restore(saved)
    }

    fn finish(self) -> u64 {
        std::hint::black_box(self.memory.finish());
        self.during
    }
}
