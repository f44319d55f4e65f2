//! Rewrites that preserve the values of the roots of a graph and make them cheaper or more accurate.
//!
//! A pass rebuilds the nodes that the roots depend on. Rules may replace each node. Their results are rewritten again
//! in the next round, until nothing changes. A replacement must have the shape of the node: smaller dimensions are
//! expanded, and a shared replacement of a per-row node is rejected, because a sum over the observations counts a
//! per-row value once for each observation.
//!
//! The order of the passes is: [`stabilize`], differentiation, [`optimize`], [`expand_composites`].

mod algebra;
mod composites;
mod fold;
mod masks;
mod movement;

mod rows;
mod stable;

#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::graph::{Graph, Node, NodeId, Op, UnaryOp, broadcast};

pub use composites::expand_composites;

/// The maximum number of rounds.
const MAX_ROUNDS: usize = 40;

/// A rewritten graph.
#[derive(Clone, Debug)]
pub struct Optimized {
    /// The nodes that the roots depend on.
    pub graph: Graph,
    /// The roots in the new graph, in the original order.
    pub roots: Vec<NodeId>,
    /// The number of nodes that the roots depended on in the original graph.
    pub before: usize,
    /// The number of nodes that the roots depend on in the new graph.
    pub after: usize,
}

/// The stage of the compilation at which the rules are applied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Before differentiation: gradients must not change.
    Forward,
    /// After differentiation.
    Complete,
}

/// Replaces expressions by accurate forms, for example log Σ exp. This pass runs before differentiation: it preserves
/// gradients, and the gradients of the accurate forms are accurate too.
///
/// # Errors
///
/// Returns an error if the graph is invalid.
pub fn stabilize(graph: &Graph, roots: &[NodeId]) -> Result<Optimized> {
    run_to_fixpoint(graph, roots, |graph, roots| pass(graph, roots, &mut |context| peephole(context, Stage::Forward)))
}

/// Applies all rewrites: constant folding, algebra, accurate forms, and hoisting of computations that are shared by all
/// observations. This pass runs after differentiation.
///
/// # Errors
///
/// Returns an error if the graph is invalid.
pub fn optimize(graph: &Graph, roots: &[NodeId]) -> Result<Optimized> {
    run_to_fixpoint(graph, roots, |graph, roots| {
        let first = pass(graph, roots, &mut |context| peephole(context, Stage::Complete))?;
        let second = pass(&first.graph, &first.roots, &mut rows::apply)?;
        Ok(Pass { changed: first.changed || second.changed, ..second })
    })
}

fn peephole(context: &mut RewriteContext<'_>, stage: Stage) -> Result<Option<NodeId>> {
    if stage == Stage::Complete && context.node.op == Op::Unary(UnaryOp::Detach) {
        return Ok(Some(context.inputs[0]));
    }
    let rules: [Rule; 5] = [fold::apply, stable::apply, movement::apply, masks::apply, algebra::apply];
    for rule in rules {
        if let Some(other) = rule(context, stage)?
            && let Some(other) = context.fit_shape(other)?
        {
            return Ok(Some(other));
        }
    }
    Ok(None)
}

/// A rule that returns a replacement of a node.
type Rule = fn(&mut RewriteContext<'_>, Stage) -> Result<Option<NodeId>>;

/// A node that is being rebuilt.
struct RewriteContext<'a> {
    /// The graph under construction.
    graph: &'a mut Graph,
    /// The node in the old graph.
    node: &'a Node,
    /// The inputs of the node in the new graph.
    inputs: &'a [NodeId],
    /// The number of uses of the nodes of the new graph, for those that correspond to nodes of the old graph.
    uses: &'a [usize],
    /// The cache of logarithms in the new graph.
    logs: &'a mut stable::Logs,
}

impl RewriteContext<'_> {
    /// Returns `other` with the shape of the node, or `None` if it cannot replace the node.
    fn fit_shape(&mut self, other: NodeId) -> Result<Option<NodeId>> {
        let found = self.graph.node(other);
        let shape = &self.node.shape;
        if found.kind != self.node.kind
            || found.shape.rows != shape.rows
            || broadcast(&found.shape.dims, &shape.dims).as_ref() != Some(&shape.dims)
        {
            return Ok(None);
        }
        self.graph.expand(other, shape.dims.clone()).map(Some)
    }

    /// Returns whether `id` is used at most once.
    fn used_once(&self, id: NodeId) -> bool {
        self.uses.get(id.index()).is_none_or(|uses| *uses <= 1)
    }
}

struct Pass {
    graph: Graph,
    roots: Vec<NodeId>,
    changed: bool,
}

/// Rebuilds the nodes that the roots depend on, and applies `rule` to each of them.
fn pass(
    old: &Graph,
    roots: &[NodeId],
    rule: &mut dyn FnMut(&mut RewriteContext<'_>) -> Result<Option<NodeId>>,
) -> Result<Pass> {
    let old_uses = count_uses(old, roots);
    let mut graph = Graph::new();
    let mut uses: Vec<usize> = Vec::new();
    let mut new: Vec<Option<NodeId>> = vec![None; old.nodes().len()];
    let (mut changed, mut logs) = (false, stable::Logs::default());
    for (index, node) in old.nodes().iter().enumerate().filter(|(index, _)| old_uses[*index] > 0) {
        let inputs: Vec<NodeId> = node.inputs.iter().filter_map(|input| new[input.index()]).collect();
        let mut context = RewriteContext { graph: &mut graph, node, inputs: &inputs, uses: &uses, logs: &mut logs };
        let replaced = match rule(&mut context)? {
            Some(other) => context.fit_shape(other)?,
            None => None,
        };
        changed |= replaced.is_some();
        let id = match replaced {
            Some(other) => other,
            None => graph.rebuild(node, &inputs, old)?,
        };
        uses.resize(uses.len().max(id.index() + 1), 0);
        uses[id.index()] += old_uses[index];
        new[index] = Some(id);
    }
    let roots = roots.iter().filter_map(|root| new[root.index()]).collect();
    Ok(Pass { graph, roots, changed })
}

/// Returns the number of uses of each node by the nodes that the roots depend on; zero for other nodes.
fn count_uses(graph: &Graph, roots: &[NodeId]) -> Vec<usize> {
    let mut uses = vec![0; graph.nodes().len()];
    roots.iter().for_each(|root| uses[root.index()] += 1);
    for index in (0..uses.len()).rev() {
        if uses[index] > 0 {
            graph.nodes()[index].inputs.iter().for_each(|input| uses[input.index()] += 1);
        }
    }
    uses
}

/// Repeats `round` until nothing changes or the maximum number of rounds is reached.
fn run_to_fixpoint(
    graph: &Graph,
    roots: &[NodeId],
    round: impl Fn(&Graph, &[NodeId]) -> Result<Pass>,
) -> Result<Optimized> {
    let before = count_uses(graph, roots).iter().filter(|uses| **uses > 0).count();
    let mut state = round(graph, roots)?;
    for _ in 1..MAX_ROUNDS {
        if !state.changed {
            break;
        }
        state = round(&state.graph, &state.roots)?;
    }
    finish(&state.graph, &state.roots, before)
}

/// Removes unused nodes.
fn finish(graph: &Graph, roots: &[NodeId], before: usize) -> Result<Optimized> {
    let Pass { graph, roots, .. } = pass(graph, roots, &mut |_| Ok(None))?;
    let after = graph.nodes().len();
    Ok(Optimized { graph, roots, before, after })
}
