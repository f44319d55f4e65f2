//! Recording of the closures of a model and conversion to a graph.
//!
//! The closures run on Burn's capture device, which records operations without computing them. The arguments have
//! shapes but no values, so that a closure that reads a value fails instead of being compiled for that value.
//! Recordings at two numbers of observations determine the axis of the observations, and verify that nothing else
//! depends on their number. A further recording verifies that equal calls record the same operations.

mod device;
mod leaves;
mod recording;
mod signature;
#[cfg(test)]
mod tests;

use burn_tensor::DType;
use sgmcmc_compiler::graph::{Graph, NodeId};

pub(super) use self::recording::Recording;
pub(super) use self::signature::{Dim, Signature, is_whole, name_of};
use super::compile_error::CompileError;
use super::import::import;
use crate::engine::Posterior;
use crate::sequence::{CHECKED_STEPS, LONGER_STEPS};
use crate::tree::TensorTree;
use sgmcmc_gradient::layout::Layout;

/// The numbers of observations for recordings. They are primes, so that no two of them have a common factor.
const ROW_COUNTS: [usize; 12] = [7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47];

/// The maximum number of operations that are compiled. A recording and a program of this size take several hundred
/// megabytes. Longer closures run on the eager engine.
pub(super) const MOST_OPERATIONS: usize = 250_000;

/// The largest number of operations that the eager engine executes for the comparison of longer loops.
const LONGER_OPERATIONS: usize = 4_000;

/// A model as a graph.
#[derive(Debug)]
pub(super) struct Captured {
    /// The graph of the closures.
    pub(super) graph: Graph,
    /// The coordinates of each block of the layout, in the shape that the constraint takes.
    pub(super) parameters: Vec<NodeId>,
    /// The log-likelihood log p(xᵢ|θ), or `None` if there is no likelihood or no observation.
    pub(super) likelihood: Option<Likelihood>,
    /// The shared number c log p(θ) + log |∂x/∂y|, where c is the power of the prior, or `None` if there is neither a
    /// prior nor a constraint.
    pub(super) prior: Option<NodeId>,
    /// The number of operations that Burn recorded.
    pub(super) operations: usize,
    /// The recording, to compare with recordings at other numbers of observations.
    pub(super) signature: Signature,
    /// The model with the first steps of its loops, if it has long loops, for comparisons with the eager engine.
    pub(super) brief: Option<Box<Captured>>,
    /// The model with more steps of its loops, for one comparison, and their number.
    pub(super) longer: Option<(Box<Captured>, usize)>,
}

/// The log-likelihood of one observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Likelihood {
    /// The untempered log p(xᵢ|θ), one number per observation, or one shared number if it does not depend on the data.
    pub(super) node: NodeId,
    /// True if the closure returns the sum over the observations.
    pub(super) summed: bool,
}

/// Records the closures of a posterior with parameters of the structure of `template` and float type `dtype`, and
/// returns their graph.
///
/// # Errors
///
/// Returns an error if the closures cannot be compiled.
pub(super) fn capture<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    template: &P,
    layout: &Layout,
    dtype: DType,
) -> Result<Captured, CompileError> {
    let record = |rows| Recording::new(posterior, template, layout, dtype, rows);
    let [few, many] = row_counts(posterior, layout);
    let first = record(few)?;
    if first.operations.len() > MOST_OPERATIONS {
        return Err(CompileError::too_long(first.operations.len(), MOST_OPERATIONS));
    }
    Signature::new(&first, &record(few)?, CompileError::changes)?;
    let signature = Signature::new(&first, &record(many)?, CompileError::depends_on_rows)?;
    let power = posterior.model().powers().prior;
    let columns = posterior.data().columns();
    let captured = |limit: usize| -> Result<Captured, CompileError> {
        let imported = import(&first, &signature, columns, layout, dtype, power, limit)?;
        Ok(Captured {
            graph: imported.graph,
            parameters: imported.parameters,
            likelihood: imported.likelihood,
            prior: imported.prior,
            operations: first.operations.len(),
            signature: signature.clone(),
            brief: None,
            longer: None,
        })
    };
    let longest = first.scans.iter().map(|scan| scan.steps).max().unwrap_or(0);
    if longest <= CHECKED_STEPS {
        return captured(usize::MAX);
    }
    let brief = Some(Box::new(captured(CHECKED_STEPS)?));
    // The eager engine executes the operations of a body once for each step.
    let affordable = LONGER_OPERATIONS / first.operations.len().max(1);
    let steps = longest.min(LONGER_STEPS).min(affordable);
    let longer = if steps > CHECKED_STEPS { Some((Box::new(captured(steps)?), steps)) } else { None };
    Ok(Captured { brief, longer, ..captured(usize::MAX)? })
}

/// Checks that the closures record the same operations with `n` observations as the `known` recording.
///
/// A single observation is not checked. There, the axis of the observations cannot be distinguished from an axis that
/// is broadcast, and code that expands tensors only if necessary correctly records fewer operations.
///
/// # Errors
///
/// Returns an error if the operations differ.
pub(super) fn check_row_count<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    template: &P,
    layout: &Layout,
    dtype: DType,
    n: usize,
    known: &Signature,
) -> Result<(), CompileError> {
    if n <= 1 {
        return Ok(());
    }
    known.check_same(&Recording::new(posterior, template, layout, dtype, n)?)
}

/// Returns two numbers of observations that differ from the size of every axis of a leaf, so that equal sizes are not a
/// coincidence.
fn row_counts<P: TensorTree, D: TensorTree>(posterior: &Posterior<P, D>, layout: &Layout) -> [usize; 2] {
    let shapes = layout.blocks().iter().map(|block| block.shape.as_slice());
    let data = posterior.data().columns().iter().map(|column| column.row_shape());
    let taken: Vec<usize> = shapes.chain(data).flatten().copied().collect();
    let mut free = ROW_COUNTS.into_iter().filter(|count| !taken.contains(count));
    // If all of them occur, two larger primes are used.
    [free.next().unwrap_or(1009), free.next().unwrap_or(1013)]
}
