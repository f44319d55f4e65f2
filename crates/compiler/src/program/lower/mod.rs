//! Lowering of nodes to instructions.
//!
//! A node is lowered when its value is needed, so that a node that is fused into its user has no instruction of its
//! own. Movement of axes results in a view without an instruction, unless strides cannot represent it.

mod demand;
mod index;
mod map;
mod matrices;
mod movement;
mod output;
mod product;
mod reduce;
mod scan;
mod selected;
mod total;

use super::instruction::{Function, Instruction, MatrixFunction, Source};
use super::stage::Stage;
use super::view::{BufferId, View, plan_loop};
use crate::error::Result;
use crate::graph::{Graph, Kind, NodeId, Op};

pub(crate) use output::{Gradient, RowValue, Term};
pub(crate) use total::{Summand, Summed, Total};

/// The minimum width at which rows of data or parameters are read in place. Narrower rows are transposed, so that their
/// products vectorize over the observations.
const IN_PLACE_WIDTH: usize = 8;

/// The size of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buffer {
    /// The numbers per observation, or in total.
    pub(crate) features: usize,
    /// True if each observation of a tile has its own numbers.
    pub(crate) rows: bool,
}

/// The location of a value, or the number that all its elements are equal to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    View(View),
}

/// The state of the lowering of a graph.
#[derive(Debug)]
pub(crate) struct Lowering<'g> {
    graph: &'g Graph,
    stages: &'g [Stage],
    /// The values by node index; `None` for nodes that are not lowered.
    values: Vec<Option<Value>>,
    /// True while a node is being lowered. Its operands must be lowered already.
    is_lowering: bool,
    pub(crate) native: Vec<Buffer>,
    pub(crate) wide: Vec<Buffer>,
    pub(crate) before: Vec<Instruction>,
    pub(crate) tile: Vec<Instruction>,
    pub(crate) after: Vec<Instruction>,
    /// The shared buffers that the tiles add to. They are cleared before the first tile.
    pub(crate) accumulators: Vec<BufferId>,
}

impl<'g> Lowering<'g> {
    pub(crate) fn new(graph: &'g Graph, stages: &'g [Stage]) -> Self {
        Self {
            graph,
            stages,
            values: vec![None; graph.nodes().len()],
            is_lowering: false,
            native: vec![],
            wide: vec![],
            before: vec![],
            tile: vec![],
            after: vec![],
            accumulators: vec![],
        }
    }

    /// Returns the value of a node, and lowers it if necessary.
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
                let out = self.buffer_for(id);
                self.before.push(Instruction::LoadParameter { leaf: *leaf, out });
                Ok(self.whole(out, id))
            }
            (Op::Constant(constant), _) => {
                let out = self.buffer_for(id);
                self.before.push(Instruction::LoadConstant { constant: *constant, out });
                Ok(self.whole(out, id))
            }
            (Op::Data(leaf), _) => {
                let out = self.buffer_for(id);
                self.tile.push(Instruction::LoadData { leaf: *leaf, width: node.shape.size(), out });
                Ok(self.whole(out, id))
            }
            (Op::Weight, _) => {
                let out = self.buffer_for(id);
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
            (Op::Unslice(slices), [x]) => self.unslice(id, *x, slices),
            (Op::Cat(axis), parts) => self.cat(id, parts, *axis),
            (Op::Reduce(op, axis), [x]) => self.reduce(id, *x, *op, *axis),
            (Op::CumSum { axis, reverse }, [x]) => self.cumsum(id, *x, *axis, *reverse),
            (Op::SumRows, [x]) => self.sum_rows(id, *x),
            (Op::Matmul, [a, b]) => self.matmul(id, *a, *b),
            (Op::Cholesky, [x]) => self.matrix_function(id, MatrixFunction::Cholesky, *x, *x),
            (Op::CholeskyAdjoint, [factor, adjoint]) => {
                self.matrix_function(id, MatrixFunction::CholeskyAdjoint, *factor, *adjoint)
            }
            (Op::SolveLower { transposed: false }, [factor, rhs]) => {
                self.matrix_function(id, MatrixFunction::SolveLower, *factor, *rhs)
            }
            (Op::SolveLower { transposed: true }, [factor, rhs]) => {
                self.matrix_function(id, MatrixFunction::SolveLowerTransposed, *factor, *rhs)
            }
            (Op::Select(axis), [source, at]) => self.select(id, *source, *at, *axis),
            (Op::SelectAdjoint { axis, .. }, [values, at]) => self.select_adjoint(id, *values, *at, *axis),
            (Op::Gather(axis), [source, at]) => self.gather(id, *source, *at, *axis),
            (Op::GatherAdjoint { axis, .. }, [values, at]) => self.gather_adjoint(id, *values, *at, *axis),
            (Op::Scan(recurrence), inputs) => self.scan(id, recurrence, inputs),
            (op, _) => Err(crate::Error::Unsupported { operation: format!("{op:?}") }),
        }
    }

    /// Returns the value of a node in a buffer, even if all its elements are equal.
    pub(crate) fn view(&mut self, id: NodeId) -> Result<View> {
        match self.value(id)? {
            Value::View(view) => Ok(view),
            Value::Number(number) => {
                let node = self.graph.node(id);
                let out = self.buffer_for(id);
                let over = plan_loop(&node.shape.dims, node.shape.rows, &[]);
                let operands = vec![Source::Number(number)];
                self.emit(id, Instruction::Map { function: Function::Copy, operands, over, out });
                let value = self.whole(out, id);
                self.values[id.index()] = Some(value);
                Ok(View::whole(out, node.shape.rows, &node.shape.dims))
            }
        }
    }

    /// Returns the value of a node in a buffer with contiguous elements.
    pub(crate) fn contiguous(&mut self, id: NodeId) -> Result<View> {
        let view = self.view(id)?;
        if view.is_contiguous() {
            return Ok(view);
        }
        let copied = self.copy(id, &view);
        self.values[id.index()] = Some(Value::View(copied.clone()));
        Ok(copied)
    }

    /// Copies `view` to a contiguous buffer when node `id` is computed.
    fn copy(&mut self, id: NodeId, view: &View) -> View {
        let out = self.new_buffer(matches!(view.buffer, BufferId::Wide(_)), view.size(), view.rows);
        let over = plan_loop(&view.dims, view.rows, &[(view, view.broadcast_strides(&view.dims))]);
        let operands = vec![Source::Buffer(view.buffer)];
        self.emit(id, Instruction::Map { function: Function::Copy, operands, over, out });
        View::whole(out, view.rows, &view.dims)
    }

    /// Allocates a buffer for the value of a node.
    fn buffer_for(&mut self, id: NodeId) -> BufferId {
        let node = self.graph.node(id);
        self.new_buffer(node.kind == Kind::Int, node.shape.size(), node.shape.rows)
    }

    fn new_buffer(&mut self, wide: bool, features: usize, rows: bool) -> BufferId {
        let buffers = if wide { &mut self.wide } else { &mut self.native };
        buffers.push(Buffer { features, rows });
        let number = buffers.len() - 1;
        if wide { BufferId::Wide(number) } else { BufferId::Native(number) }
    }

    fn whole(&self, buffer: BufferId, id: NodeId) -> Value {
        let shape = self.graph.shape(id);
        Value::View(View::whole(buffer, shape.rows, &shape.dims))
    }

    /// Appends an instruction to the stage of node `id`.
    fn emit(&mut self, id: NodeId, instruction: Instruction) {
        match self.stages[id.index()] {
            Stage::Before => self.before.push(instruction),
            Stage::Tile => self.tile.push(instruction),
            Stage::After => self.after.push(instruction),
        }
    }

    /// Allocates a shared buffer for the value of node `id`, which the tiles add to.
    fn accumulator(&mut self, id: NodeId) -> BufferId {
        let out = self.buffer_for(id);
        self.accumulators.push(out);
        out
    }
}
