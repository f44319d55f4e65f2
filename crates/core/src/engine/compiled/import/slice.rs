//! Slices of tensors, and assignments to slices.

use burn_ir::{FlipOpIr, SliceAssignOpIr, SliceOpIr, TensorIr};
use burn_tensor::Slice;
use sgmcmc_compiler::graph::{AxisSlice, NodeId};

use super::{Importer, Result};
use crate::engine::compiled::capture::is_whole;

impl Importer<'_> {
    /// Imports a slice.
    pub(super) fn sliced(&mut self, ir: &SliceOpIr) -> Result<()> {
        let mut slices = self.full_slices(&ir.tensor);
        for (axis, slice) in self.proper_slices(&ir.tensor, &ir.ranges)? {
            slices[axis] = slice;
        }
        let node = self.node(&ir.tensor)?;
        let node = self.graph.slice(node, slices)?;
        self.set(&ir.out, node)
    }

    /// Imports a reversal of axes.
    pub(super) fn flipped(&mut self, ir: &FlipOpIr) -> Result<()> {
        let extent = self.extent(&ir.input);
        let mut slices = self.full_slices(&ir.input);
        for axis in &ir.axes {
            self.not_rows(&extent, *axis)?;
            let length = extent.full[*axis];
            slices[extent.axis(*axis)] = AxisSlice { start: length.saturating_sub(1), length, step: -1 };
        }
        let node = self.node(&ir.input)?;
        let node = self.graph.slice(node, slices)?;
        self.set(&ir.out, node)
    }

    /// Imports an assignment to a slice.
    pub(super) fn slice_assigned(&mut self, ir: &SliceAssignOpIr) -> Result<()> {
        let slices = self.proper_slices(&ir.tensor, &ir.ranges)?;
        if slices.iter().any(|(_, slice)| slice.step != 1) {
            return Err(self.unsupported());
        }
        if self.extent(&ir.tensor).row != self.extent(&ir.value).row {
            return Err(self.unsupported());
        }
        let (tensor, value) = (self.node(&ir.tensor)?, self.node(&ir.value)?);
        let node = self.replaced(tensor, value, &slices)?;
        self.set(&ir.out, node)
    }

    /// Adds `tensor` with `value` assigned to these slices. For one axis after the other, it concatenates the elements
    /// before the slice, the slice, and the elements after it.
    fn replaced(&mut self, tensor: NodeId, value: NodeId, slices: &[(usize, AxisSlice)]) -> Result<NodeId> {
        let Some(((axis, slice), rest)) = slices.split_first() else { return Ok(value) };
        let dims = self.graph.shape(tensor).dims.clone();
        let end = slice.start + slice.length;
        let mut parts = vec![];
        for (start, length) in [(0, slice.start), (slice.start, slice.length), (end, dims[*axis] - end)] {
            let mut slices: Vec<AxisSlice> = dims.iter().map(|size| AxisSlice::all(*size)).collect();
            slices[*axis] = AxisSlice { start, length, step: 1 };
            parts.push(self.graph.slice(tensor, slices)?);
        }
        parts[1] = self.replaced(parts[1], value, rest)?;
        parts.retain(|part| self.graph.shape(*part).dims[*axis] > 0);
        Ok(self.graph.cat(&parts, *axis)?)
    }

    /// Returns the full slices of all axes of the node of `tensor`.
    fn full_slices(&self, tensor: &TensorIr) -> Vec<AxisSlice> {
        self.extent(tensor).own().into_iter().map(AxisSlice::all).collect()
    }

    /// Returns the slices that do not cover their axis, with the axis of the node.
    fn proper_slices(&self, tensor: &TensorIr, ranges: &[Slice]) -> Result<Vec<(usize, AxisSlice)>> {
        let extent = self.extent(tensor);
        let mut slices = vec![];
        for (axis, range) in ranges.iter().enumerate() {
            if !is_whole(range, tensor.shape[axis]) {
                self.not_rows(&extent, axis)?;
                slices.push((extent.axis(axis), axis_slice(range, extent.full[axis])));
            }
        }
        Ok(slices)
    }
}

/// Converts a range of an axis of this size. A slice with a negative step starts at its last element.
fn axis_slice(range: &Slice, size: usize) -> AxisSlice {
    let ends = range.to_range(size);
    let length = range.output_size(size);
    let start = if range.step > 0 { ends.start } else { ends.end.saturating_sub(1) };
    AxisSlice { start, length, step: range.step }
}
