//! Loops over time.
//!
//! The operations of a body are imported like all others, on variables in place of its arguments. When the result of the
//! loop is needed, the nodes between the variables and the results of the body become a graph of their own, which is
//! unrolled over the sequences.

use sgmcmc_compiler::graph::{AxisSlice, Graph, NodeId, Op, Shape};
use sgmcmc_compiler::optimize::stabilize;
use sgmcmc_compiler::scan::{Arguments, Body, unroll};

use super::{Importer, Result, Value, kind_of};
use crate::engine::compiled::compile_error::CompileError;
use crate::sequence::Scan;

impl Importer<'_> {
    /// Adds variables for the arguments of the bodies.
    pub(super) fn loop_variables(&mut self) {
        let recording = self.recording;
        let arguments = recording.scans.iter().flat_map(|scan| scan.states.iter().chain(&scan.elements));
        for (variable, number) in arguments.enumerate() {
            let extent = self.extent_of(*number);
            let shape = Shape { dims: extent.own(), rows: extent.row.is_some() };
            let Some(dtype) = recording.dtypes.get(number) else { continue };
            let node = self.graph.variable(variable, shape, kind_of(*dtype));
            self.values[*number] = Some(Value { node, summed: false });
        }
    }

    /// Returns the loop that tensor `number` is a result of.
    pub(super) fn loop_of(&self, number: usize) -> Option<&'_ Scan<usize>> {
        self.recording.scans.iter().find(|scan| scan.last.contains(&number) || scan.outputs.contains(&number))
    }

    /// Imports a loop.
    pub(super) fn unrolled(&mut self, scan: &Scan<usize>) -> Result<()> {
        let steps = scan.steps.min(self.limit);
        let mut time = vec![];
        for number in &scan.sequences {
            let extent = self.extent_of(*number);
            if extent.is_row(scan.axis) {
                return Err(CompileError::mixed_rows("scan"));
            }
            time.push(extent.axis(scan.axis));
        }
        let initial = self.plain(&scan.initial)?;
        let sequences = self.plain(&scan.sequences)?;
        let (states, elements) = (self.plain(&scan.states)?, self.plain(&scan.elements)?);
        let (next, step_outputs) = (self.plain(&scan.next)?, self.plain(&scan.step_outputs)?);
        let (body, outer) = extract(&self.graph, [&states, &elements, &next, &step_outputs])?;
        let mut inputs = vec![];
        for ((sequence, element), axis) in sequences.into_iter().zip(&elements).zip(time) {
            inputs.push(self.with_time_last(sequence, *element, axis, steps)?);
        }
        let arguments = Arguments { initial, inputs, invariants: outer, steps, reverse: false };
        let unrolled = unroll(&mut self.graph, &body, &arguments)?;
        for (number, node) in scan.last.iter().zip(unrolled.last) {
            self.values[*number] = Some(Value { node, summed: false });
        }
        for (number, node) in scan.outputs.iter().zip(unrolled.outputs) {
            let axis = self.extent_of(*number).axis(scan.axis);
            let node = self.with_time_at(node, axis, scan.steps)?;
            self.values[*number] = Some(Value { node, summed: false });
        }
        Ok(())
    }

    /// Returns the nodes of tensors, none of which may be a sum over the observations.
    fn plain(&mut self, numbers: &[usize]) -> Result<Vec<NodeId>> {
        let mut nodes = vec![];
        for number in numbers {
            let Value { node, summed } = self.value(*number)?;
            if summed {
                return Err(CompileError::mixed_rows("scan"));
            }
            nodes.push(node);
        }
        Ok(nodes)
    }

    /// Moves the axis of time of a sequence to the end. The other axes become those of an element.
    fn with_time_last(&mut self, sequence: NodeId, element: NodeId, axis: usize, steps: usize) -> Result<NodeId> {
        let dims = self.graph.shape(sequence).dims.clone();
        let mut slices: Vec<AxisSlice> = dims.iter().map(|size| AxisSlice::all(*size)).collect();
        slices[axis] = AxisSlice::all(steps);
        let node = self.graph.slice(sequence, slices)?;
        let axes: Vec<usize> = (0..dims.len()).filter(|other| *other != axis).chain([axis]).collect();
        let node = if axis + 1 == dims.len() { node } else { self.graph.permute(node, &axes)? };
        let mut dims = self.graph.shape(element).dims.clone();
        dims.push(steps);
        Ok(self.graph.reshape(node, dims)?)
    }

    /// Moves the axis of time, which is the last one, to `axis`, which has size one. The last step is repeated up to
    /// `steps`.
    fn with_time_at(&mut self, output: NodeId, axis: usize, steps: usize) -> Result<NodeId> {
        let mut dims = self.graph.shape(output).dims.clone();
        let (last, known) = (dims.len() - 1, dims[dims.len() - 1]);
        let mut node = output;
        if known < steps {
            let mut slices: Vec<AxisSlice> = dims.iter().map(|size| AxisSlice::all(*size)).collect();
            slices[last] = AxisSlice { start: known - 1, length: 1, step: 1 };
            let end = self.graph.slice(output, slices)?;
            dims[last] = steps - known;
            let end = self.graph.expand(end, dims.clone())?;
            node = self.graph.cat(&[output, end], last)?;
            dims[last] = steps;
        }
        dims.remove(axis);
        let node = self.graph.reshape(node, dims.clone())?;
        if axis + 1 == last || last == 0 {
            return Ok(node);
        }
        let time = dims.len() - 1;
        let axes: Vec<usize> = (0..axis).chain([time]).chain(axis..time).collect();
        Ok(self.graph.permute(node, &axes)?)
    }
}

/// Returns the nodes between the variables and the results of a body as a graph of their own, and the nodes outside that
/// it uses. The arguments are the states, the elements, the new states and the outputs.
fn extract(outer: &Graph, [states, elements, next, outputs]: [&[NodeId]; 4]) -> Result<(Body, Vec<NodeId>)> {
    let roots: Vec<NodeId> = next.iter().chain(outputs).copied().collect();
    let nodes = outer.nodes();
    let mut inside = vec![false; nodes.len()];
    states.iter().chain(elements).for_each(|id| inside[id.index()] = true);
    for (index, node) in nodes.iter().enumerate() {
        if node.inputs.iter().any(|input| inside[input.index()]) {
            inside[index] = true;
        }
    }
    let mut needed = vec![false; nodes.len()];
    roots.iter().chain(states).chain(elements).for_each(|id| needed[id.index()] = true);
    for index in (0..nodes.len()).rev() {
        if needed[index] && inside[index] {
            nodes[index].inputs.iter().for_each(|input| needed[input.index()] = true);
        }
    }
    let mut graph = Graph::new();
    let mut new: Vec<Option<NodeId>> = vec![None; nodes.len()];
    let mut invariants = (vec![], vec![]);
    let mut variables = 0;
    let mut variable = |graph: &mut Graph, id: NodeId| {
        let node = outer.node(id);
        variables += 1;
        graph.variable(variables - 1, Shape::shared(node.shape.dims.clone()), node.kind)
    };
    for id in states.iter().chain(elements) {
        new[id.index()] = Some(variable(&mut graph, *id));
    }
    for id in outer.ids().filter(|id| needed[id.index()]) {
        let node = outer.node(id);
        if new[id.index()].is_some() {
            continue;
        }
        let constant = matches!(node.op, Op::Full(_) | Op::Constant(_));
        new[id.index()] = Some(if constant || inside[id.index()] {
            let inputs: Vec<NodeId> = node.inputs.iter().filter_map(|input| new[input.index()]).collect();
            graph.rebuild(node, &inputs, outer)?
        } else {
            let own = variable(&mut graph, id);
            invariants.0.push(own);
            invariants.1.push(id);
            own
        });
    }
    let name = |ids: &[NodeId]| ids.iter().filter_map(|id| new[id.index()]).collect::<Vec<_>>();
    let groups = [name(states), name(elements), invariants.0, name(next), name(outputs)];
    let stable = stabilize(&graph, &groups.concat())?;
    let mut ids = stable.roots.into_iter();
    let [states, inputs, own, next, outputs] = groups.map(|group| ids.by_ref().take(group.len()).collect::<Vec<_>>());
    Ok((Body { graph: stable.graph, states, inputs, invariants: own, next, outputs }, invariants.1))
}
