//! Lowering of reductions over axes and over the observations.

use super::{Lowering, Value};
use crate::error::Result;
use crate::graph::{BinaryOp, NodeId, Op, ReduceOp};
use crate::program::instruction::Instruction;
use crate::program::view::{View, plan_loop};

impl Lowering<'_> {
    pub(super) fn reduce(&mut self, id: NodeId, x: NodeId, op: ReduceOp, axis: usize) -> Result<Value> {
        if op == ReduceOp::Sum
            && let Some(rows) = self.selected_rows(id, x)
        {
            return self.dot_selected(id, &rows);
        }
        let view = self.dense(x)?;
        let shape = self.graph.shape(id).clone();
        let out = self.buffer_for(id);
        let (count, step) = (view.dims[axis], view.strides[axis]);
        let over = plan_loop(&shape.dims, shape.rows, &[(&view, without(&view, axis))]);
        self.emit(id, Instruction::Reduce { op, from: view.buffer, over, count, step, out });
        Ok(self.whole(out, id))
    }

    pub(super) fn cumsum(&mut self, id: NodeId, x: NodeId, axis: usize, reverse: bool) -> Result<Value> {
        let view = self.dense(x)?;
        let shape = self.graph.shape(id).clone();
        let out = self.buffer_for(id);
        let result = View::whole(out, shape.rows, &shape.dims);
        let (count, steps) = (shape.dims[axis], [view.strides[axis], result.strides[axis]]);
        let mut dims = shape.dims.clone();
        dims[axis] = 1;
        let operands = [(&view, without(&view, axis)), (&result, without(&result, axis))];
        let over = plan_loop(&dims, shape.rows, &operands);
        self.emit(id, Instruction::CumSum { from: view.buffer, over, count, steps, reverse, out });
        Ok(self.whole(out, id))
    }

    /// Returns a view without repeated elements.
    fn dense(&mut self, x: NodeId) -> Result<View> {
        let view = self.view(x)?;
        let repeats = view.dims.iter().zip(&view.strides).any(|(size, stride)| *size > 1 && *stride == 0);
        if repeats { self.contiguous(x) } else { Ok(view) }
    }

    /// Lowers the sum over the observations. The summand is fused into the sum if that saves a buffer.
    pub(super) fn sum_rows(&mut self, id: NodeId, x: NodeId) -> Result<Value> {
        let node = self.graph.node(x);
        let summed = match (&node.op, node.inputs.as_slice()) {
            (Op::Matmul, [a, b]) => self.contract(id, x, *a, *b)?,
            (Op::SelectAdjoint { axis, .. }, [values, at]) => self.sum_select_adjoint(id, *values, *at, *axis)?,
            (Op::GatherAdjoint { axis, .. }, [values, at]) => self.sum_gather_adjoint(id, *values, *at, *axis)?,
            (Op::Binary(BinaryOp::Mul), [a, b]) => self.sum_product(id, *a, *b)?,
            _ => None,
        };
        if let Some(value) = summed {
            return Ok(value);
        }
        let view = self.view(x)?;
        let out = self.accumulator(id);
        let starts = features(&view, &view.dims);
        self.tile.push(Instruction::SumRows { from: view.buffer, starts, out });
        Ok(self.whole(out, id))
    }

    fn sum_product(&mut self, id: NodeId, a: NodeId, b: NodeId) -> Result<Option<Value>> {
        if !self.graph.shape(a).rows || !self.graph.shape(b).rows {
            return Ok(None);
        }
        let (a, b) = (self.view(a)?, self.view(b)?);
        let dims = &self.graph.shape(id).dims;
        let starts = features(&a, dims).into_iter().zip(features(&b, dims)).map(|(a, b)| [a, b]).collect();
        let out = self.accumulator(id);
        self.tile.push(Instruction::DotRows { a: a.buffer, b: b.buffer, starts, out });
        Ok(Some(self.whole(out, id)))
    }
}

/// Returns the feature of each element of `view`, broadcast to `dims`.
pub(super) fn features(view: &View, dims: &[usize]) -> Vec<usize> {
    let strides = view.broadcast_strides(dims);
    let mut offsets = vec![view.offset];
    for (size, stride) in dims.iter().zip(&strides) {
        offsets = offsets
            .iter()
            .flat_map(|offset| (0..*size as isize).map(move |i| offset.wrapping_add_signed(stride * i)))
            .collect();
    }
    offsets
}

/// Returns the strides of a view with zero for `axis`.
fn without(view: &View, axis: usize) -> Vec<isize> {
    let mut strides = view.broadcast_strides(&view.dims);
    strides[axis] = 0;
    strides
}
