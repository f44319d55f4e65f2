//! From nodes to instructions.
//!
//! A node is lowered when something needs its value, so what is fused into its user is never computed by itself. Movement of
//! axes gives a view and no instruction, unless strides cannot say it.

mod demand;
mod index;
mod map;
mod movement;
mod output;
mod product;
mod reduce;
mod selected;
mod total;

use super::instruction::{Function, Instruction, Source};
use super::stage::Stage;
use super::view::{Store, View, plan_loop};
use crate::error::Result;
use crate::graph::{Graph, Kind, NodeId, Op};

pub(crate) use output::{Gradient, RowValue, Term};
pub(crate) use total::{Summand, Summed, Total};

/// Rows, of data or of parameters, with fewer numbers are not read where they lie but turned: their products vectorise over the observations.
const IN_PLACE: usize = 8;

/// What is known of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buffer {
    /// Numbers per observation, or in all.
    pub(crate) features: usize,
    /// Whether each observation of a tile has its own.
    pub(crate) rows: bool,
}

/// A value where it lies, or the number it has everywhere.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    View(View),
}

/// Instructions under construction.
#[derive(Debug)]
pub(crate) struct Lowering<'g> {
    graph: &'g Graph,
    stages: &'g [Stage],
    /// By the index of the node; none where nothing needed it.
    values: Vec<Option<Value>>,
    /// Whether a node is being lowered, which must not need others to be.
    busy: bool,
    pub(crate) native: Vec<Buffer>,
    pub(crate) wide: Vec<Buffer>,
    pub(crate) before: Vec<Instruction>,
    pub(crate) tile: Vec<Instruction>,
    pub(crate) after: Vec<Instruction>,
    /// Shared buffers the tiles add to: cleared before the first.
    pub(crate) accumulators: Vec<Store>,
}

impl<'g> Lowering<'g> {
    pub(crate) fn new(graph: &'g Graph, stages: &'g [Stage]) -> Self {
        Self {
            graph,
            stages,
            values: vec![None; graph.nodes().len()],
            busy: false,
            native: vec![],
            wide: vec![],
            before: vec![],
            tile: vec![],
            after: vec![],
            accumulators: vec![],
        }
    }

    /// The value of a node, computed if it was not yet.
    pub(crate) fn value(&mut self, id: NodeId) -> Result<Value> {
        if self.values[id.index()].is_none() {
            self.demand(id)?;
        }
        self.values[id.index()]
            .clone()
            .ok_or_else(|| crate::Error::Unsupported { operation: format!("{:?}", self.graph.node(id).op) })
    }

    fn lower(&mut self, id: NodeId) -> Result<Value> {
        let node = self.graph.node(id);
        let inputs = node.inputs.as_slice();
        match (&node.op, inputs) {
            (Op::Full(number), _) => Ok(Value::Number(number.0)),
            (Op::Parameter(leaf), _) => {
                let out = self.fresh(id);
                self.before.push(Instruction::LoadParameter { leaf: *leaf, out });
                Ok(self.whole(out, id))
            }
            (Op::Constant(constant), _) => {
                let out = self.fresh(id);
                self.before.push(Instruction::LoadConstant { constant: *constant, out });
                Ok(self.whole(out, id))
            }
            (Op::Data(leaf), _) => {
                let out = self.fresh(id);
                self.tile.push(Instruction::LoadData { leaf: *leaf, width: node.shape.size(), out });
                Ok(self.whole(out, id))
            }
            (Op::Weight, _) => {
                let out = self.fresh(id);
                self.tile.push(Instruction::LoadWeights { out });
                Ok(self.whole(out, id))
            }
            (Op::Unary(op), _) => self.map(id, Function::Unary(*op), inputs),
            (Op::Binary(op), _) => self.map(id, Function::Binary(*op), inputs),
            (Op::Compare(op), _) => self.map(id, Function::Compare(*op), inputs),
            (Op::Logic(op), _) => self.map(id, Function::Logic(*op), inputs),
            (Op::Where, _) => self.map(id, Function::Where, inputs),
            (Op::Cast, [x]) => self.cast(id, *x),
            (Op::Reshape | Op::Permute(_) | Op::Slice(_) | Op::Expand, [x]) => self.movement(id, *x),
            (Op::Unslice(stretches), [x]) => self.unslice(id, *x, stretches),
            (Op::Cat(axis), parts) => self.cat(id, parts, *axis),
            (Op::Reduce(op, axis), [x]) => self.reduce(id, *x, *op, *axis),
            (Op::CumSum { axis, reverse }, [x]) => self.cumsum(id, *x, *axis, *reverse),
            (Op::SumRows, [x]) => self.sum_rows(id, *x),
            (Op::Matmul, [a, b]) => self.matmul(id, *a, *b),
            (Op::Select(axis), [source, at]) => self.select(id, *source, *at, *axis),
            (Op::SelectAdjoint { axis, length }, [values, at]) => {
                self.select_adjoint(id, *values, *at, (*axis, *length))
            }
            (Op::Gather(axis), [source, at]) => self.gather(id, *source, *at, *axis),
            (Op::GatherAdjoint { axis, .. }, [values, at]) => self.gather_adjoint(id, *values, *at, *axis),
            (op, _) => Err(crate::Error::Unsupported { operation: format!("{op:?}") }),
        }
    }

    /// The value of a node in a buffer, even if it is the same number everywhere.
    pub(crate) fn view(&mut self, id: NodeId) -> Result<View> {
        match self.value(id)? {
            Value::View(view) => Ok(view),
            Value::Number(number) => {
                let node = self.graph.node(id);
                let out = self.fresh(id);
                let over = plan_loop(&node.shape.dims, node.shape.rows, &[]);
                let operands = vec![Source::Number(number)];
                self.emit(id, Instruction::Map { function: Function::Copy, operands, over, out });
                let value = self.whole(out, id);
                self.values[id.index()] = Some(value);
                Ok(View::whole(out, node.shape.rows, &node.shape.dims))
            }
        }
    }

    /// As [`view`](Self::view), with the elements one after another.
    pub(crate) fn contiguous(&mut self, id: NodeId) -> Result<View> {
        let view = self.view(id)?;
        if view.is_contiguous() {
            return Ok(view);
        }
        let copied = self.copy(id, &view);
        self.values[id.index()] = Some(Value::View(copied.clone()));
        Ok(copied)
    }

    /// A contiguous copy of `view`, made when node `id` is computed.
    fn copy(&mut self, id: NodeId, view: &View) -> View {
        let out = self.buffer(matches!(view.store, Store::Wide(_)), view.size(), view.rows);
        let over = plan_loop(&view.dims, view.rows, &[(view, view.broadcast_strides(&view.dims))]);
        let operands = vec![Source::Store(view.store)];
        self.emit(id, Instruction::Map { function: Function::Copy, operands, over, out });
        View::whole(out, view.rows, &view.dims)
    }

    /// A buffer for the value of a node.
    fn fresh(&mut self, id: NodeId) -> Store {
        let node = self.graph.node(id);
        self.buffer(node.kind == Kind::Int, node.shape.size(), node.shape.rows)
    }

    fn buffer(&mut self, wide: bool, features: usize, rows: bool) -> Store {
        let buffers = if wide { &mut self.wide } else { &mut self.native };
        buffers.push(Buffer { features, rows });
        let number = buffers.len() - 1;
        if wide { Store::Wide(number) } else { Store::Native(number) }
    }

    fn whole(&self, store: Store, id: NodeId) -> Value {
        let shape = self.graph.shape(id);
        Value::View(View::whole(store, shape.rows, &shape.dims))
    }

    /// Adds an instruction where node `id` is computed.
    fn emit(&mut self, id: NodeId, instruction: Instruction) {
        match self.stages[id.index()] {
            Stage::Before => self.before.push(instruction),
            Stage::Tile => self.tile.push(instruction),
            Stage::After => self.after.push(instruction),
        }
    }

    /// A shared buffer for the value of node `id`, to which the tiles add.
    fn accumulator(&mut self, id: NodeId) -> Store {
        let out = self.fresh(id);
        self.accumulators.push(out);
        out
    }
}
