//! Selection and gathering by integer indices, and their adjoints.

use super::reductions::axis_mut;
use super::{Graph, Kind, NodeId, Op, Shape};
use crate::error::{Error, Result};

impl Graph {
    /// Replaces axis `axis` of `source` by the axes of `index`, and selects the elements at these indices.
    ///
    /// # Errors
    ///
    /// Returns an error if the axis does not exist or each observation has its own source.
    pub fn select(&mut self, source: NodeId, index: NodeId, axis: usize) -> Result<NodeId> {
        let (from, at) = (self.shape(source).clone(), self.shape(index).clone());
        if from.rows || axis >= from.rank() {
            return Err(Error::shape("a selection", format!("axis {axis} of {from:?}")));
        }
        let mut dims = from.dims[..axis].to_vec();
        dims.extend(&at.dims);
        dims.extend(&from.dims[axis + 1..]);
        let kind = self.node(source).kind;
        Ok(self.insert(Op::Select(axis), vec![source, index], Shape { dims, rows: at.rows }, kind))
    }

    /// Sums `values` at `index` along an axis of length `length`. This is the adjoint of [`select`](Self::select).
    ///
    /// # Errors
    ///
    /// Returns an error if the axes of `values` from `axis` on are not those of `index`.
    pub fn select_adjoint(&mut self, values: NodeId, index: NodeId, axis: usize, length: usize) -> Result<NodeId> {
        let (from, at) = (self.shape(values).clone(), self.shape(index).clone());
        let end = axis + at.rank();
        if from.dims.get(axis..end) != Some(at.dims.as_slice()) {
            return Err(Error::shape("the adjoint of a selection", format!("{from:?} at {at:?}, axis {axis}")));
        }
        let mut dims = from.dims[..axis].to_vec();
        dims.push(length);
        dims.extend(&from.dims[end..]);
        let shape = Shape { dims, rows: from.rows || at.rows };
        Ok(self.insert(Op::SelectAdjoint { axis, length }, vec![values, index], shape, Kind::Float))
    }

    /// Gathers along `axis`: element i of the result is the element of `source` at `index[i]`.
    ///
    /// # Errors
    ///
    /// Returns an error if the other dimensions differ.
    pub fn gather(&mut self, source: NodeId, index: NodeId, axis: usize) -> Result<NodeId> {
        let (from, at) = (self.shape(source).clone(), self.shape(index).clone());
        check_gather(&from.dims, &at.dims, axis)?;
        let kind = self.node(source).kind;
        Ok(self.insert(
            Op::Gather(axis),
            vec![source, index],
            Shape { dims: at.dims, rows: from.rows || at.rows },
            kind,
        ))
    }

    /// Sums `values` at `index` along an axis of length `length`. This is the adjoint of [`gather`](Self::gather).
    ///
    /// # Errors
    ///
    /// Returns an error if the dimensions of `values` and `index` differ.
    pub fn gather_adjoint(&mut self, values: NodeId, index: NodeId, axis: usize, length: usize) -> Result<NodeId> {
        let (from, at) = (self.shape(values).clone(), self.shape(index).clone());
        if from.dims != at.dims {
            return Err(Error::shape("the adjoint of a gather", format!("{:?} at {:?}", from.dims, at.dims)));
        }
        let mut shape = Shape { dims: from.dims, rows: from.rows || at.rows };
        *axis_mut(&mut shape, axis)? = length;
        Ok(self.insert(Op::GatherAdjoint { axis, length }, vec![values, index], shape, Kind::Float))
    }
}

fn check_gather(dims: &[usize], index: &[usize], axis: usize) -> Result<()> {
    let fits = dims.len() == index.len()
        && axis < dims.len()
        && dims.iter().zip(index).enumerate().all(|(i, (a, b))| i == axis || a == b);
    if fits { Ok(()) } else { Err(Error::shape("a gather", format!("{index:?} of {dims:?} along axis {axis}"))) }
}
