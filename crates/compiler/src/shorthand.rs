//! Short forms for the nodes that the passes create and match most often.

use crate::error::Result;
use crate::graph::{BinaryOp, Graph, NodeId, Op, UnaryOp};

impl Graph {
    /// Adds the node a + b.
    pub(crate) fn add(&mut self, a: NodeId, b: NodeId) -> Result<NodeId> {
        self.binary(BinaryOp::Add, a, b)
    }

    /// Adds the node a − b.
    pub(crate) fn sub(&mut self, a: NodeId, b: NodeId) -> Result<NodeId> {
        self.binary(BinaryOp::Sub, a, b)
    }

    /// Adds the node a b.
    pub(crate) fn mul(&mut self, a: NodeId, b: NodeId) -> Result<NodeId> {
        self.binary(BinaryOp::Mul, a, b)
    }

    /// Adds the node a / b.
    pub(crate) fn div(&mut self, a: NodeId, b: NodeId) -> Result<NodeId> {
        self.binary(BinaryOp::Div, a, b)
    }

    /// Adds the node −x.
    pub(crate) fn neg(&mut self, x: NodeId) -> NodeId {
        self.affine(x, -1.0, 0.0)
    }

    /// Follows the inputs from `id` as long as `skipped` holds for the operation and it has one input. Returns the
    /// first other node.
    pub(crate) fn strip_ops(&self, mut id: NodeId, skipped: impl Fn(&Op) -> bool) -> NodeId {
        while let ([x], true) = (self.node(id).inputs.as_slice(), skipped(&self.node(id).op)) {
            id = *x;
        }
        id
    }

    /// Returns the input of `id` if its operation is `op`.
    pub(crate) fn argument(&self, op: UnaryOp, id: NodeId) -> Option<NodeId> {
        let node = self.node(id);
        (node.op == Op::Unary(op)).then(|| node.inputs[0])
    }

    /// Returns `(x, a, b)` if `id` is a x + b.
    pub(crate) fn affine_parts(&self, id: NodeId) -> Option<(NodeId, f64, f64)> {
        let node = self.node(id);
        match node.op {
            Op::Unary(UnaryOp::Affine { scale, shift }) => Some((node.inputs[0], scale.0, shift.0)),
            _ => None,
        }
    }

    /// Returns `(x, a)` if `id` is a x and rewrites may move the factor; see [`is_movable`].
    pub(crate) fn scaled(&self, id: NodeId) -> Option<(NodeId, f64)> {
        let parts = self.affine_parts(id).filter(|(_, scale, shift)| exact_eq(*shift, 0.0) && is_movable(*scale));
        parts.map(|(x, scale, _)| (x, scale))
    }

    /// Returns the inputs of `id` if its operation is `op`.
    pub(crate) fn arguments(&self, op: BinaryOp, id: NodeId) -> Option<(NodeId, NodeId)> {
        let node = self.node(id);
        (node.op == Op::Binary(op)).then(|| (node.inputs[0], node.inputs[1]))
    }
}

/// Returns whether rewrites may move a factor.
///
/// In a long chain, the product of all factors can overflow although the chain itself does not, because the remaining
/// values are correspondingly small. Rewrites therefore move only factors of moderate size. Moved factors are merged
/// until their product is too large to move.
pub(crate) fn is_movable(factor: f64) -> bool {
    exact_eq(factor, 0.0) || (1e-6..=1e6).contains(&factor.abs())
}

/// Returns whether two factors with this product may be merged.
pub(crate) fn is_mergeable(product: f64) -> bool {
    exact_eq(product, 0.0) || (1e-12..=1e12).contains(&product.abs())
}

/// Returns whether two numbers are equal; −0 equals 0.
#[allow(clippy::float_cmp)]
pub(crate) fn exact_eq(a: f64, b: f64) -> bool {
    a == b
}
