//! Along an axis, and over the observations.

use super::{Graph, NodeId, Op, ReduceOp, Shape};
use crate::error::{Error, Result};

impl Graph {
    /// A reduction of `axis`, which stays with size one.
    ///
    /// # Errors
    ///
    /// If there is no such axis.
    pub fn reduce(&mut self, op: ReduceOp, x: NodeId, axis: usize) -> Result<NodeId> {
        let mut shape = self.shape(x).clone();
        *axis_mut(&mut shape, axis)? = 1;
        if self.shape(x).dims[axis] == 1 {
            return Ok(x);
        }
        Ok(self.like(Op::Reduce(op, axis), x, shape))
    }

    /// Σ over these axes, which stay with size one.
    ///
    /// # Errors
    ///
    /// If there is no such axis.
    pub fn sum(&mut self, x: NodeId, axes: impl IntoIterator<Item = usize>) -> Result<NodeId> {
        axes.into_iter().try_fold(x, |x, axis| self.reduce(ReduceOp::Sum, x, axis))
    }

    /// Running sums along `axis`.
    ///
    /// # Errors
    ///
    /// If there is no such axis.
    pub fn cumsum(&mut self, x: NodeId, axis: usize, reverse: bool) -> Result<NodeId> {
        let mut shape = self.shape(x).clone();
        axis_mut(&mut shape, axis)?;
        Ok(self.like(Op::CumSum { axis, reverse }, x, shape))
    }

    /// The sum over all observations. A shared value stays as it is.
    pub fn sum_rows(&mut self, x: NodeId) -> NodeId {
        let Shape { dims, rows } = self.shape(x).clone();
        if rows { self.like(Op::SumRows, x, Shape::shared(dims)) } else { x }
    }

    /// log Σ exp(x) along `axis`, which stays with size one.
    ///
    /// # Errors
    ///
    /// If there is no such axis.
    pub fn log_sum_exp(&mut self, x: NodeId, axis: usize) -> Result<NodeId> {
        let mut shape = self.shape(x).clone();
        *axis_mut(&mut shape, axis)? = 1;
        Ok(self.like(Op::LogSumExp(axis), x, shape))
    }

    /// exp(x) / Σ exp(x) along `axis`.
    ///
    /// # Errors
    ///
    /// If there is no such axis.
    pub fn softmax(&mut self, x: NodeId, axis: usize) -> Result<NodeId> {
        let mut shape = self.shape(x).clone();
        axis_mut(&mut shape, axis)?;
        Ok(self.like(Op::Softmax(axis), x, shape))
    }

    /// x − log Σ exp(x) along `axis`.
    ///
    /// # Errors
    ///
    /// If there is no such axis.
    pub fn log_softmax(&mut self, x: NodeId, axis: usize) -> Result<NodeId> {
        let mut shape = self.shape(x).clone();
        axis_mut(&mut shape, axis)?;
        Ok(self.like(Op::LogSoftmax(axis), x, shape))
    }
}

/// The size of an axis.
pub(super) fn axis_mut(shape: &mut Shape, axis: usize) -> Result<&mut usize> {
    let dims = shape.dims.clone();
    shape.dims.get_mut(axis).ok_or_else(|| Error::shape("an axis", format!("{axis} of {dims:?}")))
}
