//! Adjoints of Cholesky factors and of triangular systems.
//!
//! For L X = B with the adjoint G of X, the adjoint of B is H = L⁻ᵀ G, and that of L is the lower triangle of −H Xᵀ. For
//! Lᵀ X = B, they are H = L⁻¹ G and the lower triangle of −X Hᵀ.

use crate::error::{Error, Result};
use crate::graph::{Graph, Kind, Node, NodeId, Op};

/// Returns the required adjoints of the inputs of a node with the result y.
pub(super) fn backward(
    graph: &mut Graph,
    node: &Node,
    y: NodeId,
    g: NodeId,
    required: &[bool],
) -> Result<Vec<Option<NodeId>>> {
    let g = graph.expand(g, node.shape.dims.clone())?;
    match node.op {
        Op::Cholesky => Ok(vec![Some(graph.cholesky_adjoint(y, g)?)]),
        Op::SolveLower { transposed } => {
            let factor = node.inputs[0];
            let of_rhs = graph.solve_lower(factor, g, !transposed)?;
            let of_factor = if required[0] {
                let (left, right) = if transposed { (y, of_rhs) } else { (of_rhs, y) };
                let right = graph.transpose(right)?;
                let product = graph.matmul(left, right)?;
                let minus = minus_lower(graph, factor)?;
                Some(graph.mul(product, minus)?)
            } else {
                None
            };
            Ok(vec![of_factor, required[1].then_some(of_rhs)])
        }
        ref op => Err(Error::NoGradient { operation: format!("{op:?}") }),
    }
}

/// Returns a matrix with −1 in the lower triangle and on the diagonal, and with zeros above.
fn minus_lower(graph: &mut Graph, factor: NodeId) -> Result<NodeId> {
    let dim = graph.shape(factor).dims.last().copied().unwrap_or(0);
    let values: Vec<f64> = (0..dim * dim).map(|at| if at % dim <= at / dim { -1.0 } else { 0.0 }).collect();
    graph.constant(values, [dim, dim], Kind::Float)
}
