//! Element-wise operations and casts.

use super::{BinaryOp, CompareOp, Graph, Kind, LogicOp, NodeId, Number, Op, UnaryOp};
use crate::error::Result;

impl Graph {
    /// Adds f(x).
    pub fn unary(&mut self, op: UnaryOp, x: NodeId) -> NodeId {
        let shape = self.shape(x).clone();
        let kind = match op {
            UnaryOp::IsNan | UnaryOp::IsInfinite | UnaryOp::Not => Kind::Mask,
            _ => self.node(x).kind,
        };
        self.insert(Op::Unary(op), vec![x], shape, kind)
    }

    /// Adds scale · x + shift.
    pub fn affine(&mut self, x: NodeId, scale: f64, shift: f64) -> NodeId {
        self.unary(UnaryOp::Affine { scale: Number(scale), shift: Number(shift) }, x)
    }

    /// Adds f(a, b).
    ///
    /// # Errors
    ///
    /// Returns an error if the shapes do not broadcast.
    pub fn binary(&mut self, op: BinaryOp, a: NodeId, b: NodeId) -> Result<NodeId> {
        let shape = self.broadcast_shape(&[a, b])?;
        let kind = self.node(a).kind;
        Ok(self.insert(Op::Binary(op), vec![a, b], shape, kind))
    }

    /// Adds a comparison of a and b. The result is a mask.
    ///
    /// # Errors
    ///
    /// Returns an error if the shapes do not broadcast.
    pub fn compare(&mut self, op: CompareOp, a: NodeId, b: NodeId) -> Result<NodeId> {
        let shape = self.broadcast_shape(&[a, b])?;
        Ok(self.insert(Op::Compare(op), vec![a, b], shape, Kind::Mask))
    }

    /// Adds a logical operation on two masks.
    ///
    /// # Errors
    ///
    /// Returns an error if the shapes do not broadcast.
    pub fn logic(&mut self, op: LogicOp, a: NodeId, b: NodeId) -> Result<NodeId> {
        let shape = self.broadcast_shape(&[a, b])?;
        Ok(self.insert(Op::Logic(op), vec![a, b], shape, Kind::Mask))
    }

    /// Adds `mask ? a : b`.
    ///
    /// # Errors
    ///
    /// Returns an error if the shapes do not broadcast.
    pub fn select_where(&mut self, mask: NodeId, a: NodeId, b: NodeId) -> Result<NodeId> {
        let shape = self.broadcast_shape(&[mask, a, b])?;
        let kind = self.node(a).kind;
        Ok(self.insert(Op::Where, vec![mask, a, b], shape, kind))
    }

    /// Converts x to another kind.
    pub fn cast(&mut self, x: NodeId, kind: Kind) -> NodeId {
        if self.node(x).kind == kind {
            return x;
        }
        let shape = self.shape(x).clone();
        self.insert(Op::Cast, vec![x], shape, kind)
    }
}
