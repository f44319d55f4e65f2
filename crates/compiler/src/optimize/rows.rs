//! Hoisting of computations out of the loop over the observations. For shared s: Σᵢ xᵢ s = s Σᵢ xᵢ, (x s₁) s₂ = x (s₁
//! s₂) and (x + s₁) + s₂ = x + (s₁ + s₂).

use super::RewriteContext;
use crate::error::Result;
use crate::graph::{BinaryOp, Graph, Kind, NodeId, Op, UnaryOp};
use crate::shorthand::exact_eq;

/// The maximum ratio of the size of a shared matrix to the size of a product for one observation at which the matrix is
/// scaled instead of the product. This is less work if there are at least about as many observations.
const SCALED_MATRIX: usize = 16;

pub(super) fn apply(context: &mut RewriteContext<'_>) -> Result<Option<NodeId>> {
    if context.node.kind != Kind::Float || !context.inputs.iter().any(|input| context.graph.shape(*input).rows) {
        return Ok(None);
    }
    let inputs = context.inputs;
    match (&context.node.op, inputs) {
        (Op::SumRows, [x]) => sum(context, *x),
        (Op::Binary(BinaryOp::Mul), [a, b]) => product(context.graph, *a, *b),
        (Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub)), [a, b]) => total(context.graph, *op, *a, *b),
        (Op::Matmul, [a, b]) => matmul(context.graph, *a, *b),
        (Op::Unary(UnaryOp::Affine { scale, shift }), [x]) if exact_eq(shift.0, 0.0) => {
            scaled_product(context, *x, scale.0)
        }
        _ => Ok(None),
    }
}

/// Moves the sum over the observations inward past linear operations that are the same for all of them.
fn sum(context: &mut RewriteContext<'_>, x: NodeId) -> Result<Option<NodeId>> {
    if let Some((inner, scale)) = context.graph.scaled(x) {
        let sum = context.graph.sum_rows(inner);
        return Ok(Some(context.graph.affine(sum, scale, 0.0)));
    }
    let node = context.graph.node(x).clone();
    if matches!(node.op, Op::Reshape | Op::Expand | Op::Permute(_) | Op::Unslice(_)) {
        let sum = context.graph.sum_rows(node.inputs[0]);
        return context.graph.rebuild(&node, &[sum], &Graph::new()).map(Some);
    }
    let factors = Factors::from_product(context, x);
    let graph = &mut *context.graph;
    let (Some((first, shared)), Some((start, rest))) = (factors.shared.split_first(), factors.rows.split_first())
    else {
        return Ok(None);
    };
    let product = rest.iter().try_fold(*start, |product, factor| graph.mul(product, *factor))?;
    let shared = shared.iter().try_fold(*first, |product, factor| graph.mul(product, *factor))?;
    let sum = graph.sum_rows(product);
    graph.mul(sum, shared).map(Some)
}

/// The factors of a product.
#[derive(Default)]
struct Factors {
    rows: Vec<NodeId>,
    shared: Vec<NodeId>,
}

impl Factors {
    /// Collects the factors of `product`. A product that has other uses is kept as one factor, because it would be
    /// computed twice otherwise.
    fn from_product(context: &RewriteContext<'_>, product: NodeId) -> Self {
        let mut factors = Self::default();
        let mut stack = vec![product];
        while let Some(id) = stack.pop() {
            if !context.graph.shape(id).rows {
                factors.shared.push(id);
                continue;
            }
            match context.graph.arguments(BinaryOp::Mul, id).filter(|_| id == product || context.used_once(id)) {
                Some((a, b)) => stack.extend([b, a]),
                None => factors.rows.push(id),
            }
        }
        factors
    }
}

/// Rewrites (x s₁) s₂ → x (s₁ s₂).
fn product(graph: &mut Graph, a: NodeId, b: NodeId) -> Result<Option<NodeId>> {
    for (inner, outer) in [(a, b), (b, a)] {
        if graph.shape(outer).rows {
            continue;
        }
        let Some((x, y)) = graph.arguments(BinaryOp::Mul, inner) else { continue };
        for (x, shared) in [(x, y), (y, x)] {
            if graph.shape(x).rows && !graph.shape(shared).rows {
                let both = graph.mul(shared, outer)?;
                return graph.mul(x, both).map(Some);
            }
        }
    }
    Ok(None)
}

/// Rewrites ±x ± s₁ ± s₂ → ±x + (±s₁ ± s₂).
fn total(graph: &mut Graph, op: BinaryOp, a: NodeId, b: NodeId) -> Result<Option<NodeId>> {
    let minus = op == BinaryOp::Sub;
    for (inner, inner_minus, outer, outer_minus) in [(a, false, b, minus), (b, minus, a, false)] {
        if graph.shape(outer).rows {
            continue;
        }
        let node = graph.node(inner);
        let Op::Binary(within @ (BinaryOp::Add | BinaryOp::Sub)) = node.op else { continue };
        let (x, y) = (node.inputs[0], node.inputs[1]);
        let second = inner_minus != (within == BinaryOp::Sub);
        for ((x, x_minus), (shared, shared_minus)) in [((x, inner_minus), (y, second)), ((y, second), (x, inner_minus))]
        {
            if !graph.shape(x).rows || graph.shape(shared).rows {
                continue;
            }
            let both = match (shared_minus, outer_minus) {
                (false, false) => graph.add(shared, outer)?,
                (false, true) => graph.sub(shared, outer)?,
                (true, false) => graph.sub(outer, shared)?,
                (true, true) => {
                    let sum = graph.add(shared, outer)?;
                    graph.neg(sum)
                }
            };
            return if x_minus { graph.sub(both, x) } else { graph.add(x, both) }.map(Some);
        }
    }
    Ok(None)
}

/// Moves a factor of the per-row operand to the shared operand, or to the product if that is smaller.
fn matmul(graph: &mut Graph, a: NodeId, b: NodeId) -> Result<Option<NodeId>> {
    for (operand, other, left) in [(a, b, true), (b, a, false)] {
        let Some((inner, scale)) = graph.scaled(operand).filter(|(inner, _)| graph.shape(*inner).rows) else {
            continue;
        };
        let (x, y) = if left { (inner, other) } else { (other, inner) };
        let product = graph.matmul(x, y)?;
        if movable(graph, other, product) {
            let other = graph.affine(other, scale, 0.0);
            return if left { graph.matmul(inner, other) } else { graph.matmul(other, inner) }.map(Some);
        }
        if graph.shape(product).size() <= graph.shape(inner).size() {
            return Ok(Some(graph.affine(product, scale, 0.0)));
        }
    }
    Ok(None)
}

/// Returns whether a factor of `product` should scale `matrix` instead.
fn movable(graph: &Graph, matrix: NodeId, product: NodeId) -> bool {
    let shape = graph.shape(matrix);
    !shape.rows && shape.size() <= SCALED_MATRIX * graph.shape(product).size()
}

/// Rewrites c (A B) such that a shared operand is scaled once.
fn scaled_product(context: &mut RewriteContext<'_>, x: NodeId, scale: f64) -> Result<Option<NodeId>> {
    let node = context.graph.node(x).clone();
    if node.op != Op::Matmul || !context.used_once(x) {
        return Ok(None);
    }
    let (a, b) = (node.inputs[0], node.inputs[1]);
    let graph = &mut *context.graph;
    if movable(graph, b, x) {
        let b = graph.affine(b, scale, 0.0);
        return graph.matmul(a, b).map(Some);
    }
    if movable(graph, a, x) {
        let a = graph.affine(a, scale, 0.0);
        return graph.matmul(a, b).map(Some);
    }
    Ok(None)
}
