//! Loops over time.
//!
//! A loop has a [`Body`], a graph with variables, that is executed once for each step. [`unroll`] adds the loop to a
//! graph, which then has nodes for the states and outputs of all steps: their last axis is that of time. The number of
//! nodes does not depend on the number of steps.
//!
//! Only the part of the body through which a state depends on the previous one is computed step by step, as the
//! [`Recurrence`](crate::graph::Recurrence) of an [`Op::Scan`](crate::graph::Op::Scan). Everything before and after it is computed for all steps
//! at once (see [`lift`]), and a state whose new value does not depend on a state, such as the last observation, is a
//! shifted array. For the variance of a GARCH(1,1) model, h′ = ω + α x² + β h, the sums ω + α x²
//! and the log-likelihood are vectors over time, and the recurrence is a multiplication and an addition.

mod lift;
mod split;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::graph::{AxisSlice, Graph, NodeId};

pub(crate) use lift::{Lifted, Lifter};

/// The body of a loop: a graph with variables as its leaves, which are all shared.
///
/// # Examples
///
/// ```
/// use sgmcmc_compiler::graph::{BinaryOp, Graph, Kind, Shape};
/// use sgmcmc_compiler::reference::{Inputs, evaluate_nodes};
/// use sgmcmc_compiler::scan::{Arguments, Body, unroll};
///
/// // The running sums of a vector.
/// let mut graph = Graph::new();
/// let sum = graph.variable(0, Shape::shared([]), Kind::Float);
/// let x = graph.variable(1, Shape::shared([]), Kind::Float);
/// let next = graph.binary(BinaryOp::Add, sum, x)?;
/// let body =
///     Body { graph, states: vec![sum], inputs: vec![x], invariants: vec![], next: vec![next], outputs: vec![next] };
///
/// let mut outer = Graph::new();
/// let (zero, numbers) = (outer.scalar(0.0), outer.parameter(0, [3]));
/// let arguments = Arguments { initial: vec![zero], inputs: vec![numbers], invariants: vec![], steps: 3, reverse: false };
/// let unrolled = unroll(&mut outer, &body, &arguments)?;
/// let inputs = Inputs { parameters: vec![vec![1.0, 2.0, 4.0]], ..Inputs::default() };
/// let values = evaluate_nodes(&outer, &inputs, 0, &[unrolled.outputs[0], unrolled.last[0]])?;
/// assert_eq!(values[0].values, [1.0, 3.0, 7.0]);
/// assert_eq!(values[1].values, [7.0]);
/// # Ok::<(), sgmcmc_compiler::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The graph of one step.
    pub graph: Graph,
    /// The variables of the states.
    pub states: Vec<NodeId>,
    /// The variables that change from step to step.
    pub inputs: Vec<NodeId>,
    /// The variables that are the same in all steps.
    pub invariants: Vec<NodeId>,
    /// The states after the step.
    pub next: Vec<NodeId>,
    /// The outputs of the step.
    pub outputs: Vec<NodeId>,
}

/// The arguments of a loop, as nodes of the graph that contains it.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// The initial states.
    pub initial: Vec<NodeId>,
    /// The inputs of the steps. The last axis is that of time.
    pub inputs: Vec<NodeId>,
    /// The values that are the same in all steps.
    pub invariants: Vec<NodeId>,
    /// The number of steps.
    pub steps: usize,
    /// True if the last step is computed first.
    pub reverse: bool,
}

/// The nodes of a loop.
#[derive(Clone, Debug)]
pub struct Unrolled {
    /// The states after all steps.
    pub last: Vec<NodeId>,
    /// The outputs of the steps. The last axis is that of time.
    pub outputs: Vec<NodeId>,
}

/// Adds the loop of `body` over `arguments` to a graph.
///
/// # Errors
///
/// Returns an error if dimensions do not fit, or if the body contains an operation that cannot be part of a loop.
pub fn unroll(outer: &mut Graph, body: &Body, arguments: &Arguments) -> Result<Unrolled> {
    let mut lifter = split::states(outer, body, arguments)?;
    let mut outputs = Vec::new();
    for output in &body.outputs {
        outputs.push(lifter.over_time(*output)?);
    }
    let mut last = Vec::new();
    for next in &body.next {
        let after = lifter.lifted(*next)?;
        last.push(if after.varies {
            lifter.at_step(after.node, if arguments.reverse { 0 } else { arguments.steps - 1 })?
        } else {
            after.node
        });
    }
    Ok(Unrolled { last, outputs })
}

/// The columns of the result of an [`Op::Scan`](crate::graph::Op::Scan), divided into states.
pub(crate) struct Columns<'a> {
    pub(crate) outer: &'a mut Graph,
    pub(crate) recurrence_states: &'a [NodeId],
    pub(crate) body: &'a Graph,
}

impl Columns<'_> {
    /// Returns the columns from `first` on for each state, with the axis of time as the last one.
    pub(crate) fn slices(&mut self, x: NodeId, first: usize, steps: usize) -> Result<Vec<NodeId>> {
        self.each(x, AxisSlice { start: first, length: steps, step: 1 }, Some(steps))
    }

    /// Returns one column for each state.
    pub(crate) fn columns(&mut self, x: NodeId, at: usize) -> Result<Vec<NodeId>> {
        self.each(x, AxisSlice { start: at, length: 1, step: 1 }, None)
    }

    fn each(&mut self, x: NodeId, columns: AxisSlice, time: Option<usize>) -> Result<Vec<NodeId>> {
        let mut start = 0;
        let mut parts = Vec::new();
        for state in self.recurrence_states {
            let shape = self.body.shape(*state);
            let rows = AxisSlice { start, length: shape.size(), step: 1 };
            let part = self.outer.slice(x, vec![rows, columns])?;
            let dims: Vec<usize> = shape.dims.iter().copied().chain(time).collect();
            parts.push(self.outer.reshape(part, dims)?);
            start += shape.size();
        }
        Ok(parts)
    }
}
