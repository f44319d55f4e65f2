//! Reverse-mode differentiation inside the graph.
//!
//! The adjoint of a node x is ∂(seed · root)/∂x. From the root backwards, the adjoint g of y = f(x₁, …) is passed to each input
//! as g ∂y/∂xᵢ, and what an input gets from several places is added up. Where a dimension of xᵢ was repeated, the adjoint is
//! summed over it. Where a shared xᵢ was used for every observation, it is summed over the observations
//! ([`Rows::Sum`]) or left with each ([`Rows::Keep`]). An adjoint that is the same for all observations may be shared.

mod elementwise;
mod indexing;
mod movement;
mod products;
mod reductions;

#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::graph::{Graph, Kind, NodeId, Op, UnaryOp};

/// What becomes of adjoints where a shared value is used for every observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// They are summed over the observations: the gradient of a sum.
    Sum,
    /// They stay apart: the gradient of every observation by itself.
    Keep,
}

/// Adds the adjoint of each of `leaves`, that is ∂(seed · root)/∂leaf with the leaf's dimensions, to the graph; none where the
/// root does not depend on the leaf.
///
/// `seed` has the root's shape or broadcasts to it. With [`Rows::Sum`] the adjoint of a shared leaf is shared. With
/// [`Rows::Keep`] it is per row; where it comes out shared, it is the same for every row. So is the adjoint of a per-row leaf.
///
/// # Errors
///
/// If an operation's gradient is not known, or with [`Rows::Keep`] if a row's value depends on other rows.
pub fn differentiate(
    graph: &mut Graph,
    root: NodeId,
    seed: NodeId,
    leaves: &[NodeId],
    rows: Rows,
) -> Result<Vec<Option<NodeId>>> {
    let wanted = depends(graph, root, leaves);
    let mut adjoints = Adjoints { graph, rows, of: vec![None; wanted.len()], count: None };
    if wanted[root.index()] {
        adjoints.start(root, seed)?;
    }
    for id in adjoints.graph.ids_before(wanted.len()).rev() {
        if let (true, Some(adjoint)) = (wanted[id.index()], adjoints.of[id.index()]) {
            adjoints.backward(id, adjoint, &wanted)?;
        }
    }
    let adjoint = |leaf: &NodeId| adjoints.of.get(leaf.index()).copied().flatten();
    Ok(leaves.iter().map(adjoint).collect())
}

/// Which nodes up to the root depend on a leaf by way of operations with a gradient.
fn depends(graph: &Graph, root: NodeId, leaves: &[NodeId]) -> Vec<bool> {
    let mut wanted = vec![false; root.index() + 1];
    leaves.iter().filter(|leaf| **leaf <= root).for_each(|leaf| wanted[leaf.index()] = true);
    for id in graph.ids_before(wanted.len()) {
        let node = graph.node(id);
        let flows = !matches!(
            node.op,
            Op::Cast
                | Op::Unary(
                    UnaryOp::Detach | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round | UnaryOp::Trunc | UnaryOp::Sign
                )
        );
        let from_inputs = flows && node.inputs.iter().any(|input| wanted[input.index()]);
        wanted[id.index()] = node.kind == Kind::Float && (from_inputs || wanted[id.index()]);
    }
    wanted
}

struct Adjoints<'a> {
    graph: &'a mut Graph,
    rows: Rows,
    of: Vec<Option<NodeId>>,
    count: Option<NodeId>,
}

impl Adjoints<'_> {
    fn start(&mut self, root: NodeId, seed: NodeId) -> Result<()> {
        let shape = self.graph.shape(root).clone();
        let mut seed = self.graph.expand(seed, shape.dims)?;
        if !shape.rows && self.rows == Rows::Sum {
            seed = self.graph.sum_rows(seed);
        }
        self.of[root.index()] = Some(seed);
        Ok(())
    }

    /// Passes the adjoint `g` of a node on to its inputs.
    fn backward(&mut self, y: NodeId, g: NodeId, wanted: &[bool]) -> Result<()> {
        let node = self.graph.node(y).clone();
        let wanted: Vec<bool> = node.inputs.iter().map(|input| wanted[input.index()]).collect();
        if !wanted.contains(&true) {
            return Ok(());
        }
        if node.op == Op::SumRows && self.rows == Rows::Keep {
            return Err(Error::MixedRows);
        }
        let graph = &mut *self.graph;
        let parts = match &node.op {
            Op::Unary(op) => vec![elementwise::unary(graph, *op, node.inputs[0], y, g)?],
            Op::Binary(op) => elementwise::binary(graph, *op, &node.inputs, y, g, &wanted)?,
            Op::Where => elementwise::choice(graph, &node.inputs, g, &wanted)?,
            Op::Reshape | Op::Permute(_) | Op::Slice(_) | Op::Unslice(_) | Op::Expand | Op::Cat(_) => {
                movement::backward(graph, &node, g, &wanted)?
            }
            Op::Reduce(..)
            | Op::CumSum { .. }
            | Op::SumRows
            | Op::LogSumExp(_)
            | Op::Softmax(_)
            | Op::LogSoftmax(_) => vec![Some(reductions::backward(graph, &node, y, g)?)],
            Op::Matmul => products::backward(graph, &node.inputs, g, &wanted)?,
            Op::Select(_) | Op::SelectAdjoint { .. } | Op::Gather(_) | Op::GatherAdjoint { .. } => {
                vec![Some(indexing::backward(graph, &node, g)?)]
            }
            op => return Err(Error::NoGradient { operation: format!("{op:?}") }),
        };
        for ((input, part), wanted) in node.inputs.iter().zip(parts).zip(wanted) {
            if let (true, Some(part)) = (wanted, part) {
                self.receive(*input, part, node.shape.rows)?;
            }
        }
        Ok(())
    }

    /// Adds `part` to the adjoint of `input`, after summing what `input` was repeated over. `rows` says whether it was used
    /// for every observation.
    fn receive(&mut self, input: NodeId, part: NodeId, rows: bool) -> Result<()> {
        let shape = self.graph.shape(input).clone();
        let mut part = part;
        if !shape.rows && self.rows == Rows::Sum {
            if self.graph.shape(part).rows {
                part = self.graph.sum_rows(part);
            } else if rows {
                let count = self.count();
                part = self.graph.mul_of(part, count)?;
            }
        }
        let part = movement::unbroadcast(self.graph, part, &shape.dims)?;
        let adjoint = &mut self.of[input.index()];
        *adjoint = Some(match *adjoint {
            Some(before) => self.graph.add_of(before, part)?,
            None => part,
        });
        Ok(())
    }

    /// The number of observations: a sum over them of an adjoint that is the same for all is this many times it.
    fn count(&mut self) -> NodeId {
        let graph = &mut *self.graph;
        *self.count.get_or_insert_with(|| {
            let weight = graph.weight();
            let one = graph.affine(weight, 0.0, 1.0);
            graph.sum_rows(one)
        })
    }
}
