//! Functions of each element, and other kinds of the same element.

use super::{BinaryOp, CompareOp, Graph, Kind, LogicOp, NodeId, Number, Op, UnaryOp};
use crate::error::Result;

impl Graph {
    /// f(x).
    pub fn unary(&mut self, op: UnaryOp, x: NodeId) -> NodeId {
        let shape = self.shape(x).clone();
        let kind = match op {
            UnaryOp::IsNan | UnaryOp::IsInfinite | UnaryOp::Not => Kind::Mask,
            _ => self.node(x).kind,
        };
        self.add(Op::Unary(op), vec![x], shape, kind)
    }

    /// scale · x + shift.
    pub fn affine(&mut self, x: NodeId, scale: f64, shift: f64) -> NodeId {
        self.unary(UnaryOp::Affine { scale: Number(scale), shift: Number(shift) }, x)
    }

    /// f(a, b).
    ///
    /// # Errors
    ///
    /// If the shapes do not broadcast.
    pub fn binary(&mut self, op: BinaryOp, a: NodeId, b: NodeId) -> Result<NodeId> {
        let shape = self.joint(&[a, b])?;
        let kind = self.node(a).kind;
        Ok(self.add(Op::Binary(op), vec![a, b], shape, kind))
    }

    /// Whether a ∘ b.
    ///
    /// # Errors
    ///
    /// If the shapes do not broadcast.
    pub fn compare(&mut self, op: CompareOp, a: NodeId, b: NodeId) -> Result<NodeId> {
        let shape = self.joint(&[a, b])?;
        Ok(self.add(Op::Compare(op), vec![a, b], shape, Kind::Mask))
    }

    /// A function of two masks.
    ///
    /// # Errors
    ///
    /// If the shapes do not broadcast.
    pub fn logic(&mut self, op: LogicOp, a: NodeId, b: NodeId) -> Result<NodeId> {
        let shape = self.joint(&[a, b])?;
        Ok(self.add(Op::Logic(op), vec![a, b], shape, Kind::Mask))
    }

    /// `mask ? a : b`.
    ///
    /// # Errors
    ///
    /// If the shapes do not broadcast.
    pub fn select_where(&mut self, mask: NodeId, a: NodeId, b: NodeId) -> Result<NodeId> {
        let shape = self.joint(&[mask, a, b])?;
        let kind = self.node(a).kind;
        Ok(self.add(Op::Where, vec![mask, a, b], shape, kind))
    }

    /// x as another kind.
    pub fn cast(&mut self, x: NodeId, kind: Kind) -> NodeId {
        if self.node(x).kind == kind {
            return x;
        }
        let shape = self.shape(x).clone();
        self.add(Op::Cast, vec![x], shape, kind)
    }
}
