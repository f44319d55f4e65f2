//! Where the time of an SGLD step goes.
//!
//! | piece | measured as |
//! |---|---|
//! | draw | `Scheme::draw` |
//! | rows and forward pass | `Evaluator::log_density` |
//! | backward pass | `Evaluator::posterior` less `Evaluator::log_density` |
//! | update | a step on a flat density with as many parameters: normals, dynamics, and what a chain does around them |
//! | store | `Sink::record` of `Memory` |
//!
//! Each piece runs in a loop of its own; what a whole step takes beyond the sum of its pieces is the last line.

use std::error::Error;

use sgmcmc::minibatch::{Minibatch, Scheme};
use sgmcmc::prelude::*;
use sgmcmc::sink::{Draw, Schema, Sink};
use sgmcmc::{ChainRng, Result};

use crate::arguments::Arguments;
use crate::engine::{Engine, with_engine};
use crate::timed::sgld_seconds;
use crate::timing::{ROUNDS, fastest};
use crate::workloads::{STEP_SIZE, Task, Workload, each};

/// Minibatches drawn beforehand, so that every evaluation looks at other rows.
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

        let flat = Analytic::<P>::new(Flat { dim: theta.len() });
        let gradient = MinibatchGradient::new(WithReplacement::new(1));
        let mut chain = Builder::new(flat, Sgld, gradient, STEP_SIZE).start(start)?;
        let update = fastest(calls, |_| chain.kernel().step())?;

        let values = layout.values(&theta)?;
        let mut memory = Memory::default();
        let store = fastest(calls, |call| {
            if call == 0 {
                memory.begin(&Schema { layout: layout.clone(), draws: calls, chain: 0, stats: Vec::new() })?;
            }
            let iteration = call as u64;
            memory.record(&Draw { iteration, values: &values, weight: 1.0, log_posterior: 0.0, stats: &[] })
        })?;

        let mut step = f64::INFINITY;
        for _ in 0..ROUNDS {
            step = step.min(sgld_seconds(posterior.clone(), start, *size, 1, calls)? * 1e6 / calls as f64);
        }
        println!("{name:<24} {:>10} {:>8}", "µs", "percent");
        let pieces = [("draw", draw), ("rows and forward pass", forward), ("backward pass", estimate - forward)];
        let pieces = pieces.into_iter().chain([("update", update), ("store", store)]);
        let rest = step - draw - estimate - update - store;
        for (piece, microseconds) in pieces.chain([("the rest", rest), ("step", step)]) {
            println!("  {piece:<22} {microseconds:>10.3} {:>8.1}", 100.0 * microseconds / step);
        }
        Ok(())
    }
}

/// A density that is the same everywhere and costs nothing.
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
