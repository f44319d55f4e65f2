//! The descriptions of the compiled workloads.

use std::error::Error;

use sgmcmc::gradient::Result;
use sgmcmc::prelude::*;

use crate::bench::arguments::Arguments;
use crate::bench::workloads::{Task, Workload, each};

/// Prints the result of [`Posterior::explain`] for each workload.
pub(crate) fn run(arguments: &Arguments) -> std::result::Result<(), Box<dyn Error>> {
    Ok(each(&arguments.workloads, &mut Explain)?)
}

struct Explain;

impl Task for Explain {
    fn run<P: TensorTree, D: TensorTree>(&mut self, workload: &Workload<P, D>) -> Result<()> {
        println!("{}: {}", workload.name, workload.posterior.explain(&workload.start)?);
        Ok(())
    }
}
