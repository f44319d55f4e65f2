//! What values and gradients of single observations cost, against the gradient of their sum.

use std::error::Error;

use sgmcmc::minibatch::{Minibatch, Scheme};
use sgmcmc::prelude::*;
use sgmcmc::{ChainRng, Result};

use crate::arguments::Arguments;
use crate::engine::{Engine, with_engine};
use crate::timing::fastest;
use crate::workloads::{Task, Workload, each};

/// Most numbers that the gradients of single observations may be.
const MOST_NUMBERS: usize = 10_000_000;

/// Prints a row for each workload: µs of the gradient of a minibatch's sum, and as multiples of it the others, and writing as many zeros
/// as the gradients of single observations have numbers.
pub(crate) fn run(arguments: &Arguments) -> std::result::Result<(), Box<dyn Error>> {
    println!(
        "{:<16} {:>14} {:>12} {:>17} {:>9} {:>6}",
        "workload", "gradient µs", "pointwise ÷", "per observation ÷", "writing ÷", "rows"
    );
    Ok(each(&arguments.workloads, &mut PerRow(arguments.engine))?)
}

struct PerRow(Engine);

impl Task for PerRow {
    fn run<P: TensorTree, D: TensorTree>(&mut self, workload: &Workload<P, D>) -> Result<()> {
        let Workload { name, size, posterior, start } = workload;
        let mut evaluator = with_engine(posterior.clone(), self.0).evaluator(start)?;
        let theta = evaluator.layout().flatten(start)?;
        let scheme = size.scheme();
        let mut state = scheme.init(size.observations)?;
        let (mut rng, mut batch) = (ChainRng::new(1, 0), Minibatch::default());
        scheme.draw(&mut state, rng.minibatch(), &mut batch);
        // Of models with many parameters, fewer rows: their gradients would not fit into the cache, or into memory.
        batch.rows.truncate((MOST_NUMBERS / theta.len()).max(1));
        let (rows, calls) = (batch.as_rows()?, (size.iterations / 10).max(20));
        let mut gradient = vec![0.0; theta.len()];
        let summed = fastest(calls, |_| evaluator.likelihood(&theta, rows, &mut gradient).map(drop))?;
        let mut values = vec![0.0; rows.len()];
        let pointwise = fastest(calls, |_| evaluator.pointwise(&theta, rows, &mut values))?;
        print!("{name:<16} {summed:>14.3} {:>12.2}", pointwise / summed);
        let mut gradients = vec![0.0; rows.len() * theta.len()];
        let each = fastest(calls, |_| evaluator.per_datum(&theta, rows, &mut gradients))?;
        let writing = fastest(calls, |_| {
            gradients.fill(0.0);
            std::hint::black_box(&mut gradients);
            Ok(())
        })?;
        println!(" {:>17.2} {:>9.2} {:>6}", each / summed, writing / summed, rows.len());
        Ok(())
    }
}
