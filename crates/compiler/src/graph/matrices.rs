//! Cholesky factors and triangular systems.

use super::{Graph, Kind, NodeId, Op, Shape, broadcast};
use crate::error::{Error, Result};

impl Graph {
    /// Adds the Cholesky factor of the matrices of the last two axes.
    ///
    /// # Errors
    ///
    /// Returns an error if the matrices are not square.
    pub fn cholesky(&mut self, x: NodeId) -> Result<NodeId> {
        let shape = self.shape(x).clone();
        square(&shape.dims)?;
        Ok(self.insert_like(Op::Cholesky, x, shape))
    }

    /// Adds the adjoint of matrices from their Cholesky factors and the adjoints of the factors. This is the adjoint of
    /// [`cholesky`](Self::cholesky).
    ///
    /// # Errors
    ///
    /// Returns an error if the dimensions differ.
    pub fn cholesky_adjoint(&mut self, factor: NodeId, adjoint: NodeId) -> Result<NodeId> {
        let (of, from) = (self.shape(factor).clone(), self.shape(adjoint).clone());
        square(&of.dims)?;
        if of.dims != from.dims {
            return Err(Error::shape("the adjoint of a Cholesky factor", format!("{:?} of {:?}", from.dims, of.dims)));
        }
        let shape = Shape { dims: of.dims, rows: of.rows || from.rows };
        Ok(self.insert(Op::CholeskyAdjoint, vec![factor, adjoint], shape, Kind::Float))
    }

    /// Adds the solution X of L X = B, or of Lᵀ X = B if `transposed` is true, where L is the lower triangle of
    /// `factor`.
    ///
    /// # Errors
    ///
    /// Returns an error if the shapes are incompatible.
    pub fn solve_lower(&mut self, factor: NodeId, rhs: NodeId, transposed: bool) -> Result<NodeId> {
        let (left, right) = (self.shape(factor).clone(), self.shape(rhs).clone());
        let dim = square(&left.dims)?;
        let wrong = || Error::shape("a triangular system", format!("{:?} and {:?}", left.dims, right.dims));
        let ([outer @ .., _, _], [other @ .., rows, columns]) = (left.dims.as_slice(), right.dims.as_slice()) else {
            return Err(wrong());
        };
        let mut dims = broadcast(outer, other).filter(|_| *rows == dim).ok_or_else(wrong)?;
        dims.extend([*rows, *columns]);
        let shape = Shape { dims, rows: left.rows || right.rows };
        Ok(self.insert(Op::SolveLower { transposed }, vec![factor, rhs], shape, Kind::Float))
    }
}

/// Returns the number of rows of square matrices.
fn square(dims: &[usize]) -> Result<usize> {
    match dims {
        [.., rows, columns] if rows == columns => Ok(*rows),
        _ => Err(Error::shape("a square matrix", format!("{dims:?}"))),
    }
}
