//! Reverse-mode differentiation inside the graph.
//!
//! The adjoint of a node x is ∂(seed · root)/∂x. In reverse order from the root, the adjoint g of y = f(x₁, …)
//! contributes g ∂y/∂xᵢ to the adjoint of each input, and the contributions to a node are added. If xᵢ was broadcast,
//! the contribution is summed over the repeated dimensions. If a shared xᵢ was used by every observation, the
//! contribution is summed over the observations ([`RowAdjoint::Sum`]) or kept for each of them ([`RowAdjoint::Keep`]).
//! An adjoint that is equal for all observations may be shared.

mod elementwise;
mod indexing;
mod loops;
mod matrices;
mod movement;
mod products;
mod reductions;

#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::graph::{Graph, Kind, NodeId, Op, UnaryOp};

/// The treatment of the adjoints of a shared value that every observation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowAdjoint {
    /// The adjoints are summed over the observations: the gradient of a sum.
    Sum,
    /// The adjoints are kept apart: one gradient for each observation.
    Keep,
}

/// Adds the adjoint ∂(seed · root)/∂leaf of each of `leaves` to the graph. The adjoint has the dimensions of the leaf;
/// it is `None` if the root does not depend on the leaf.
///
/// `seed` has the shape of the root or broadcasts to it. With [`RowAdjoint::Sum`], the adjoint of a shared leaf is
/// shared. With [`RowAdjoint::Keep`], it is per row; a shared result means that it is equal for all rows. The adjoint
/// of a per-row leaf is per row too.
///
/// # Errors
///
/// Returns an error if the gradient of an operation is not known, or, with [`RowAdjoint::Keep`], if the value of a row
/// depends on other rows.
///
/// # Examples
///
/// ```
/// use sgmcmc_compiler::differentiate::{RowAdjoint, differentiate};
/// use sgmcmc_compiler::graph::{Graph, UnaryOp};
/// use sgmcmc_compiler::reference::{Inputs, evaluate_nodes};
///
/// let mut graph = Graph::new();
/// let x = graph.parameter(0, []);
/// let square = graph.unary(UnaryOp::Square, x);
/// let seed = graph.scalar(1.0);
/// let gradient = differentiate(&mut graph, square, seed, &[x], RowAdjoint::Sum)?;
/// let inputs = Inputs { parameters: vec![vec![3.0]], ..Inputs::default() };
/// let values = evaluate_nodes(&graph, &inputs, 0, &[gradient[0].unwrap()])?;
/// assert_eq!(values[0].values, [6.0]);
/// # Ok::<(), sgmcmc_compiler::Error>(())
/// ```
pub fn differentiate(
    graph: &mut Graph,
    root: NodeId,
    seed: NodeId,
    leaves: &[NodeId],
    rows: RowAdjoint,
) -> Result<Vec<Option<NodeId>>> {
    gradient(graph, &[(root, seed)], leaves, rows)
}

/// Adds the adjoint ∂(Σ seed · root)/∂leaf of each of `leaves`, for several pairs of a root and its seed.
///
/// # Errors
///
/// Returns the errors of [`differentiate`].
pub(crate) fn differentiate_all(
    graph: &mut Graph,
    roots: &[(NodeId, NodeId)],
    leaves: &[NodeId],
) -> Result<Vec<Option<NodeId>>> {
    gradient(graph, roots, leaves, RowAdjoint::Sum)
}

fn gradient(
    graph: &mut Graph,
    roots: &[(NodeId, NodeId)],
    leaves: &[NodeId],
    rows: RowAdjoint,
) -> Result<Vec<Option<NodeId>>> {
    let count = roots.iter().map(|(root, _)| root.index() + 1).max().unwrap_or(0);
    let required = depends(graph, count, leaves);
    let mut adjoints = Adjoints { graph, rows, values: vec![None; required.len()], count: None };
    for (root, seed) in roots {
        if required[root.index()] {
            adjoints.seed_root(*root, *seed)?;
        }
    }
    for id in adjoints.graph.ids_before(required.len()).rev() {
        if let (true, Some(adjoint)) = (required[id.index()], adjoints.values[id.index()]) {
            adjoints.backward(id, adjoint, &required)?;
        }
    }
    let adjoint = |leaf: &NodeId| adjoints.values.get(leaf.index()).copied().flatten();
    Ok(leaves.iter().map(adjoint).collect())
}

/// Returns which of the first `count` nodes depend on a leaf through differentiable operations.
fn depends(graph: &Graph, count: usize, leaves: &[NodeId]) -> Vec<bool> {
    let mut required = vec![false; count];
    leaves.iter().filter(|leaf| leaf.index() < count).for_each(|leaf| required[leaf.index()] = true);
    for id in graph.ids_before(required.len()) {
        let node = graph.node(id);
        let flows = !matches!(
            node.op,
            Op::Cast
                | Op::Unary(
                    UnaryOp::Detach | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round | UnaryOp::Trunc | UnaryOp::Sign
                )
        );
        let from_inputs = flows && node.inputs.iter().any(|input| required[input.index()]);
        required[id.index()] = node.kind == Kind::Float && (from_inputs || required[id.index()]);
    }
    required
}

struct Adjoints<'a> {
    graph: &'a mut Graph,
    rows: RowAdjoint,
    values: Vec<Option<NodeId>>,
    count: Option<NodeId>,
}

impl Adjoints<'_> {
    fn seed_root(&mut self, root: NodeId, seed: NodeId) -> Result<()> {
        let shape = self.graph.shape(root).clone();
        let mut seed = self.graph.expand(seed, shape.dims)?;
        if !shape.rows && self.rows == RowAdjoint::Sum {
            seed = self.graph.sum_rows(seed);
        }
        self.add(root, seed)
    }

    /// Adds `part` to the adjoint of a node.
    fn add(&mut self, id: NodeId, part: NodeId) -> Result<()> {
        let adjoint = &mut self.values[id.index()];
        *adjoint = Some(match *adjoint {
            Some(before) => self.graph.add(before, part)?,
            None => part,
        });
        Ok(())
    }

    /// Propagates the adjoint `g` of a node to its inputs.
    fn backward(&mut self, y: NodeId, g: NodeId, required: &[bool]) -> Result<()> {
        let node = self.graph.node(y).clone();
        let required: Vec<bool> = node.inputs.iter().map(|input| required[input.index()]).collect();
        if !required.contains(&true) {
            return Ok(());
        }
        if node.op == Op::SumRows && self.rows == RowAdjoint::Keep {
            return Err(Error::MixedRows);
        }
        let graph = &mut *self.graph;
        let parts = match &node.op {
            Op::Unary(op) => vec![elementwise::unary(graph, *op, node.inputs[0], y, g)?],
            Op::Binary(op) => elementwise::binary(graph, *op, &node.inputs, y, g, &required)?,
            Op::Where => elementwise::choice(graph, &node.inputs, g, &required)?,
            Op::Reshape | Op::Permute(_) | Op::Slice(_) | Op::Unslice(_) | Op::Expand | Op::Cat(_) => {
                movement::backward(graph, &node, g, &required)?
            }
            Op::Reduce(..)
            | Op::CumSum { .. }
            | Op::SumRows
            | Op::LogSumExp(_)
            | Op::Softmax(_)
            | Op::LogSoftmax(_) => vec![Some(reductions::backward(graph, &node, y, g)?)],
            Op::Matmul => products::backward(graph, &node.inputs, g, &required)?,
            Op::Cholesky | Op::SolveLower { .. } => matrices::backward(graph, &node, y, g, &required)?,
            Op::Select(_) | Op::SelectAdjoint { .. } | Op::Gather(_) | Op::GatherAdjoint { .. } => {
                vec![Some(indexing::backward(graph, &node, g)?)]
            }
            Op::Scan(_) => loops::adjoint(graph, y, g, &required)?,
            op => return Err(Error::NoGradient { operation: format!("{op:?}") }),
        };
        for ((input, part), required) in node.inputs.iter().zip(parts).zip(required) {
            if let (true, Some(part)) = (required, part) {
                self.receive(*input, part, node.shape.rows)?;
            }
        }
        Ok(())
    }

    /// Adds `part` to the adjoint of `input`, after a sum over the dimensions that were broadcast. `rows` is true if
    /// `input` was used for every observation.
    fn receive(&mut self, input: NodeId, part: NodeId, rows: bool) -> Result<()> {
        let shape = self.graph.shape(input).clone();
        let mut part = part;
        if !shape.rows && self.rows == RowAdjoint::Sum {
            if self.graph.shape(part).rows {
                part = self.graph.sum_rows(part);
            } else if rows {
                let count = self.count();
                part = self.graph.mul(part, count)?;
            }
        }
        let part = movement::unbroadcast(self.graph, part, &shape.dims)?;
        self.add(input, part)
    }

    /// Returns the number of observations. The sum over the observations of a shared adjoint is this number times the
    /// adjoint.
    fn count(&mut self) -> NodeId {
        let graph = &mut *self.graph;
        *self.count.get_or_insert_with(|| {
            let weight = graph.weight();
            let one = graph.affine(weight, 0.0, 1.0);
            graph.sum_rows(one)
        })
    }
}
