//! Work for every observation that can be done once: Σᵢ xᵢ s = s Σᵢ xᵢ, (x s₁) s₂ = x (s₁ s₂) and (x + s₁) + s₂ = x + (s₁ + s₂) for
//! shared s.

use super::Site;
use crate::error::Result;
use crate::graph::{BinaryOp, Graph, Kind, NodeId, Op, UnaryOp};
use crate::shorthand::is;

/// A shared matrix is scaled in the place of a product if it has at most this many times as many elements as the product has
/// for one observation: from about as many observations on it is less work.
const SCALED_MATRIX: usize = 16;

pub(super) fn apply(site: &mut Site<'_>) -> Result<Option<NodeId>> {
    if site.node.kind != Kind::Float || !site.inputs.iter().any(|input| site.graph.shape(*input).rows) {
        return Ok(None);
    }
    let inputs = site.inputs;
    match (&site.node.op, inputs) {
        (Op::SumRows, [x]) => sum(site, *x),
        (Op::Binary(BinaryOp::Mul), [a, b]) => product(site.graph, *a, *b),
        (Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub)), [a, b]) => total(site.graph, *op, *a, *b),
        (Op::Matmul, [a, b]) => matmul(site.graph, *a, *b),
        (Op::Unary(UnaryOp::Affine { scale, shift }), [x]) if is(shift.0, 0.0) => scaled_product(site, *x, scale.0),
        _ => Ok(None),
    }
}

/// The sum over the observations goes inwards past all that is linear and the same for each of them.
fn sum(site: &mut Site<'_>, x: NodeId) -> Result<Option<NodeId>> {
    if let Some((inner, scale)) = site.graph.scaled(x) {
        let sum = site.graph.sum_rows(inner);
        return Ok(Some(site.graph.affine(sum, scale, 0.0)));
    }
    let node = site.graph.node(x).clone();
    if matches!(node.op, Op::Reshape | Op::Expand | Op::Permute(_) | Op::Unslice(_)) {
        let sum = site.graph.sum_rows(node.inputs[0]);
        return site.graph.rebuild(&node, &[sum], &Graph::new()).map(Some);
    }
    let factors = Factors::of(site, x);
    let graph = &mut *site.graph;
    let (Some((first, shared)), Some((start, rest))) = (factors.shared.split_first(), factors.rows.split_first())
    else {
        return Ok(None);
    };
    let product = rest.iter().try_fold(*start, |product, factor| graph.mul_of(product, *factor))?;
    let shared = shared.iter().try_fold(*first, |product, factor| graph.mul_of(product, *factor))?;
    let sum = graph.sum_rows(product);
    graph.mul_of(sum, shared).map(Some)
}

/// What a product is made of.
#[derive(Default)]
struct Factors {
    rows: Vec<NodeId>,
    shared: Vec<NodeId>,
}

impl Factors {
    /// The factors of `product`. A product that is used elsewhere is a factor by itself: taking it apart would make more work.
    fn of(site: &Site<'_>, product: NodeId) -> Self {
        let mut factors = Self::default();
        let mut open = vec![product];
        while let Some(id) = open.pop() {
            if !site.graph.shape(id).rows {
                factors.shared.push(id);
                continue;
            }
            match site.graph.arguments(BinaryOp::Mul, id).filter(|_| id == product || site.used_once(id)) {
                Some((a, b)) => open.extend([b, a]),
                None => factors.rows.push(id),
            }
        }
        factors
    }
}

/// (x s₁) s₂ → x (s₁ s₂).
fn product(graph: &mut Graph, a: NodeId, b: NodeId) -> Result<Option<NodeId>> {
    for (inner, outer) in [(a, b), (b, a)] {
        if graph.shape(outer).rows {
            continue;
        }
        let Some((x, y)) = graph.arguments(BinaryOp::Mul, inner) else { continue };
        for (x, shared) in [(x, y), (y, x)] {
            if graph.shape(x).rows && !graph.shape(shared).rows {
                let both = graph.mul_of(shared, outer)?;
                return graph.mul_of(x, both).map(Some);
            }
        }
    }
    Ok(None)
}

/// ±x ± s₁ ± s₂ → ±x + (±s₁ ± s₂).
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
                (false, false) => graph.add_of(shared, outer)?,
                (false, true) => graph.sub_of(shared, outer)?,
                (true, false) => graph.sub_of(outer, shared)?,
                (true, true) => {
                    let sum = graph.add_of(shared, outer)?;
                    graph.negative(sum)
                }
            };
            return if x_minus { graph.sub_of(both, x) } else { graph.add_of(x, both) }.map(Some);
        }
    }
    Ok(None)
}

/// A number that scales the per-row operand scales the shared one instead, or the product if that is smaller.
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

fn movable(graph: &Graph, matrix: NodeId, product: NodeId) -> bool {
    let shape = graph.shape(matrix);
    !shape.rows && shape.size() <= SCALED_MATRIX * graph.shape(product).size()
}

/// c (A B) with a shared operand that is scaled once.
fn scaled_product(site: &mut Site<'_>, x: NodeId, scale: f64) -> Result<Option<NodeId>> {
    let node = site.graph.node(x).clone();
    if node.op != Op::Matmul || !site.used_once(x) {
        return Ok(None);
    }
    let (a, b) = (node.inputs[0], node.inputs[1]);
    let graph = &mut *site.graph;
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
