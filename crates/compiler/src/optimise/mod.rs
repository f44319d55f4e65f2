//! Rewrites that keep the values of a graph's roots and make them cheaper or more accurate.
//!
//! A pass rebuilds what the roots need, node by node. At each node rules may put something else in its place; what they build
//! is looked at again in the next round, until nothing changes. A replacement must have the shape of what it replaces:
//! dimensions are expanded if it is smaller, and it is refused if it is shared and the node was per row, because a sum over the
//! observations counts it once for each.
//!
//! The order in which to use the passes: [`stabilise`] what the user wrote, differentiate, [`optimise`], and [`lower`] last.

mod algebra;
mod fold;
mod lower;
mod masks;
mod movement;

mod rows;
mod stable;

#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::graph::{Graph, Node, NodeId, Op, UnaryOp, broadcast};

pub use lower::lower;

/// Rounds after which rewriting stops, whether it has settled or not.
const ROUNDS: usize = 40;

/// A rewritten graph.
#[derive(Clone, Debug)]
pub struct Optimised {
    /// Only what the roots need.
    pub graph: Graph,
    /// The roots in it, in the order they were given.
    pub roots: Vec<NodeId>,
    /// How many nodes the roots needed before.
    pub before: usize,
    /// How many they need now.
    pub after: usize,
}

/// When the rules are used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Before differentiation: no gradient may change.
    Forward,
    /// After it.
    Complete,
}

/// Puts accurate forms in the place of what the user wrote, for example log Σ exp. For use before differentiation: gradients
/// stay the same too, and those of the accurate forms are accurate themselves.
///
/// # Errors
///
/// If the graph is not a valid one.
pub fn stabilise(graph: &Graph, roots: &[NodeId]) -> Result<Optimised> {
    settle(graph, roots, |graph, roots| pass(graph, roots, &mut |site| peephole(site, Stage::Forward)))
}

/// All rewrites, for use after differentiation: constants folded, algebra, accurate forms, and work done once instead of for
/// every observation.
///
/// # Errors
///
/// If the graph is not a valid one.
pub fn optimise(graph: &Graph, roots: &[NodeId]) -> Result<Optimised> {
    settle(graph, roots, |graph, roots| {
        let first = pass(graph, roots, &mut |site| peephole(site, Stage::Complete))?;
        let second = pass(&first.graph, &first.roots, &mut rows::apply)?;
        Ok(Pass { changed: first.changed || second.changed, ..second })
    })
}

fn peephole(site: &mut Site<'_>, stage: Stage) -> Result<Option<NodeId>> {
    if stage == Stage::Complete && site.node.op == Op::Unary(UnaryOp::Detach) {
        return Ok(Some(site.inputs[0]));
    }
    let rules: [Rule; 5] = [fold::apply, stable::apply, movement::apply, masks::apply, algebra::apply];
    for rule in rules {
        if let Some(other) = rule(site, stage)?
            && let Some(other) = site.fitted(other)?
        {
            return Ok(Some(other));
        }
    }
    Ok(None)
}

/// What may be put in the place of a node.
type Rule = fn(&mut Site<'_>, Stage) -> Result<Option<NodeId>>;

/// A node about to be rebuilt.
struct Site<'a> {
    /// The graph under construction.
    graph: &'a mut Graph,
    /// The node in the old graph.
    node: &'a Node,
    /// Its inputs, in the new graph.
    inputs: &'a [NodeId],
    /// How often nodes of the new graph are used, for those that were in the old one.
    uses: &'a [usize],
    /// The logarithms that were looked for in the new graph.
    logs: &'a mut stable::Logs,
}

impl Site<'_> {
    /// `other` in the shape of the node, if it can stand for it.
    fn fitted(&mut self, other: NodeId) -> Result<Option<NodeId>> {
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

    /// Whether `id` is used in no more than one place.
    fn used_once(&self, id: NodeId) -> bool {
        self.uses.get(id.index()).is_none_or(|uses| *uses <= 1)
    }
}

struct Pass {
    graph: Graph,
    roots: Vec<NodeId>,
    changed: bool,
}

/// Rebuilds what the roots need, with `rule` asked at every node.
fn pass(old: &Graph, roots: &[NodeId], rule: &mut dyn FnMut(&mut Site<'_>) -> Result<Option<NodeId>>) -> Result<Pass> {
    let old_uses = count_uses(old, roots);
    let mut graph = Graph::new();
    let mut uses: Vec<usize> = Vec::new();
    let mut new: Vec<Option<NodeId>> = vec![None; old.nodes().len()];
    let (mut changed, mut logs) = (false, stable::Logs::default());
    for (index, node) in old.nodes().iter().enumerate().filter(|(index, _)| old_uses[*index] > 0) {
        let inputs: Vec<NodeId> = node.inputs.iter().filter_map(|input| new[input.index()]).collect();
        let mut site = Site { graph: &mut graph, node, inputs: &inputs, uses: &uses, logs: &mut logs };
        let replaced = match rule(&mut site)? {
            Some(other) => site.fitted(other)?,
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

/// How often each node is used by what the roots need; zero where it is not needed.
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

/// `round` again and again until it changes nothing.
fn settle(graph: &Graph, roots: &[NodeId], round: impl Fn(&Graph, &[NodeId]) -> Result<Pass>) -> Result<Optimised> {
    let before = count_uses(graph, roots).iter().filter(|uses| **uses > 0).count();
    let mut state = round(graph, roots)?;
    for _ in 1..ROUNDS {
        if !state.changed {
            break;
        }
        state = round(&state.graph, &state.roots)?;
    }
    finish(&state.graph, &state.roots, before)
}

/// Without the nodes that rules left behind.
fn finish(graph: &Graph, roots: &[NodeId], before: usize) -> Result<Optimised> {
    let Pass { graph, roots, .. } = pass(graph, roots, &mut |_| Ok(None))?;
    let after = graph.nodes().len();
    Ok(Optimised { graph, roots, before, after })
}
