//! Allocations per step of six algorithms. The memory of the draws is allocated before the first step.
//!
//! The compiled engine is compared with the eager one, which allocates, after 64 and 1024 gradients. The [`COMPARISONS`] steps
//! with the most allocations are therefore not counted.

use std::error::Error;
use std::fmt::Debug;

use sgmcmc::algorithms::Dynamics;
use sgmcmc::algorithms::{Sghmc, Sgld, Sgnht};
use sgmcmc::fit::ChainOutcome;
use sgmcmc::gradient::Result;
use sgmcmc::gradient::{ControlVariate, GradientEstimator, MinibatchGradient, Target};
use sgmcmc::prelude::*;
use sgmcmc::sink::Memory;
use sgmcmc::sink::{Draw, Schema, Sink};

use crate::allocator::allocations;
use crate::bench::analytic;
use crate::bench::arguments::Arguments;
use crate::bench::engine::{Engine, with_engine};
use crate::bench::workloads::{STEP_SIZE, Size, Task, Workload, each};

/// The number of steps before counting begins, in which buffers grow to their final size.
const WARM_UP: u64 = 50;

/// The largest number of comparisons with the eager engine in the counted steps.
const COMPARISONS: usize = 2;

const ALGORITHMS: [&str; 6] = ["sgld", "sghmc", "sgnht", "sgldcv", "sghmccv", "sgnhtcv"];

/// Prints a row of allocations per step for each workload.
///
/// # Errors
///
/// Returns an error if an engine other than the eager one allocates in a step.
pub(crate) fn run(arguments: &Arguments) -> std::result::Result<(), Box<dyn Error>> {
    print!("{:<16}", "workload");
    ALGORITHMS.iter().for_each(|name| print!(" {name:>10}"));
    println!();
    let engine = arguments.engine;
    let steps = if engine == Engine::Eager { 100 } else { 1000 };
    // The count includes all threads. Start them now, so that their start-up allocations are not counted.
    rayon::broadcast(|_| ());
    let mut task = Allocations { engine, steps, total: 0 };
    if engine == Engine::Analytic {
        for name in &arguments.workloads {
            let size = Size::from_name(name);
            match *name {
                "gauss2" => task.print_row(name, size, &analytic::gauss2(size), &analytic::gauss2_start())?,
                _ => task.print_row(name, size, &analytic::logistic(name, size), &analytic::logistic_start(name))?,
            }
        }
    } else {
        each(&arguments.workloads, &mut task)?;
    }
    if engine != Engine::Eager && task.total > 0 {
        return Err(format!("{} allocations, expected none", task.total).into());
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
        self.print_row(workload.name, workload.size, &target, &workload.start)
    }
}

impl Allocations {
    /// Counts the allocations of all algorithms on one workload and prints them.
    fn print_row<T: Target + Clone>(&mut self, name: &str, size: Size, target: &T, start: &T::Params) -> Result<()> {
        let plain = MinibatchGradient::new(size.scheme());
        let controlled = ControlVariate::new(size.scheme());
        let steps = self.steps;
        let counts = [
            count_allocations(target, start, steps, Sgld, plain)?,
            count_allocations(target, start, steps, Sghmc::default(), plain)?,
            count_allocations(target, start, steps, Sgnht::default(), plain)?,
            count_allocations(target, start, steps, Sgld, controlled.clone())?,
            count_allocations(target, start, steps, Sghmc::default(), controlled.clone())?,
            count_allocations(target, start, steps, Sgnht::default(), controlled)?,
        ];
        self.total += counts.iter().sum::<u64>();
        print!("{name:<16}");
        counts.iter().for_each(|count| print!(" {:>10}", *count as f64 / steps as f64));
        println!();
        Ok(())
    }
}

/// Returns the number of allocations in `steps` steps of a chain but those with comparisons, including the work of the run
/// around the steps.
fn count_allocations<T, A, G>(target: &T, start: &T::Params, steps: u64, algorithm: A, gradient: G) -> Result<u64>
where
    T: Target + Clone,
    G: GradientEstimator + Clone + Debug + 'static,
    A: Dynamics<G> + Clone + Debug + 'static,
{
    let run = Builder::new(target.clone(), algorithm, gradient, STEP_SIZE).seed(1);
    let sink = |_| CountingSink { memory: Memory::default(), before: 0, during: 0, largest: [0; COMPARISONS] };
    let mut total = 0;
    for (count, outcome) in run.sample_into(start, (WARM_UP + steps) as usize, sink)? {
        match outcome {
            ChainOutcome::Failed(error) => return Err(error),
            _ => total += count,
        }
    }
    Ok(total)
}

/// A sink that keeps every draw in memory and counts the allocations between the last draw of the warm-up and the last
/// draw.
struct CountingSink {
    memory: Memory,
    /// The number of allocations before the current step.
    before: u64,
    /// The number of allocations in the counted steps.
    during: u64,
    /// The largest numbers of allocations in a step.
    largest: [u64; COMPARISONS],
}

impl Sink for CountingSink {
    type Output = u64;

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        self.memory.begin(schema)
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        self.memory.record(draw)?;
        let now = allocations();
        if draw.iteration > WARM_UP {
            let mut count = now - self.before;
            self.during += count;
            for largest in &mut self.largest {
                if count > *largest {
                    std::mem::swap(&mut count, largest);
                }
            }
        }
        self.before = now;
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
        self.during - self.largest.iter().sum::<u64>()
    }
}
