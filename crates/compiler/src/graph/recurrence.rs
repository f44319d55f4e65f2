//! The recurrence of a loop: the part of its body that must be computed step by step.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Graph, Kind, NodeId, Op, Shape};
use crate::error::{Error, Result};

/// A recurrence s′ = f(s, x, c) of states s, inputs x that change from step to step, and invariants c.
///
/// The body f is a graph of its own. Its leaves are constants and the variables 0, 1, …, first the states, then the
/// inputs, then the invariants. All of them are shared in the body; in the graph with the loop, each observation may have
/// its own.
///
/// The loop is the node [`Op::Scan`] with the initial states, the inputs and the invariants as its inputs. An input has
/// the dimensions of its variable and the axis of time, which is the last one. The result has a row for each element of
/// the states and a column for each point in time: column t is the state before step t, and the last column is the
/// state after the last step. In a reversed loop the last column is the initial state, and step t computes column t from
/// column t + 1.
#[derive(Clone)]
pub struct Recurrence {
    body: Graph,
    states: usize,
    inputs: usize,
    variables: Vec<NodeId>,
    next: Vec<NodeId>,
    steps: usize,
    reverse: bool,
}

impl Recurrence {
    /// Creates a recurrence with `states` states and `inputs` inputs; the other `variables` of `body` are invariants.
    /// `next` contains the new states.
    ///
    /// # Errors
    ///
    /// Returns an error if a new state does not have the dimensions of the state, or is not a float.
    pub(crate) fn new(
        body: Graph,
        variables: Vec<NodeId>,
        [states, inputs]: [usize; 2],
        next: Vec<NodeId>,
        steps: usize,
        reverse: bool,
    ) -> Result<Self> {
        for (state, next) in variables.iter().zip(&next) {
            let (state, next) = (body.node(*state), body.node(*next));
            if state.shape != next.shape || next.kind != Kind::Float || state.shape.rows {
                return Err(Error::shape(
                    "a state",
                    format!("{:?} before and {:?} after a step", state.shape, next.shape),
                ));
            }
        }
        Ok(Self { body, states, inputs, variables, next, steps, reverse })
    }

    /// Returns the body.
    pub fn body(&self) -> &Graph {
        &self.body
    }

    /// Returns the variables of the states.
    pub fn states(&self) -> &[NodeId] {
        &self.variables[..self.states]
    }

    /// Returns the variables of the inputs.
    pub fn inputs(&self) -> &[NodeId] {
        &self.variables[self.states..self.states + self.inputs]
    }

    /// Returns the variables of the invariants.
    pub fn invariants(&self) -> &[NodeId] {
        &self.variables[self.states + self.inputs..]
    }

    /// Returns the states after a step.
    pub fn next(&self) -> &[NodeId] {
        &self.next
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Returns whether the last step is computed first.
    pub fn is_reversed(&self) -> bool {
        self.reverse
    }

    /// Returns the number of elements of all states.
    pub fn width(&self) -> usize {
        self.states().iter().map(|state| self.body.shape(*state).size()).sum()
    }
}

/// Equality compares the nodes. The graphs are equal if they were built in the same order.
impl PartialEq for Recurrence {
    fn eq(&self, other: &Self) -> bool {
        let bits = |graph: &Graph| -> Vec<Vec<u64>> {
            graph.constants.iter().map(|values| values.iter().map(|value| value.to_bits()).collect()).collect()
        };
        self.body.nodes == other.body.nodes
            && (self.states, self.inputs, self.steps, self.reverse)
                == (other.states, other.inputs, other.steps, other.reverse)
            && (&self.variables, &self.next) == (&other.variables, &other.next)
            && bits(&self.body) == bits(&other.body)
    }
}

impl Eq for Recurrence {}

impl Hash for Recurrence {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.body.nodes.len(), &self.next, self.steps, self.reverse).hash(state);
    }
}

/// The description is part of the fingerprint of a model, so that it must depend on the content alone.
impl fmt::Debug for Recurrence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recurrence")
            .field("nodes", &self.body.nodes)
            .field("constants", &self.body.constants)
            .field("states", &self.states)
            .field("inputs", &self.inputs)
            .field("variables", &self.variables)
            .field("next", &self.next)
            .field("steps", &self.steps)
            .field("reverse", &self.reverse)
            .finish()
    }
}

impl Graph {
    /// Adds the states of a loop. `inputs` are the initial states, the inputs of the steps and the invariants.
    ///
    /// # Errors
    ///
    /// Returns an error if the dimensions are not those of the variables of the recurrence.
    pub fn scan(&mut self, recurrence: Arc<Recurrence>, inputs: &[NodeId]) -> Result<NodeId> {
        let wrong = |found: String| Error::shape("a loop", found);
        if inputs.len() != recurrence.variables.len() {
            return Err(wrong(format!("{} inputs for {} variables", inputs.len(), recurrence.variables.len())));
        }
        let steps = recurrence.states..recurrence.states + recurrence.inputs;
        for (position, (variable, input)) in recurrence.variables.iter().zip(inputs).enumerate() {
            let mut dims = recurrence.body.shape(*variable).dims.clone();
            if steps.contains(&position) {
                dims.push(recurrence.steps);
            }
            let found = &self.shape(*input).dims;
            if *found != dims {
                return Err(wrong(format!("{found:?} for {dims:?}")));
            }
        }
        let rows = inputs.iter().any(|input| self.shape(*input).rows);
        let shape = Shape { dims: vec![recurrence.width(), recurrence.steps + 1], rows };
        Ok(self.insert(Op::Scan(recurrence), inputs.to_vec(), shape, Kind::Float))
    }
}
