//! The division of a body into the recurrence and the parts that are computed for all steps at once.

use std::sync::Arc;

use super::{Arguments, Body, Columns, Lifted, Lifter};
use crate::error::{Error, Result};
use crate::graph::{Graph, Kind, NodeId, Op, Recurrence};

/// Adds the states of all steps, and returns a lifter with the states before each step and, for the nodes of the
/// new states, after each step.
///
/// # Errors
///
/// Returns an error if dimensions do not fit, or if the recurrence contains an unsupported operation.
pub(super) fn states<'a>(outer: &'a mut Graph, body: &'a Body, arguments: &Arguments) -> Result<Lifter<'a>> {
    let fits = body.states.len() == arguments.initial.len()
        && body.states.len() == body.next.len()
        && body.inputs.len() == arguments.inputs.len()
        && body.invariants.len() == arguments.invariants.len();
    if !fits || arguments.steps == 0 {
        return Err(Error::shape(
            "a loop",
            format!("{} arguments and {} steps", arguments.initial.len(), arguments.steps),
        ));
    }
    let mut lifter = Lifter::new(outer, &body.graph, arguments.steps);
    for (variable, input) in body.inputs.iter().zip(&arguments.inputs) {
        lifter.set(*variable, Lifted { node: *input, varies: true });
    }
    for (variable, invariant) in body.invariants.iter().zip(&arguments.invariants) {
        lifter.set(*variable, Lifted { node: *invariant, varies: false });
    }
    let mut open: Vec<usize> = (0..body.states.len()).collect();
    // A state that does not depend on an open state is a shifted array.
    while let Some(position) = open.iter().position(|state| !depends(body, &open, body.next[*state])) {
        let state = open.remove(position);
        let after = lifter.over_time(body.next[state])?;
        let initial = arguments.initial[state];
        let before = lifter.shifted(initial, after, arguments.reverse)?;
        lifter.set(body.states[state], Lifted { node: before, varies: true });
    }
    if !open.is_empty() {
        recur(&mut lifter, body, arguments, &open)?;
    }
    Ok(lifter)
}

/// Returns whether `root` depends on one of the states `open`.
fn depends(body: &Body, open: &[usize], root: NodeId) -> bool {
    dependent(body, open)[root.index()]
}

/// Returns which nodes of the body depend on one of the states `open`.
fn dependent(body: &Body, open: &[usize]) -> Vec<bool> {
    let mut dependent = vec![false; body.graph.nodes().len()];
    open.iter().for_each(|state| dependent[body.states[*state].index()] = true);
    for (index, node) in body.graph.nodes().iter().enumerate() {
        if node.inputs.iter().any(|input| dependent[input.index()]) {
            dependent[index] = true;
        }
    }
    dependent
}

/// Adds the recurrence of the states `open`.
fn recur(lifter: &mut Lifter<'_>, body: &Body, arguments: &Arguments, open: &[usize]) -> Result<()> {
    let mut core = Core::new(body, open);
    let next = open.iter().map(|state| body.next[*state]).collect::<Vec<_>>();
    core.copy(&next)?;
    let Core { graph, copied, inputs, invariants, states, .. } = core;
    let name = |id: &NodeId| copied[id.index()].ok_or_else(|| Error::Unsupported { operation: "a state".into() });
    let variables = open.iter().map(|state| body.states[*state]).chain(inputs.iter().chain(&invariants).copied());
    let variables = variables.collect::<Vec<_>>();
    // The inputs and invariants are numbered after the states.
    let mut numbered = Graph::new();
    let mut new: Vec<Option<NodeId>> = vec![None; graph.nodes().len()];
    let mut own = Vec::new();
    for (number, variable) in variables.iter().enumerate() {
        let old = name(variable)?;
        let node = graph.node(old);
        let id = numbered.variable(number, node.shape.clone(), node.kind);
        new[old.index()] = Some(id);
        own.push(id);
    }
    for (index, node) in graph.nodes().iter().enumerate() {
        if new[index].is_none() {
            let inputs: Vec<NodeId> = node.inputs.iter().filter_map(|input| new[input.index()]).collect();
            new[index] = Some(numbered.rebuild(node, &inputs, &graph)?);
        }
    }
    let next = next.iter().map(|id| name(id).map(|id| new[id.index()])).collect::<Result<Option<Vec<_>>>>()?;
    let next = next.unwrap_or_default();
    let counts = [states, inputs.len()];
    let recurrence = Recurrence::new(numbered, own, counts, next, arguments.steps, arguments.reverse)?;
    let mut nodes: Vec<NodeId> = open.iter().map(|state| arguments.initial[*state]).collect();
    for input in &inputs {
        nodes.push(lifter.over_time(*input)?);
    }
    for invariant in &invariants {
        nodes.push(lifter.lifted(*invariant)?.node);
    }
    let trajectory = lifter.outer.scan(Arc::new(recurrence), &nodes)?;
    let open_states: Vec<NodeId> = open.iter().map(|state| body.states[*state]).collect();
    let (before, after) = if arguments.reverse { (1, 0) } else { (0, 1) };
    let mut columns = Columns { outer: lifter.outer, recurrence_states: &open_states, body: &body.graph };
    let (before, after) =
        (columns.slices(trajectory, before, arguments.steps)?, columns.slices(trajectory, after, arguments.steps)?);
    for (state, before) in open.iter().zip(before) {
        lifter.set(body.states[*state], Lifted { node: before, varies: true });
    }
    for (state, after) in open.iter().zip(after) {
        // A new state that is another state before the step is known already.
        if !matches!(body.graph.node(body.next[*state]).op, Op::Variable(_)) {
            lifter.set(body.next[*state], Lifted { node: after, varies: true });
        }
    }
    Ok(())
}

/// The recurrence under construction.
struct Core<'a> {
    body: &'a Body,
    graph: Graph,
    /// The nodes of the recurrence by the nodes of the body.
    copied: Vec<Option<NodeId>>,
    dependent: Vec<bool>,
    /// For each node of the body, true if it depends on an input or on a state that is not open.
    varies: Vec<bool>,
    states: usize,
    /// The nodes of the body that become inputs and invariants.
    inputs: Vec<NodeId>,
    invariants: Vec<NodeId>,
    variables: usize,
}

impl<'a> Core<'a> {
    fn new(body: &'a Body, open: &[usize]) -> Self {
        let dependent = dependent(body, open);
        let mut varies = vec![false; dependent.len()];
        body.inputs.iter().chain(&body.states).for_each(|id| varies[id.index()] = true);
        for (index, node) in body.graph.nodes().iter().enumerate() {
            if node.inputs.iter().any(|input| varies[input.index()]) {
                varies[index] = true;
            }
        }
        let mut core = Self {
            body,
            graph: Graph::new(),
            copied: vec![None; dependent.len()],
            dependent,
            varies,
            states: open.len(),
            inputs: vec![],
            invariants: vec![],
            variables: 0,
        };
        for state in open {
            core.variable(body.states[*state]);
        }
        core
    }

    /// Copies `roots` and the nodes between them and the variables.
    fn copy(&mut self, roots: &[NodeId]) -> Result<()> {
        // Operations on states are part of the recurrence, and movements that are cheaper than their results are large.
        let mut inside = vec![false; self.dependent.len()];
        roots.iter().for_each(|root| inside[root.index()] = true);
        let nodes = self.body.graph.nodes();
        for index in (0..inside.len()).rev() {
            let node = &nodes[index];
            let moves = matches!(node.op, Op::Reshape | Op::Expand | Op::Permute(_) | Op::Slice(_));
            if inside[index] && (self.dependent[index] || moves) {
                node.inputs.iter().for_each(|input| inside[input.index()] = true);
            }
        }
        for id in self.body.graph.ids().filter(|id| inside[id.index()]) {
            if self.copied[id.index()].is_some() {
                continue;
            }
            let node = self.body.graph.node(id);
            let moves = matches!(node.op, Op::Reshape | Op::Expand | Op::Permute(_) | Op::Slice(_));
            if self.dependent[id.index()] || moves || matches!(node.op, Op::Full(_) | Op::Constant(_)) {
                let inputs: Vec<NodeId> = node.inputs.iter().filter_map(|input| self.copied[input.index()]).collect();
                self.copied[id.index()] = Some(self.graph.rebuild(node, &inputs, &self.body.graph)?);
                continue;
            }
            if node.kind == Kind::Int {
                let operation = "a selection from a state of a loop by an integer that is not constant".into();
                return Err(Error::Unsupported { operation });
            }
            self.variable(id);
            if self.varies[id.index()] { self.inputs.push(id) } else { self.invariants.push(id) }
        }
        Ok(())
    }

    /// Adds a variable for a node of the body.
    fn variable(&mut self, id: NodeId) {
        let node = self.body.graph.node(id);
        self.copied[id.index()] = Some(self.graph.variable(self.variables, node.shape.clone(), node.kind));
        self.variables += 1;
    }
}
