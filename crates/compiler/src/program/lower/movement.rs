//! Lowering of movement to views, and to copies if strides cannot represent it.

use super::{Lowering, Value};
use crate::error::Result;
use crate::graph::{AxisSlice, NodeId, Op};
use crate::program::instruction::{Instruction, Source};
use crate::program::view::{View, plan_loop};

impl Lowering<'_> {
    pub(super) fn movement(&mut self, id: NodeId, x: NodeId) -> Result<Value> {
        let view = match self.value(x)? {
            Value::Number(number) => return Ok(Value::Number(number)),
            Value::View(view) => view,
        };
        let node = self.graph.node(id);
        let dims = &node.shape.dims;
        Ok(Value::View(match &node.op {
            Op::Permute(axes) => view.permute(axes),
            Op::Slice(slices) => view.slice(slices),
            Op::Expand => view.expand(dims),
            _ => match view.reshape(dims) {
                Some(view) => view,
                None => {
                    let copied = self.copy(id, &view);
                    View::whole(copied.buffer, copied.rows, dims)
                }
            },
        }))
    }

    pub(super) fn unslice(&mut self, id: NodeId, x: NodeId, slices: &[AxisSlice]) -> Result<Value> {
        let shape = self.graph.shape(id).clone();
        let out = self.buffer_for(id);
        self.emit(id, Instruction::Clear { features: shape.size(), rows: shape.rows, out });
        let region = View::whole(out, shape.rows, &shape.dims).slice(slices);
        self.write_region(id, x, &region)?;
        Ok(self.whole(out, id))
    }

    pub(super) fn cat(&mut self, id: NodeId, parts: &[NodeId], axis: usize) -> Result<Value> {
        let shape = self.graph.shape(id).clone();
        let out = self.buffer_for(id);
        let mut start = 0;
        for part in parts {
            let length = self.graph.shape(*part).dims[axis];
            let mut slices: Vec<AxisSlice> = shape.dims.iter().map(|size| AxisSlice::all(*size)).collect();
            slices[axis] = AxisSlice { start, length, step: 1 };
            let region = View::whole(out, shape.rows, &shape.dims).slice(&slices);
            self.write_region(id, *part, &region)?;
            start += length;
        }
        Ok(self.whole(out, id))
    }

    /// Writes the value of `x` to `region`.
    fn write_region(&mut self, id: NodeId, x: NodeId, region: &View) -> Result<()> {
        let value = self.value(x)?;
        let strides = region.broadcast_strides(&region.dims);
        let (from, over) = match &value {
            Value::Number(number) => {
                (Source::Number(*number), plan_loop(&region.dims, region.rows, &[(region, strides)]))
            }
            Value::View(view) => {
                let operands = [(region, strides), (view, view.broadcast_strides(&region.dims))];
                (Source::Buffer(view.buffer), plan_loop(&region.dims, region.rows, &operands))
            }
        };
        self.emit(id, Instruction::WriteRegion { from, over, out: region.buffer });
        Ok(())
    }
}
