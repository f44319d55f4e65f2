//! Short names for the nodes that passes build most.

use crate::error::Result;
use crate::graph::{BinaryOp, Graph, NodeId, Op, UnaryOp};

impl Graph {
    /// a + b.
    pub(crate) fn add_of(&mut self, a: NodeId, b: NodeId) -> Result<NodeId> {
        self.binary(BinaryOp::Add, a, b)
    }

    /// a − b.
    pub(crate) fn sub_of(&mut self, a: NodeId, b: NodeId) -> Result<NodeId> {
        self.binary(BinaryOp::Sub, a, b)
    }

    /// a b.
    pub(crate) fn mul_of(&mut self, a: NodeId, b: NodeId) -> Result<NodeId> {
        self.binary(BinaryOp::Mul, a, b)
    }

    /// a / b.
    pub(crate) fn div_of(&mut self, a: NodeId, b: NodeId) -> Result<NodeId> {
        self.binary(BinaryOp::Div, a, b)
    }

    /// −x.
    pub(crate) fn negative(&mut self, x: NodeId) -> NodeId {
        self.affine(x, -1.0, 0.0)
    }

    /// The first node that is none of these operations of one input, on the way from `id` towards the leaves.
    pub(crate) fn below(&self, mut id: NodeId, passes: impl Fn(&Op) -> bool) -> NodeId {
        while let ([x], true) = (self.node(id).inputs.as_slice(), passes(&self.node(id).op)) {
            id = *x;
        }
        id
    }

    /// The input of `id` if it is this function of one.
    pub(crate) fn argument(&self, op: UnaryOp, id: NodeId) -> Option<NodeId> {
        let node = self.node(id);
        (node.op == Op::Unary(op)).then(|| node.inputs[0])
    }

    /// `(x, a, b)` if `id` is a x + b.
    pub(crate) fn affine_parts(&self, id: NodeId) -> Option<(NodeId, f64, f64)> {
        let node = self.node(id);
        match node.op {
            Op::Unary(UnaryOp::Affine { scale, shift }) => Some((node.inputs[0], scale.0, shift.0)),
            _ => None,
        }
    }

    /// `(x, a)` if `id` is a x and rewrites may move the factor, see [`is_movable`].
    pub(crate) fn scaled(&self, id: NodeId) -> Option<(NodeId, f64)> {
        let parts = self.affine_parts(id).filter(|(_, scale, shift)| is(*shift, 0.0) && is_movable(*scale));
        parts.map(|(x, scale, _)| (x, scale))
    }

    /// The inputs of `id` if it is this function of two.
    pub(crate) fn arguments(&self, op: BinaryOp, id: NodeId) -> Option<(NodeId, NodeId)> {
        let node = self.node(id);
        (node.op == Op::Binary(op)).then(|| (node.inputs[0], node.inputs[1]))
    }
}

/// Whether a factor is of a size that rewrites may move.
///
/// The factors of all steps of a long chain, moved to its end, would overflow together, where each times the rest, which is as small as
/// they are large, does not. Those that move are merged until they are too large to move, and stay there.
pub(crate) fn is_movable(factor: f64) -> bool {
    is(factor, 0.0) || (1e-6..=1e6).contains(&factor.abs())
}

/// Whether factors whose product this is may be merged.
pub(crate) fn is_mergeable(product: f64) -> bool {
    is(product, 0.0) || (1e-12..=1e12).contains(&product.abs())
}

/// Exact equality, −0 = 0.
#[allow(clippy::float_cmp)]
pub(crate) fn is(a: f64, b: f64) -> bool {
    a == b
}
