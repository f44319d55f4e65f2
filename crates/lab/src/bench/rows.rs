//! The time of log-likelihoods and gradients of single observations, relative to the gradient of their sum.

use std::error::Error;

use sgmcmc::TreeLayout;
use sgmcmc::gradient::Result;
use sgmcmc::minibatch::{Minibatch, Scheme};
use sgmcmc::prelude::*;
use sgmcmc::rng::ChainRng;

use crate::bench::arguments::Arguments;
use crate::bench::engine::{Engine, with_engine};
use crate::bench::timing::fastest;
use crate::bench::workloads::{Task, Workload, each};

/// The largest number of entries of the gradients of single observations.
const MAX_ENTRIES: usize = 10_000_000;

/// Prints a row for each workload: µs of the gradient of the sum over a minibatch, and the other times as multiples of
/// it. The last one is the time to fill the buffer of the gradients with zeros.
pub(crate) fn run(arguments: &Arguments) -> std::result::Result<(), Box<dyn Error>> {
    println!(
        "{:<16} {:>14} {:>12} {:>17} {:>9} {:>6}",
        "workload", "gradient µs", "values ÷", "per observation ÷", "filling ÷", "n"
    );
    Ok(each(&arguments.workloads, &mut PerObservation(arguments.engine))?)
}

struct PerObservation(Engine);

impl Task for PerObservation {
    fn run<P: TensorTree, D: TensorTree>(&mut self, workload: &Workload<P, D>) -> Result<()> {
        let Workload { name, size, posterior, start } = workload;
        let mut evaluator = with_engine(posterior.clone(), self.0).evaluator(start)?;
        let theta = evaluator.layout().flatten(start)?;
        let scheme = size.scheme();
        let mut state = scheme.init(size.observations)?;
        let (mut rng, mut batch) = (ChainRng::new(1, 0), Minibatch::default());
        scheme.draw(&mut state, rng.minibatch(), &mut batch);
        // Models with many parameters have fewer observations, because the gradients would not fit into memory.
        batch.rows.truncate((MAX_ENTRIES / theta.len()).max(1));
        let (rows, calls) = (batch.as_rows()?, (size.iterations / 10).max(20));
        let mut gradient = vec![0.0; theta.len()];
        let summed = fastest(calls, |_| evaluator.likelihood(&theta, rows, &mut gradient).map(drop))?;
        let mut values = vec![0.0; rows.len()];
        let values_time = fastest(calls, |_| evaluator.log_likelihood_per_observation(&theta, rows, &mut values))?;
        print!("{name:<16} {summed:>14.3} {:>12.2}", values_time / summed);
        let mut gradients = vec![0.0; rows.len() * theta.len()];
        let each = fastest(calls, |_| evaluator.gradient_per_observation(&theta, rows, &mut gradients))?;
        let filling = fastest(calls, |_| {
            gradients.fill(0.0);
            std::hint::black_box(&mut gradients);
            Ok(())
        })?;
        println!(" {:>17.2} {:>9.2} {:>6}", each / summed, filling / summed, rows.len());
        Ok(())
    }
}
