//! What the compiled engine makes of the workloads' closures.

use std::error::Error;

use sgmcmc::Result;
use sgmcmc::prelude::*;

use crate::arguments::Arguments;
use crate::workloads::{Task, Workload, each};

/// Prints what [`Posterior::explain`] says of each workload.
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
