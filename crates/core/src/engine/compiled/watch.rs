//! Programs compared with the eager engine while a chain runs.
//!
//! A chain may come to where the closures do what the comparison at the start did not see. Every so many gradients the one that was asked
//! for is computed by the eager engine too. The draws do not depend on it.

use sgmcmc_compiler::program::Real;

use super::Compiled;
use super::check::{Closeness, Difference, EAGER_GRADIENT, Evaluated, difference};
use crate::data::Rows;
use crate::engine::Evaluator;
use crate::error::{Error, Result};
use crate::tree::TensorTree;

/// Gradients between two comparisons, on average. One of the eager engine takes the time of up to a hundred of the compiled one, so that
/// comparisons take about a fifth of a percent of a run at most.
const INTERVAL: u64 = 1 << 16;
/// The gradient that is compared first.
const FIRST: u64 = 1 << 14;

/// When the next gradient is compared.
#[derive(Debug)]
pub(super) struct Watch {
    /// Gradients until then.
    left: u64,
    /// The state of the intervals' lengths.
    random: u64,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self { left: FIRST, random: 0x9e37_79b9_7f4a_7c15 }
    }

    /// Counts a gradient; whether it is to be compared.
    fn is_due(&mut self) -> bool {
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        // Lengths between half and one and a half of the mean, so that no period of a sampler is in step with them.
        self.random = self.random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.left = INTERVAL / 2 + (self.random >> 32) % INTERVAL;
        true
    }
}

impl<P: TensorTree, D: TensorTree, T: Real> Compiled<P, D, T> {
    /// Counts a gradient of `rows` at `theta`, and compares it with that of the eager engine if it is due.
    ///
    /// # Errors
    ///
    /// If the two disagree.
    pub(super) fn watch(&mut self, theta: &[f64], rows: Rows<'_>) -> Result<()> {
        if !self.watch.is_due() || self.sheet.operations > EAGER_GRADIENT || rows.is_empty() {
            return Ok(());
        }
        let rows = rows.part(0, rows.len().min(self.posterior.chunk())).scaled(1.0);
        if !theta.iter().all(|x| x.is_finite()) || !self.serves_rows(rows) {
            return Ok(());
        }
        let mut ours = Evaluated::zero(theta.len());
        ours.value = self.prior(theta, &mut ours.gradient)? + self.run_likelihood(theta, rows, &mut ours.gradient)?;
        // What the eager engine cannot compute cannot be compared.
        let found = difference((&self.posterior, &self.eager), theta, rows, &ours, Closeness::Function);
        match found.unwrap_or_default() {
            None => Ok(()),
            Some(Difference { what, compiled, eager }) => Err(Error::EnginesDisagree { what, compiled, eager }),
        }
    }
}
