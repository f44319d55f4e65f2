//! Comparison of the compiled and the eager engine while a chain runs.
//!
//! A chain may reach a region where the closures behave differently than at the points of the comparison before the
//! run. At random intervals, a requested gradient is also computed by the eager engine. The draws do not depend on the
//! comparison.

use sgmcmc_compiler::program::{Output, Real};

use super::check::{Closeness, Difference, EAGER_GRADIENT, Engines, Evaluated};
use super::compilation::Compilation;
use super::run::{Task, run};
use super::{Compiled, not_compiled};
use crate::sequence::briefly;
use crate::tree::TensorTree;
use sgmcmc_gradient::Evaluator;
use sgmcmc_gradient::data::Rows;
use sgmcmc_gradient::error::{Error, Result};

/// The mean number of gradients between two comparisons. A gradient of the eager engine takes up to a hundred times as
/// long as a compiled one, so that comparisons take at most about a fifth of a percent of the time of a run.
const INTERVAL: u64 = 1 << 16;
/// The numbers of gradients before the first comparisons. A chain that leaves the region of its start does so early.
const FIRST: [u64; 3] = [1 << 6, 1 << 10, 1 << 14];

/// The schedule of comparisons.
#[derive(Debug)]
pub(super) struct ComparisonSchedule {
    /// The number of gradients until the next comparison.
    remaining: u64,
    /// The number of comparisons so far.
    made: usize,
    /// The RNG state for the lengths of the intervals.
    random: u64,
}

impl ComparisonSchedule {
    /// Creates a schedule at the start of a run.
    pub(super) fn new() -> Self {
        Self { remaining: FIRST[0], made: 0, random: 0x9e37_79b9_7f4a_7c15 }
    }

    /// Counts a gradient, and returns whether it must be compared.
    fn is_due(&mut self) -> bool {
        self.remaining -= 1;
        if self.remaining > 0 {
            return false;
        }
        self.made += 1;
        if let Some(next) = FIRST.get(self.made) {
            self.remaining = next - FIRST[self.made - 1];
            return true;
        }
        // Lengths vary between 0.5 and 1.5 times the mean, so that they do not coincide with a period of the sampler.
        self.random = self.random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.remaining = INTERVAL / 2 + (self.random >> 32) % INTERVAL;
        true
    }
}

impl<P: TensorTree, D: TensorTree, T: Real> Compiled<P, D, T> {
    /// Counts a gradient of `rows` at `theta`, and compares it with the gradient of the eager engine if a comparison is
    /// due.
    ///
    /// # Errors
    ///
    /// Returns an error if the two engines disagree.
    pub(super) fn compare_if_due(&mut self, theta: &[f64], rows: Rows<'_>) -> Result<()> {
        if !self.comparisons.is_due() || self.compilation.operations > EAGER_GRADIENT || rows.is_empty() {
            return Ok(());
        }
        let rows = rows.part(0, rows.len().min(self.posterior.chunk())).scaled(1.0);
        if !theta.iter().all(|x| x.is_finite()) || !self.is_valid_for_rows(rows) {
            return Ok(());
        }
        let mut compiled = Evaluated::zero(theta.len());
        let grad = &mut compiled.gradient;
        compiled.value = match self.compilation.brief.clone() {
            Some(brief) => self.run_brief(&brief, theta, rows, grad)?,
            None => self.prior(theta, grad)? + self.run_likelihood(theta, rows, grad)?,
        };
        let engines = Engines { posterior: &self.posterior, eager: &self.eager };
        // Loops are compared in their first steps, because the time of a backward pass of the eager engine is quadratic
        // in the number of steps.
        let (found, _) = briefly(|| engines.difference(theta, rows, &compiled, Closeness::Function));
        // Points at which the eager engine fails are not compared.
        match found.unwrap_or_default() {
            None => Ok(()),
            Some(Difference { what, compiled, eager }) => Err(Error::EnginesDisagree { what, compiled, eager }),
        }
    }

    /// Adds the gradient of the log posterior of `rows` with the first steps of its loops, and returns the value.
    fn run_brief(&self, brief: &Compilation, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        let columns = self.posterior.data().columns();
        let power = self.posterior.model().powers().likelihood;
        let mut value = 0.0;
        for (subgraph, task) in
            [(&brief.likelihood, Task { columns, theta, rows, power }), (&brief.prior, Task::prior(theta))]
        {
            if let Some(mut program) = brief.program::<T>(subgraph).map_err(not_compiled)? {
                value += run(&mut program, task, Output::Gradient(&mut *grad))?;
            }
        }
        Ok(value)
    }
}
