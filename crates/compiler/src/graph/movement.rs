//! The same elements at other places.

use super::{Graph, NodeId, Op, Shape, Stretch, broadcast};
use crate::error::{Error, Result};

impl Graph {
    /// The same elements under other dimensions.
    ///
    /// # Errors
    ///
    /// If the sizes differ.
    pub fn reshape(&mut self, x: NodeId, dims: impl Into<Vec<usize>>) -> Result<NodeId> {
        let dims = dims.into();
        let Shape { dims: from, rows } = self.shape(x).clone();
        if dims == from {
            return Ok(x);
        }
        if from.iter().product::<usize>() != dims.iter().product::<usize>() {
            return Err(Error::shape("a reshape", format!("{from:?} to {dims:?}")));
        }
        Ok(self.like(Op::Reshape, x, Shape { dims, rows }))
    }

    /// Axes in another order.
    ///
    /// # Errors
    ///
    /// If `axes` is not a permutation.
    pub fn permute(&mut self, x: NodeId, axes: &[usize]) -> Result<NodeId> {
        let Shape { dims, rows } = self.shape(x).clone();
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..dims.len()) {
            return Err(Error::shape("a permutation", format!("{axes:?} of {dims:?}")));
        }
        let dims = axes.iter().map(|axis| dims[*axis]).collect();
        Ok(self.like(Op::Permute(axes.to_vec()), x, Shape { dims, rows }))
    }

    /// The last two axes swapped.
    ///
    /// # Errors
    ///
    /// If there are fewer than two.
    pub fn transpose(&mut self, x: NodeId) -> Result<NodeId> {
        let rank = self.shape(x).rank();
        if rank < 2 {
            return Err(Error::shape("a transpose", format!("rank {rank}")));
        }
        let mut axes: Vec<usize> = (0..rank).collect();
        axes.swap(rank - 1, rank - 2);
        self.permute(x, &axes)
    }

    /// A part of every axis.
    ///
    /// # Errors
    ///
    /// If a stretch leaves its axis.
    pub fn slice(&mut self, x: NodeId, stretches: Vec<Stretch>) -> Result<NodeId> {
        let Shape { dims, rows } = self.shape(x).clone();
        check_stretches(&stretches, &dims)?;
        if stretches.iter().zip(&dims).all(|(stretch, size)| *stretch == Stretch::all(*size)) {
            return Ok(x);
        }
        let dims = stretches.iter().map(|stretch| stretch.length).collect();
        Ok(self.like(Op::Slice(stretches), x, Shape { dims, rows }))
    }

    /// Zeros of `dims` with x at these places.
    ///
    /// # Errors
    ///
    /// If a stretch leaves its axis or is not as long as that of x.
    pub fn unslice(&mut self, x: NodeId, stretches: Vec<Stretch>, dims: impl Into<Vec<usize>>) -> Result<NodeId> {
        let dims = dims.into();
        let Shape { dims: from, rows } = self.shape(x).clone();
        check_stretches(&stretches, &dims)?;
        if !stretches.iter().map(|stretch| stretch.length).eq(from.iter().copied()) {
            return Err(Error::shape("the adjoint of a slice", format!("{from:?} at {stretches:?}")));
        }
        Ok(self.like(Op::Unslice(stretches), x, Shape { dims, rows }))
    }

    /// Dimensions of size one repeated, new ones added in front.
    ///
    /// # Errors
    ///
    /// If a dimension other than one would change.
    pub fn expand(&mut self, x: NodeId, dims: impl Into<Vec<usize>>) -> Result<NodeId> {
        let dims = dims.into();
        let Shape { dims: from, rows } = self.shape(x).clone();
        if from == dims {
            return Ok(x);
        }
        if broadcast(&from, &dims).as_ref() != Some(&dims) {
            return Err(Error::shape("an expansion", format!("{from:?} to {dims:?}")));
        }
        Ok(self.like(Op::Expand, x, Shape { dims, rows }))
    }

    /// One after another along `axis`.
    ///
    /// # Errors
    ///
    /// If the other dimensions differ.
    pub fn cat(&mut self, parts: &[NodeId], axis: usize) -> Result<NodeId> {
        let Some(first) = parts.first() else { return Err(Error::shape("a concatenation", "of nothing".into())) };
        if parts.len() == 1 {
            return Ok(*first);
        }
        let mut dims = self.shape(*first).dims.clone();
        let rows = parts.iter().any(|part| self.shape(*part).rows);
        let mut length = 0;
        for part in parts {
            let other = &self.shape(*part).dims;
            let fits = other.len() == dims.len()
                && axis < dims.len()
                && other.iter().zip(&dims).enumerate().all(|(i, (a, b))| i == axis || a == b);
            if !fits {
                return Err(Error::shape("a concatenation", format!("{dims:?} and {other:?} along axis {axis}")));
            }
            length += other[axis];
        }
        dims[axis] = length;
        Ok(self.add(Op::Cat(axis), parts.to_vec(), Shape { dims, rows }, self.node(*first).kind))
    }
}

fn check_stretches(stretches: &[Stretch], dims: &[usize]) -> Result<()> {
    let inside = |(stretch, size): (&Stretch, &usize)| stretch.indices().all(|index| index < *size);
    if stretches.len() == dims.len() && stretches.iter().zip(dims).all(inside) {
        Ok(())
    } else {
        Err(Error::shape("a slice", format!("{stretches:?} of {dims:?}")))
    }
}
