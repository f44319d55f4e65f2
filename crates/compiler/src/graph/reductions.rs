//! Reductions along an axis and over the observations.

use super::{Graph, NodeId, Op, ReduceOp, Shape};
use crate::error::{Error, Result};

impl Graph {
    /// Adds a reduction of `axis`, which keeps size one.
    ///
    /// # Errors
    ///
    /// Returns an error if the axis does not exist.
    pub fn reduce(&mut self, op: ReduceOp, x: NodeId, axis: usize) -> Result<NodeId> {
        let mut shape = self.shape(x).clone();
        *axis_mut(&mut shape, axis)? = 1;
        if self.shape(x).dims[axis] == 1 {
            return Ok(x);
        }
        Ok(self.insert_like(Op::Reduce(op, axis), x, shape))
    }

    /// Adds the sum over these axes, which keep size one.
    ///
    /// # Errors
    ///
    /// Returns an error if an axis does not exist.
    pub fn sum(&mut self, x: NodeId, axes: impl IntoIterator<Item = usize>) -> Result<NodeId> {
        axes.into_iter().try_fold(x, |x, axis| self.reduce(ReduceOp::Sum, x, axis))
    }

    /// Adds the cumulative sums along `axis`, starting at its end if `reverse` is true.
    ///
    /// # Errors
    ///
    /// Returns an error if the axis does not exist.
    pub fn cumsum(&mut self, x: NodeId, axis: usize, reverse: bool) -> Result<NodeId> {
        let mut shape = self.shape(x).clone();
        axis_mut(&mut shape, axis)?;
        Ok(self.insert_like(Op::CumSum { axis, reverse }, x, shape))
    }

    /// Adds the sum over all observations. Returns x if it is shared.
    pub fn sum_rows(&mut self, x: NodeId) -> NodeId {
        let Shape { dims, rows } = self.shape(x).clone();
        if rows { self.insert_like(Op::SumRows, x, Shape::shared(dims)) } else { x }
    }

    /// Adds log Σ exp(x) along `axis`, which keeps size one.
    ///
    /// # Errors
    ///
    /// Returns an error if the axis does not exist.
    pub fn log_sum_exp(&mut self, x: NodeId, axis: usize) -> Result<NodeId> {
        let mut shape = self.shape(x).clone();
        *axis_mut(&mut shape, axis)? = 1;
        Ok(self.insert_like(Op::LogSumExp(axis), x, shape))
    }

    /// Adds exp(x) / Σ exp(x) along `axis`.
    ///
    /// # Errors
    ///
    /// Returns an error if the axis does not exist.
    pub fn softmax(&mut self, x: NodeId, axis: usize) -> Result<NodeId> {
        let mut shape = self.shape(x).clone();
        axis_mut(&mut shape, axis)?;
        Ok(self.insert_like(Op::Softmax(axis), x, shape))
    }

    /// Adds x − log Σ exp(x) along `axis`.
    ///
    /// # Errors
    ///
    /// Returns an error if the axis does not exist.
    pub fn log_softmax(&mut self, x: NodeId, axis: usize) -> Result<NodeId> {
        let mut shape = self.shape(x).clone();
        axis_mut(&mut shape, axis)?;
        Ok(self.insert_like(Op::LogSoftmax(axis), x, shape))
    }
}

/// Returns the size of an axis.
pub(super) fn axis_mut(shape: &mut Shape, axis: usize) -> Result<&mut usize> {
    let dims = shape.dims.clone();
    shape.dims.get_mut(axis).ok_or_else(|| Error::shape("an axis", format!("{axis} of {dims:?}")))
}
