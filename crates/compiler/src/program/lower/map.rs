//! Element-wise operations.

use super::{Lowering, Value};
use crate::error::Result;
use crate::graph::{BinaryOp, Kind, NodeId, UnaryOp};
use crate::program::instruction::{Function, Instruction, Source};
use crate::program::view::{Loop, Store, View, plan_loop};

/// Shared values of more numbers than this are copied together before they are read number by number.
const SCATTERED: usize = 16;

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
        let out = self.buffer(wide, node.shape.size(), node.shape.rows);
        self.emit(id, Instruction::Map { function, operands, over, out });
        let value = View::whole(out, node.shape.rows, &node.shape.dims);
        match (wide, node.kind) {
            // Integers are divided as numbers; what is behind the point goes.
            (true, Kind::Int) if function == Function::Binary(BinaryOp::Div) => {
                let cut = self.buffer(true, node.shape.size(), node.shape.rows);
                let over = plan_loop(&value.dims, value.rows, &[(&value, value.strides.clone())]);
                let (function, operands) = (Function::Unary(UnaryOp::Trunc), vec![Source::Store(out)]);
                self.emit(id, Instruction::Map { function, operands, over, out: cut });
                Ok(Value::View(View { store: cut, ..value }))
            }
            (true, Kind::Int) | (false, _) => Ok(Value::View(value)),
            (true, Kind::Mask | Kind::Float) => Ok(Value::View(self.converted(id, &value))),
        }
    }

    /// A value as another kind: integers lie in other buffers than floats and masks.
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

    /// A mask beside integers is made one of them.
    fn same_class(&mut self, id: NodeId, value: Value, wide: bool) -> Value {
        match value {
            Value::View(view) if wide && matches!(view.store, Store::Native(_)) => {
                let view = if view.is_contiguous() && view.offset == 0 { view } else { self.copy(id, &view) };
                Value::View(self.converted(id, &view))
            }
            same => same,
        }
    }

    /// A contiguous value in a buffer of the other class.
    fn converted(&mut self, id: NodeId, view: &View) -> View {
        let out = self.buffer(matches!(view.store, Store::Native(_)), view.size(), view.rows);
        let convert = Instruction::Convert { from: view.store, features: view.size(), rows: view.rows, out };
        // A shared value is converted as early as it is known, which is when `id` is computed at the latest.
        self.emit(id, convert);
        View { store: out, ..view.clone() }
    }

    fn plan_map(&mut self, id: NodeId, values: Vec<Value>) -> (Loop, Vec<Source>) {
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
        if !shape.rows && over.run == 1 && shape.size() > SCATTERED {
            for view in views.iter_mut().flatten().filter(|view| !view.is_contiguous()) {
                *view = self.copy(id, view);
            }
            over = plan(&views);
        }
        let operands = values
            .iter()
            .zip(&views)
            .map(|(value, view)| match (value, view) {
                (_, Some(view)) => Source::Store(view.store),
                (Value::Number(number), None) => Source::Number(*number),
                (Value::View(view), None) => Source::Store(view.store),
            })
            .collect();
        (over, operands)
    }
}
