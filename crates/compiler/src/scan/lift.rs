//! Computation of the nodes of a body for all steps at once.
//!
//! A node of dimensions D that changes from step to step becomes a node of dimensions D × T, where T is the number of
//! steps. The axis of time is the last one, so that a value that is the same in all steps is one number for a whole run.

use crate::error::{Error, Result};
use crate::graph::{AxisSlice, Graph, Node, NodeId, Op};

/// The value of a node of the body for all steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifted {
    pub(crate) node: NodeId,
    /// True if the node has the axis of time, false if the value is the same in all steps.
    pub(crate) varies: bool,
}

/// The state of the conversion of a body.
#[derive(Debug)]
pub(crate) struct Lifter<'a> {
    pub(crate) outer: &'a mut Graph,
    body: &'a Graph,
    steps: usize,
    /// The values by the index of the node of the body.
    values: Vec<Option<Lifted>>,
}

impl<'a> Lifter<'a> {
    pub(crate) fn new(outer: &'a mut Graph, body: &'a Graph, steps: usize) -> Self {
        Self { outer, body, steps, values: vec![None; body.nodes().len()] }
    }

    /// Sets the value of a node of the body.
    pub(crate) fn set(&mut self, id: NodeId, value: Lifted) {
        self.values[id.index()] = Some(value);
    }

    /// Returns the value of a node of the body.
    pub(crate) fn lifted(&mut self, root: NodeId) -> Result<Lifted> {
        let mut needed = vec![false; root.index() + 1];
        needed[root.index()] = true;
        for index in (0..needed.len()).rev() {
            if needed[index] && self.values[index].is_none() {
                self.body.nodes()[index].inputs.iter().for_each(|input| needed[input.index()] = true);
            }
        }
        for (index, node) in self.body.nodes()[..needed.len()].iter().enumerate() {
            if needed[index] && self.values[index].is_none() {
                self.values[index] = Some(self.lift(node)?);
            }
        }
        self.values[root.index()].ok_or_else(unknown)
    }

    /// Returns the value of a node of the body with the axis of time.
    pub(crate) fn over_time(&mut self, root: NodeId) -> Result<NodeId> {
        let value = self.lifted(root)?;
        let mut dims = self.body.shape(root).dims.clone();
        dims.push(self.steps);
        let node = self.with_time(value)?;
        self.outer.expand(node, dims)
    }

    /// Returns the part of a value over time at one step.
    pub(crate) fn at_step(&mut self, x: NodeId, step: usize) -> Result<NodeId> {
        let dims = self.outer.shape(x).dims.clone();
        let mut slices: Vec<AxisSlice> = dims.iter().map(|size| AxisSlice::all(*size)).collect();
        if let Some(time) = slices.last_mut() {
            *time = AxisSlice { start: step, length: 1, step: 1 };
        }
        let part = self.outer.slice(x, slices)?;
        self.outer.reshape(part, &dims[..dims.len() - 1])
    }

    /// Returns the values before each step, where `initial` is the value before the first one and `after` the values
    /// after the steps.
    pub(crate) fn shifted(&mut self, initial: NodeId, after: NodeId, reverse: bool) -> Result<NodeId> {
        let dims = self.outer.shape(after).dims.clone();
        let time = dims.len() - 1;
        let first = self.outer.reshape(initial, [&dims[..time], &[1]].concat())?;
        if self.steps == 1 {
            return Ok(first);
        }
        let mut slices: Vec<AxisSlice> = dims.iter().map(|size| AxisSlice::all(*size)).collect();
        slices[time] = AxisSlice { start: usize::from(reverse), length: self.steps - 1, step: 1 };
        let rest = self.outer.slice(after, slices)?;
        self.outer.cat(&if reverse { [rest, first] } else { [first, rest] }, time)
    }

    /// Returns a value with an axis of time, of size one if it is the same in all steps.
    fn with_time(&mut self, value: Lifted) -> Result<NodeId> {
        if value.varies {
            return Ok(value.node);
        }
        let mut dims = self.outer.shape(value.node).dims.clone();
        dims.push(1);
        self.outer.reshape(value.node, dims)
    }

    /// Computes a node from the values of its inputs.
    fn lift(&mut self, node: &Node) -> Result<Lifted> {
        let inputs: Vec<Lifted> =
            node.inputs.iter().map(|input| self.values[input.index()].ok_or_else(unknown)).collect::<Result<_>>()?;
        if matches!(node.op, Op::Variable(_)) {
            return Err(unknown());
        }
        if !inputs.iter().any(|input| input.varies) {
            let inputs: Vec<NodeId> = inputs.iter().map(|input| input.node).collect();
            let node = self.outer.rebuild(node, &inputs, self.body)?;
            return Ok(Lifted { node, varies: false });
        }
        match (&node.op, inputs.as_slice()) {
            (Op::Select(axis), [source, index]) if index.varies => return self.select(node, *source, *index, *axis),
            // With the same index in all steps, time is one of the axes after that of the index.
            (Op::Select(axis), [source, index]) => {
                let node = self.outer.select(source.node, index.node, *axis)?;
                return Ok(Lifted { node, varies: true });
            }
            (Op::SelectAdjoint { axis, length }, [values, index]) if !index.varies => {
                let node = self.outer.select_adjoint(values.node, index.node, *axis, *length)?;
                return Ok(Lifted { node, varies: true });
            }
            _ => {}
        }
        let mut parts = Vec::new();
        for input in inputs {
            parts.push(self.with_time(input)?);
        }
        let time = self.steps;
        let mut dims = node.shape.dims.clone();
        dims.push(time);
        let all = AxisSlice::all(time);
        let lifted = match (&node.op, parts.as_slice()) {
            (Op::Reshape, [x]) => self.outer.reshape(*x, dims)?,
            (Op::Expand, [x]) => self.outer.expand(*x, dims)?,
            (Op::Permute(axes), [x]) => {
                let axes: Vec<usize> = axes.iter().copied().chain([axes.len()]).collect();
                self.outer.permute(*x, &axes)?
            }
            (Op::Slice(slices), [x]) => self.outer.slice(*x, slices.iter().copied().chain([all]).collect())?,
            (Op::Unslice(slices), [x]) => {
                self.outer.unslice(*x, slices.iter().copied().chain([all]).collect(), dims)?
            }
            (Op::Cat(axis), parts) => {
                let mut expanded = Vec::new();
                for part in parts {
                    let mut dims = self.outer.shape(*part).dims.clone();
                    if let Some(last) = dims.last_mut() {
                        *last = time;
                    }
                    expanded.push(self.outer.expand(*part, dims)?);
                }
                self.outer.cat(&expanded, *axis)?
            }
            (Op::Gather(axis), [source, index]) => {
                let [source, index] = [self.repeated(*source)?, self.repeated(*index)?];
                self.outer.gather(source, index, *axis)?
            }
            (Op::GatherAdjoint { axis, length }, [values, index]) => {
                let [values, index] = [self.repeated(*values)?, self.repeated(*index)?];
                self.outer.gather_adjoint(values, index, *axis, *length)?
            }
            (Op::Matmul, [a, b]) => self.matmul(*a, *b)?,
            // The other operations act on single elements, or along an axis other than the last one.
            (
                Op::Unary(_)
                | Op::Binary(_)
                | Op::Compare(_)
                | Op::Logic(_)
                | Op::Where
                | Op::Cast
                | Op::Reduce(..)
                | Op::CumSum { .. }
                | Op::LogSumExp(_)
                | Op::Softmax(_)
                | Op::LogSoftmax(_),
                parts,
            ) => self.outer.rebuild(node, parts, self.body)?,
            (op, _) => return Err(Error::Unsupported { operation: format!("{} in the body of a loop", name(op)) }),
        };
        Ok(Lifted { node: lifted, varies: true })
    }

    /// Repeats a value with an axis of time of size one.
    fn repeated(&mut self, x: NodeId) -> Result<NodeId> {
        let mut dims = self.outer.shape(x).dims.clone();
        if let Some(last) = dims.last_mut() {
            *last = self.steps;
        }
        self.outer.expand(x, dims)
    }

    /// Selects from a source that is the same in all steps.
    fn select(&mut self, node: &Node, source: Lifted, index: Lifted, axis: usize) -> Result<Lifted> {
        if source.varies {
            return Err(Error::Unsupported {
                operation: "`select` from a value that changes from step to step".into(),
            });
        }
        let selected = self.outer.select(source.node, index.node, axis)?;
        // The axes of the index, time last, are followed by the other axes of the source.
        let (rank, index_rank) = (node.shape.rank(), self.outer.shape(index.node).rank() - 1);
        let time = axis + index_rank;
        let axes: Vec<usize> = (0..=rank).filter(|axis| *axis != time).chain([time]).collect();
        Ok(Lifted { node: self.outer.permute(selected, &axes)?, varies: true })
    }

    /// Multiplies matrices as a sum of products of columns and rows, which are vectors over time.
    fn matmul(&mut self, a: NodeId, b: NodeId) -> Result<NodeId> {
        let (left, right) = (self.outer.shape(a).dims.clone(), self.outer.shape(b).dims.clone());
        let inner = left[left.len() - 2];
        let mut total = None;
        for k in 0..inner {
            let column = part(self.outer, a, &left, left.len() - 2, k)?;
            let row = part(self.outer, b, &right, right.len() - 3, k)?;
            let product = self.outer.mul(column, row)?;
            total = Some(match total {
                Some(sum) => self.outer.add(sum, product)?,
                None => product,
            });
        }
        total.ok_or_else(|| Error::shape("a matrix product", format!("{left:?} by {right:?}")))
    }
}

/// Returns index `k` of an axis, which keeps size one.
fn part(graph: &mut Graph, x: NodeId, dims: &[usize], axis: usize, k: usize) -> Result<NodeId> {
    let mut slices: Vec<AxisSlice> = dims.iter().map(|size| AxisSlice::all(*size)).collect();
    slices[axis] = AxisSlice { start: k, length: 1, step: 1 };
    graph.slice(x, slices)
}

fn name(op: &Op) -> String {
    let name = format!("{op:?}");
    format!("`{}`", name.split([' ', '(', '{']).next().unwrap_or_default())
}

fn unknown() -> Error {
    Error::Unsupported { operation: "a variable without a value".into() }
}
