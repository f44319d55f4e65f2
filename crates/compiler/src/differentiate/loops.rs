//! The adjoint of a loop.
//!
//! The adjoint of a recurrence is a recurrence in the reverse direction: λ = Jᵀ λ′ + g, where J is the Jacobian of the
//! step and g the adjoint of the state from the rest of the graph. The gradients of inputs and invariants are again
//! vectors over time.

use super::differentiate_all;
use crate::error::{Error, Result};
use crate::graph::{Graph, Kind, NodeId, Op};
use crate::scan::{Arguments, Body, Columns, Unrolled, unroll};

/// Adds the adjoint of the loop `y`, an [`Op::Scan`], with the adjoint `g` of its states. Returns the adjoints of those
/// of its inputs that are `required`.
pub(super) fn adjoint(outer: &mut Graph, y: NodeId, g: NodeId, required: &[bool]) -> Result<Vec<Option<NodeId>>> {
    let node = outer.node(y).clone();
    let Op::Scan(recurrence) = &node.op else { return Err(Error::NoGradient { operation: format!("{:?}", node.op) }) };
    let (steps, reverse) = (recurrence.steps(), recurrence.is_reversed());
    let mut graph = recurrence.body().clone();
    let (states, inputs) = (recurrence.states().to_vec(), recurrence.inputs().to_vec());
    let mut variable = recurrence.states().len() + inputs.len() + recurrence.invariants().len();
    let mut new_variable = |graph: &mut Graph, like: NodeId| {
        let shape = graph.shape(like).clone();
        variable += 1;
        graph.variable(variable - 1, shape, Kind::Float)
    };
    // λ′, the adjoints of the states after the step, and g, the adjoints of the states from the rest of the graph.
    let after: Vec<NodeId> = states.iter().map(|state| new_variable(&mut graph, *state)).collect();
    let own: Vec<NodeId> = states.iter().map(|state| new_variable(&mut graph, *state)).collect();
    let seeds: Vec<(NodeId, NodeId)> = recurrence.next().iter().copied().zip(after.iter().copied()).collect();
    let leaves: Vec<NodeId> = states.iter().chain(&inputs).chain(recurrence.invariants()).copied().collect();
    let found = differentiate_all(&mut graph, &seeds, &leaves)?;
    let mut next = Vec::new();
    for (part, own) in found.iter().zip(&own) {
        next.push(match part {
            Some(part) => graph.add(*part, *own)?,
            None => *own,
        });
    }
    let wanted: Vec<usize> =
        (states.len()..leaves.len()).filter(|leaf| required[*leaf] && found[*leaf].is_some()).collect();
    let outputs = wanted.iter().filter_map(|leaf| found[*leaf]).collect();
    let backward = Body {
        graph,
        states: after,
        inputs: states.iter().chain(&inputs).chain(&own).copied().collect(),
        invariants: recurrence.invariants().to_vec(),
        next,
        outputs,
    };
    // The columns of the states before the steps, and the adjoint of the states after the last step.
    let (before, end) = if reverse { (1, 0) } else { (0, steps) };
    let mut trajectory = Columns { outer, recurrence_states: &states, body: recurrence.body() };
    let states_before = trajectory.slices(y, before, steps)?;
    let own = trajectory.slices(g, before, steps)?;
    let initial = trajectory.columns(g, end)?;
    let arguments = Arguments {
        initial,
        inputs: states_before
            .into_iter()
            .chain(node.inputs[states.len()..states.len() + inputs.len()].iter().copied())
            .chain(own)
            .collect(),
        invariants: node.inputs[states.len() + inputs.len()..].to_vec(),
        steps,
        reverse: !reverse,
    };
    let Unrolled { last, outputs } = unroll(outer, &backward, &arguments)?;
    let mut adjoints: Vec<Option<NodeId>> = vec![None; leaves.len()];
    adjoints.iter_mut().zip(last).for_each(|(adjoint, last)| *adjoint = Some(last));
    for (leaf, output) in wanted.into_iter().zip(outputs) {
        // The adjoint of an invariant is summed over time.
        adjoints[leaf] = Some(if leaf < states.len() + inputs.len() { output } else { sum_over_time(outer, output)? });
    }
    Ok(adjoints)
}

/// Sums over the last axis and removes it.
fn sum_over_time(outer: &mut Graph, x: NodeId) -> Result<NodeId> {
    let dims = outer.shape(x).dims.clone();
    let kept = dims.len() - 1;
    let sum = outer.sum(x, [kept])?;
    outer.reshape(sum, &dims[..kept])
}
