//! Lowering of element-wise operations.

use super::{Lowering, Value};
use crate::error::Result;
use crate::graph::{BinaryOp, Kind, NodeId, UnaryOp};
use crate::program::instruction::{Function, Instruction, Source};
use crate::program::view::{BufferId, LoopPlan, View, plan_loop};

/// The maximum number of elements of a shared value that is read element by element. Larger values are made contiguous
/// first.
const MAX_SCATTERED: usize = 16;

impl Lowering<'_> {
    pub(super) fn map(&mut self, id: NodeId, function: Function, inputs: &[NodeId]) -> Result<Value> {
        if matches!(function, Function::Unary(UnaryOp::Detach)) {
            return self.value(inputs[0]);
        }
        let values = inputs.iter().map(|input| self.value(*input)).collect::<Result<Vec<_>>>()?;
        let node = self.graph.node(id);
        let wide = inputs.iter().any(|input| self.graph.node(*input).kind == Kind::Int);
        let values = values.into_iter().map(|value| self.same_class(id, value, wide)).collect::<Vec<_>>();
        let (over, operands) = self.plan_map(id, values);
        let out = self.new_buffer(wide, node.shape.size(), node.shape.rows);
        self.emit(id, Instruction::Map { function, operands, over, out });
        let value = View::whole(out, node.shape.rows, &node.shape.dims);
        match (wide, node.kind) {
            // The quotient of integers is computed as a float and truncated.
            (true, Kind::Int) if function == Function::Binary(BinaryOp::Div) => {
                let cut = self.new_buffer(true, node.shape.size(), node.shape.rows);
                let over = plan_loop(&value.dims, value.rows, &[(&value, value.strides.clone())]);
                let (function, operands) = (Function::Unary(UnaryOp::Trunc), vec![Source::Buffer(out)]);
                self.emit(id, Instruction::Map { function, operands, over, out: cut });
                Ok(Value::View(View { buffer: cut, ..value }))
            }
            (true, Kind::Int) | (false, _) => Ok(Value::View(value)),
            (true, Kind::Mask | Kind::Float) => Ok(Value::View(self.converted(id, &value))),
        }
    }

    /// Lowers a cast. Integers are stored in other buffers than floats and masks.
    pub(super) fn cast(&mut self, id: NodeId, x: NodeId) -> Result<Value> {
        let (from, to) = (self.graph.node(x).kind, self.graph.node(id).kind);
        let value = self.value(x)?;
        match value {
            Value::Number(number) if to == Kind::Mask => Ok(Value::Number(f64::from(number != 0.0))),
            Value::Number(number) if to == Kind::Int => Ok(Value::Number(number.trunc())),
            Value::View(view) if (from == Kind::Int) != (to == Kind::Int) => {
                let view = if view.is_contiguous() && view.offset == 0 { view } else { self.copy(id, &view) };
                Ok(Value::View(self.converted(id, &view)))
            }
            same => Ok(same),
        }
    }

    /// Converts a mask operand of an integer operation to integers.
    fn same_class(&mut self, id: NodeId, value: Value, wide: bool) -> Value {
        match value {
            Value::View(view) if wide && matches!(view.buffer, BufferId::Native(_)) => {
                let view = if view.is_contiguous() && view.offset == 0 { view } else { self.copy(id, &view) };
                Value::View(self.converted(id, &view))
            }
            same => same,
        }
    }

    /// Converts a contiguous value to the other class of buffers.
    fn converted(&mut self, id: NodeId, view: &View) -> View {
        let out = self.new_buffer(matches!(view.buffer, BufferId::Native(_)), view.size(), view.rows);
        let convert = Instruction::Convert { from: view.buffer, features: view.size(), rows: view.rows, out };
        // A shared value is converted when `id` is computed at the latest.
        self.emit(id, convert);
        View { buffer: out, ..view.clone() }
    }

    fn plan_map(&mut self, id: NodeId, values: Vec<Value>) -> (LoopPlan, Vec<Source>) {
        let shape = self.graph.shape(id).clone();
        let mut views: Vec<Option<View>> = values
            .iter()
            .map(|value| match value {
                Value::View(view) => Some(view.clone()),
                Value::Number(_) => None,
            })
            .collect();
        let plan = |views: &[Option<View>]| {
            let operands: Vec<_> =
                views.iter().flatten().map(|view| (view, view.broadcast_strides(&shape.dims))).collect();
            plan_loop(&shape.dims, shape.rows, &operands)
        };
        let mut over = plan(&views);
        if !shape.rows && over.run == 1 && shape.size() > MAX_SCATTERED {
            for view in views.iter_mut().flatten().filter(|view| !view.is_contiguous()) {
                *view = self.copy(id, view);
            }
            over = plan(&views);
        }
        let operands = values
            .iter()
            .zip(&views)
            .map(|(value, view)| match (value, view) {
                (_, Some(view)) => Source::Buffer(view.buffer),
                (Value::Number(number), None) => Source::Number(*number),
                (Value::View(view), None) => Source::Buffer(view.buffer),
            })
            .collect();
        (over, operands)
    }
}
