//! Operations that move elements: reshaping, slicing, expansion, concatenation.

use super::{AxisSlice, Graph, NodeId, Op, Shape, broadcast};
use crate::error::{Error, Result};

impl Graph {
    /// Changes the dimensions. The elements stay in row-major order.
    ///
    /// # Errors
    ///
    /// Returns an error if the sizes differ.
    pub fn reshape(&mut self, x: NodeId, dims: impl Into<Vec<usize>>) -> Result<NodeId> {
        let dims = dims.into();
        let Shape { dims: from, rows } = self.shape(x).clone();
        if dims == from {
            return Ok(x);
        }
        if from.iter().product::<usize>() != dims.iter().product::<usize>() {
            return Err(Error::shape("a reshape", format!("{from:?} to {dims:?}")));
        }
        Ok(self.insert_like(Op::Reshape, x, Shape { dims, rows }))
    }

    /// Reorders the axes: axis i of the result is axis `axes[i]` of x.
    ///
    /// # Errors
    ///
    /// Returns an error if `axes` is not a permutation.
    pub fn permute(&mut self, x: NodeId, axes: &[usize]) -> Result<NodeId> {
        let Shape { dims, rows } = self.shape(x).clone();
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..dims.len()) {
            return Err(Error::shape("a permutation", format!("{axes:?} of {dims:?}")));
        }
        let dims = axes.iter().map(|axis| dims[*axis]).collect();
        Ok(self.insert_like(Op::Permute(axes.to_vec()), x, Shape { dims, rows }))
    }

    /// Swaps the last two axes.
    ///
    /// # Errors
    ///
    /// Returns an error if there are fewer than two axes.
    pub fn transpose(&mut self, x: NodeId) -> Result<NodeId> {
        let rank = self.shape(x).rank();
        if rank < 2 {
            return Err(Error::shape("a transpose", format!("rank {rank}")));
        }
        let mut axes: Vec<usize> = (0..rank).collect();
        axes.swap(rank - 1, rank - 2);
        self.permute(x, &axes)
    }

    /// Slices every axis.
    ///
    /// # Errors
    ///
    /// Returns an error if a slice exceeds its axis.
    pub fn slice(&mut self, x: NodeId, slices: Vec<AxisSlice>) -> Result<NodeId> {
        let Shape { dims, rows } = self.shape(x).clone();
        check_slices(&slices, &dims)?;
        if slices.iter().zip(&dims).all(|(slice, size)| *slice == AxisSlice::all(*size)) {
            return Ok(x);
        }
        let dims = slices.iter().map(|slice| slice.length).collect();
        Ok(self.insert_like(Op::Slice(slices), x, Shape { dims, rows }))
    }

    /// Adds zeros of dimensions `dims` with x written to the given slices.
    ///
    /// # Errors
    ///
    /// Returns an error if a slice exceeds its axis or its length differs from that of the axis of x.
    pub fn unslice(&mut self, x: NodeId, slices: Vec<AxisSlice>, dims: impl Into<Vec<usize>>) -> Result<NodeId> {
        let dims = dims.into();
        let Shape { dims: from, rows } = self.shape(x).clone();
        check_slices(&slices, &dims)?;
        if !slices.iter().map(|slice| slice.length).eq(from.iter().copied()) {
            return Err(Error::shape("the adjoint of a slice", format!("{from:?} at {slices:?}")));
        }
        Ok(self.insert_like(Op::Unslice(slices), x, Shape { dims, rows }))
    }

    /// Repeats dimensions of size one and adds dimensions in front.
    ///
    /// # Errors
    ///
    /// Returns an error if a dimension other than one would change.
    pub fn expand(&mut self, x: NodeId, dims: impl Into<Vec<usize>>) -> Result<NodeId> {
        let dims = dims.into();
        let Shape { dims: from, rows } = self.shape(x).clone();
        if from == dims {
            return Ok(x);
        }
        if broadcast(&from, &dims).as_ref() != Some(&dims) {
            return Err(Error::shape("an expansion", format!("{from:?} to {dims:?}")));
        }
        Ok(self.insert_like(Op::Expand, x, Shape { dims, rows }))
    }

    /// Concatenates along `axis`.
    ///
    /// # Errors
    ///
    /// Returns an error if the other dimensions differ.
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
        Ok(self.insert(Op::Cat(axis), parts.to_vec(), Shape { dims, rows }, self.node(*first).kind))
    }
}

fn check_slices(slices: &[AxisSlice], dims: &[usize]) -> Result<()> {
    let inside = |(slice, size): (&AxisSlice, &usize)| slice.indices().all(|index| index < *size);
    if slices.len() == dims.len() && slices.iter().zip(dims).all(inside) {
        Ok(())
    } else {
        Err(Error::shape("a slice", format!("{slices:?} of {dims:?}")))
    }
}
