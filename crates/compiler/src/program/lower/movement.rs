//! Views, and what strides cannot say.

use super::{Lowering, Value};
use crate::error::Result;
use crate::graph::{NodeId, Op, Stretch};
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
            Op::Slice(stretches) => view.slice(stretches),
            Op::Expand => view.expand(dims),
            _ => match view.reshape(dims) {
                Some(view) => view,
                None => {
                    let copied = self.copy(id, &view);
                    View::whole(copied.store, copied.rows, dims)
                }
            },
        }))
    }

    pub(super) fn unslice(&mut self, id: NodeId, x: NodeId, stretches: &[Stretch]) -> Result<Value> {
        let shape = self.graph.shape(id).clone();
        let out = self.fresh(id);
        self.emit(id, Instruction::Clear { features: shape.size(), rows: shape.rows, out });
        let region = View::whole(out, shape.rows, &shape.dims).slice(stretches);
        self.place(id, x, &region)?;
        Ok(self.whole(out, id))
    }

    pub(super) fn cat(&mut self, id: NodeId, parts: &[NodeId], axis: usize) -> Result<Value> {
        let shape = self.graph.shape(id).clone();
        let out = self.fresh(id);
        let mut start = 0;
        for part in parts {
            let length = self.graph.shape(*part).dims[axis];
            let mut stretches: Vec<Stretch> = shape.dims.iter().map(|size| Stretch::all(*size)).collect();
            stretches[axis] = Stretch { start, length, step: 1 };
            let region = View::whole(out, shape.rows, &shape.dims).slice(&stretches);
            self.place(id, *part, &region)?;
            start += length;
        }
        Ok(self.whole(out, id))
    }

    /// Writes the value of `x` into `region`.
    fn place(&mut self, id: NodeId, x: NodeId, region: &View) -> Result<()> {
        let value = self.value(x)?;
        let strides = region.broadcast_strides(&region.dims);
        let (from, over) = match &value {
            Value::Number(number) => {
                (Source::Number(*number), plan_loop(&region.dims, region.rows, &[(region, strides)]))
            }
            Value::View(view) => {
                let operands = [(region, strides), (view, view.broadcast_strides(&region.dims))];
                (Source::Store(view.store), plan_loop(&region.dims, region.rows, &operands))
            }
        };
        self.emit(id, Instruction::Place { from, over, out: region.store });
        Ok(())
    }
}
