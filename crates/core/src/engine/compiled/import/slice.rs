//! Parts of tensors, and tensors with a part replaced.

use burn_ir::{FlipOpIr, SliceAssignOpIr, SliceOpIr, TensorIr};
use burn_tensor::Slice;
use sgmcmc_compiler::graph::{NodeId, Stretch};

use super::{Importer, Result};
use crate::engine::compiled::capture::is_whole;

impl Importer<'_> {
    pub(super) fn sliced(&mut self, ir: &SliceOpIr) -> Result<()> {
        let mut stretches = self.whole(&ir.tensor);
        for (axis, stretch) in self.parts(&ir.tensor, &ir.ranges)? {
            stretches[axis] = stretch;
        }
        let node = self.node(&ir.tensor)?;
        let node = self.graph.slice(node, stretches)?;
        self.set(&ir.out, node)
    }

    pub(super) fn flipped(&mut self, ir: &FlipOpIr) -> Result<()> {
        let extent = self.extent(&ir.input);
        let mut stretches = self.whole(&ir.input);
        for axis in &ir.axes {
            self.not_rows(&extent, *axis)?;
            let length = extent.full[*axis];
            stretches[extent.axis(*axis)] = Stretch { start: length.saturating_sub(1), length, step: -1 };
        }
        let node = self.node(&ir.input)?;
        let node = self.graph.slice(node, stretches)?;
        self.set(&ir.out, node)
    }

    pub(super) fn slice_assigned(&mut self, ir: &SliceAssignOpIr) -> Result<()> {
        let parts = self.parts(&ir.tensor, &ir.ranges)?;
        if parts.iter().any(|(_, part)| part.step != 1) {
            return Err(self.unsupported());
        }
        if self.extent(&ir.tensor).row != self.extent(&ir.value).row {
            return Err(self.unsupported());
        }
        let (tensor, value) = (self.node(&ir.tensor)?, self.node(&ir.value)?);
        let node = self.replaced(tensor, value, &parts)?;
        self.set(&ir.out, node)
    }

    /// `tensor` with `value` in these parts: along one axis after the other, what is before, the part, what is after.
    fn replaced(&mut self, tensor: NodeId, value: NodeId, parts: &[(usize, Stretch)]) -> Result<NodeId> {
        let Some(((axis, part), rest)) = parts.split_first() else { return Ok(value) };
        let dims = self.graph.shape(tensor).dims.clone();
        let end = part.start + part.length;
        let mut pieces = vec![];
        for (start, length) in [(0, part.start), (part.start, part.length), (end, dims[*axis] - end)] {
            let mut stretches: Vec<Stretch> = dims.iter().map(|size| Stretch::all(*size)).collect();
            stretches[*axis] = Stretch { start, length, step: 1 };
            pieces.push(self.graph.slice(tensor, stretches)?);
        }
        pieces[1] = self.replaced(pieces[1], value, rest)?;
        pieces.retain(|piece| self.graph.shape(*piece).dims[*axis] > 0);
        Ok(self.graph.cat(&pieces, *axis)?)
    }

    /// All of every axis of the node of `tensor`.
    fn whole(&self, tensor: &TensorIr) -> Vec<Stretch> {
        self.extent(tensor).own().into_iter().map(Stretch::all).collect()
    }

    /// The ranges that are not all of their axis, by the axis of the node.
    fn parts(&self, tensor: &TensorIr, ranges: &[Slice]) -> Result<Vec<(usize, Stretch)>> {
        let extent = self.extent(tensor);
        let mut parts = vec![];
        for (axis, range) in ranges.iter().enumerate() {
            if !is_whole(range, tensor.shape[axis]) {
                self.not_rows(&extent, axis)?;
                parts.push((extent.axis(axis), stretch(range, extent.full[axis])));
            }
        }
        Ok(parts)
    }
}

/// A range of an axis of this size. With a negative step it starts at its last element.
fn stretch(range: &Slice, size: usize) -> Stretch {
    let ends = range.to_range(size);
    let length = range.output_size(size);
    let start = if range.step > 0 { ends.start } else { ends.end.saturating_sub(1) };
    Stretch { start, length, step: range.step }
}
