//! The time of an SGLD step, split into phases.
//!
//! | phase | measurement |
//! |---|---|
//! | draw | `Scheme::draw` |
//! | data and forward pass | `Evaluator::log_density` |
//! | backward pass | `Evaluator::posterior` minus `Evaluator::log_density` |
//! | update | a step on a constant density with the same number of parameters: random numbers, dynamics, and the bookkeeping of a chain |
//! | store | `Sink::record` of `Memory` |
//!
//! Each phase is measured in its own loop. The rest is the time of a whole step minus the sum of its phases.

use std::error::Error;

use sgmcmc::AnalyticTree;
use sgmcmc::TreeLayout;
use sgmcmc::algorithms::Sgld;
use sgmcmc::gradient::Result;
use sgmcmc::gradient::{AnalyticModel, MinibatchGradient};
use sgmcmc::minibatch::WithReplacement;
use sgmcmc::minibatch::{Minibatch, Scheme};
use sgmcmc::prelude::*;
use sgmcmc::rng::ChainRng;
use sgmcmc::sink::Memory;
use sgmcmc::sink::{Draw, Schema, Sink};

use crate::bench::arguments::Arguments;
use crate::bench::engine::{Engine, with_engine};
use crate::bench::timed::sgld_seconds;
use crate::bench::timing::{ROUNDS, fastest};
use crate::bench::workloads::{STEP_SIZE, Task, Workload, each};

/// The number of minibatches that are drawn in advance, so that successive evaluations read different observations.
const BATCHES: usize = 128;

/// Prints a table for each workload.
pub(crate) fn run(arguments: &Arguments) -> std::result::Result<(), Box<dyn Error>> {
    Ok(each(&arguments.workloads, &mut Profile(arguments.engine))?)
}

struct Profile(Engine);

impl Task for Profile {
    fn run<P: TensorTree, D: TensorTree>(&mut self, workload: &Workload<P, D>) -> Result<()> {
        let Workload { name, size, posterior, start } = workload;
        let posterior = with_engine(posterior.clone(), self.0);
        let calls = if self.0 == Engine::Eager { size.iterations / 20 } else { size.iterations / ROUNDS }.max(20);

        let scheme = size.scheme();
        let mut state = scheme.init(size.observations)?;
        let mut rng = ChainRng::new(1, 0);
        let mut batch = Minibatch::default();
        let draw = fastest(calls, |_| {
            scheme.draw(&mut state, rng.minibatch(), &mut batch);
            std::hint::black_box(&batch);
            Ok(())
        })?;

        let batches: Vec<Minibatch> = std::iter::repeat_with(|| {
            let mut batch = Minibatch::default();
            scheme.draw(&mut state, rng.minibatch(), &mut batch);
            batch
        })
        .take(BATCHES)
        .collect();
        let mut evaluator = posterior.evaluator(start)?;
        let layout = evaluator.layout().clone();
        let theta = layout.flatten(start)?;
        let mut gradient = vec![0.0; theta.len()];
        let forward = fastest(calls, |call| {
            std::hint::black_box(evaluator.log_density(&theta, batches[call % BATCHES].as_rows()?)?);
            Ok(())
        })?;
        let estimate = fastest(calls, |call| {
            gradient.fill(0.0);
            std::hint::black_box(evaluator.posterior(&theta, batches[call % BATCHES].as_rows()?, &mut gradient)?);
            Ok(())
        })?;

        let flat = AnalyticTree::<P>::new(Flat { dim: theta.len() });
        let gradient = MinibatchGradient::new(WithReplacement::new(1));
        let mut sampler = Builder::new(flat, Sgld, gradient, STEP_SIZE).start(start)?;
        let update = fastest(calls, |_| sampler.chain().step())?;

        let values = layout.values(&theta)?;
        let mut memory = Memory::default();
        let store = fastest(calls, |call| {
            if call == 0 {
                memory.begin(&Schema {
                    layout: layout.clone(),
                    draws: calls,
                    chain: 0,
                    chains: 1,
                    stats: Vec::new(),
                })?;
            }
            let iteration = call as u64;
            memory.record(&Draw { iteration, values: &values, weight: 1.0, log_posterior: 0.0, stats: &[] })
        })?;

        let mut step = f64::INFINITY;
        for _ in 0..ROUNDS {
            step = step.min(sgld_seconds(posterior.clone(), start, *size, 1, calls)? * 1e6 / calls as f64);
        }
        println!("{name:<24} {:>10} {:>8}", "µs", "percent");
        let phases = [("draw", draw), ("data and forward pass", forward), ("backward pass", estimate - forward)];
        let phases = phases.into_iter().chain([("update", update), ("store", store)]);
        let rest = step - draw - estimate - update - store;
        for (phase, microseconds) in phases.chain([("the rest", rest), ("step", step)]) {
            println!("  {phase:<22} {microseconds:>10.3} {:>8.1}", 100.0 * microseconds / step);
        }
        Ok(())
    }
}

/// A constant density, whose evaluation costs nothing.
struct Flat {
    dim: usize,
}

impl AnalyticModel for Flat {
    fn observations(&self) -> usize {
        1
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn observation(&self, _theta: &[f64], _row: usize, _weight: f64, _grad: &mut [f64]) -> f64 {
        0.0
    }
}
