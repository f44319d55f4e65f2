//! Matrix products.

use super::{Graph, Kind, NodeId, Op, Shape, broadcast};
use crate::error::{Error, Result};

impl Graph {
    /// Adds the matrix product of the last two axes.
    ///
    /// # Errors
    ///
    /// Returns an error if the shapes are incompatible.
    pub fn matmul(&mut self, a: NodeId, b: NodeId) -> Result<NodeId> {
        let (left, right) = (self.shape(a).clone(), self.shape(b).clone());
        let wrong = || Error::shape("a matrix product", format!("{:?} by {:?}", left.dims, right.dims));
        let ([outer @ .., m, k], [other @ .., l, n]) = (left.dims.as_slice(), right.dims.as_slice()) else {
            return Err(wrong());
        };
        let mut dims = broadcast(outer, other).filter(|_| k == l).ok_or_else(wrong)?;
        dims.extend([*m, *n]);
        let shape = Shape { dims, rows: left.rows || right.rows };
        Ok(self.insert(Op::Matmul, vec![a, b], shape, Kind::Float))
    }
}
