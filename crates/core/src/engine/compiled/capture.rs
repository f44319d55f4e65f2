//! Records a model's closures and makes a graph of them.
//!
//! The closures run on Burn's capture device, which computes nothing and writes down the operations. The leaves they
//! are given have shapes but no values, so a closure that looks at a value fails here rather than being compiled for
//! that value. A recording is made at two numbers of rows, to see which axis is that of the rows and that nothing else
//! depends on their number, and a third time, to see that two calls do the same.

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
use super::import::import;
use super::reason::Reason;
use crate::engine::Posterior;
use crate::layout::Layout;
use crate::tree::TensorTree;

/// Row counts to record at: prime, so that no two of them share a factor with each other.
const ROW_COUNTS: [usize; 12] = [7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47];

/// Operations that are compiled at most. Recordings and programs of so many take some hundred megabytes; longer closures run eagerly.
pub(super) const MOST_OPERATIONS: usize = 250_000;

/// A model as a graph.
#[derive(Debug)]
pub(super) struct Captured {
    /// What the closures compute.
    pub(super) graph: Graph,
    /// The coordinates of each block of the layout, in the shape the constraint takes them in.
    pub(super) parameters: Vec<NodeId>,
    /// log p(xᵢ|θ), if there is a likelihood and an observation.
    pub(super) likelihood: Option<Likelihood>,
    /// powerᵖ log p(θ) + log |∂x/∂y|, as far as there is a prior and a constraint; one number shared by all rows.
    pub(super) prior: Option<NodeId>,
    /// How many operations Burn recorded.
    pub(super) operations: usize,
    /// What was recorded, to compare with at other numbers of rows.
    pub(super) signature: Signature,
}

/// The log-likelihood of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Likelihood {
    /// log p(xᵢ|θ), untempered, one number per row; or one shared by all if it does not depend on the data.
    pub(super) node: NodeId,
    /// Whether the closure returns the sum over the rows.
    pub(super) summed: bool,
}

/// The graph of a posterior whose parameters are shaped as `template`, in float type `dtype`.
pub(super) fn capture<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    template: &P,
    layout: &Layout,
    dtype: DType,
) -> Result<Captured, Reason> {
    let record = |rows| Recording::of(posterior, template, layout, dtype, rows);
    let [few, many] = row_counts(posterior, layout);
    let first = record(few)?;
    if first.operations.len() > MOST_OPERATIONS {
        return Err(Reason::too_long(first.operations.len(), MOST_OPERATIONS));
    }
    Signature::new(&first, &record(few)?, Reason::changes)?;
    let signature = Signature::new(&first, &record(many)?, Reason::depends_on_rows)?;
    let powers = posterior.model().powers();
    let imported = import(&first, &signature, posterior.data().columns(), layout, dtype, powers.1)?;
    Ok(Captured {
        graph: imported.graph,
        parameters: imported.parameters,
        likelihood: imported.likelihood,
        prior: imported.prior,
        operations: first.operations.len(),
        signature,
    })
}

/// Whether the closures do the same with `n` rows as with those they were captured with.
///
/// A single row is taken on trust: there, an axis of one row cannot be told from an axis to broadcast, and code that
/// expands only where it must rightly does less.
pub(super) fn same_at<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    template: &P,
    layout: &Layout,
    dtype: DType,
    n: usize,
    known: &Signature,
) -> Result<(), Reason> {
    if n <= 1 {
        return Ok(());
    }
    known.check_at(&Recording::of(posterior, template, layout, dtype, n)?)
}

/// Two numbers of rows that no axis of a leaf has, so that equal sizes are no coincidence.
fn row_counts<P: TensorTree, D: TensorTree>(posterior: &Posterior<P, D>, layout: &Layout) -> [usize; 2] {
    let shapes = layout.blocks().iter().map(|block| block.shape.as_slice());
    let data = posterior.data().columns().iter().map(|column| column.row_shape());
    let taken: Vec<usize> = shapes.chain(data).flatten().copied().collect();
    let mut free = ROW_COUNTS.into_iter().filter(|count| !taken.contains(count));
    // If all are taken, two larger primes do.
    [free.next().unwrap_or(1009), free.next().unwrap_or(1013)]
}
