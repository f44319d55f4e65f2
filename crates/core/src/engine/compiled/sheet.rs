//! What is compiled for a model: its graphs, differentiated and simplified, ready to become programs.

use std::ops::Range;

use sgmcmc_compiler::differentiate::{Rows as RowSums, differentiate};
use sgmcmc_compiler::graph::{Graph, NodeId};
use sgmcmc_compiler::optimise::{lower, optimise, stabilise};
use sgmcmc_compiler::program::{Outputs, Plan, Program, Real};

use super::capture::{Captured, Signature};
use super::reason::Reason;
use crate::layout::Layout;

/// A graph and what is wanted of it.
#[derive(Debug)]
pub(super) struct Part {
    graph: Graph,
    outputs: Outputs,
    /// Nodes before and after simplification.
    pub(super) nodes: [usize; 2],
}

/// Which gradient of a per-row value is wanted.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    /// None.
    Values,
    /// That of the sum.
    Gradient,
    /// That of the weighted sum.
    WeightedGradient,
    /// That of each row.
    RowGradients,
}

/// The parts of a model, and what they were made from.
#[derive(Debug)]
pub(super) struct Sheet {
    pub(super) layout: Layout,
    pub(super) signature: Signature,
    /// Operations that Burn recorded.
    pub(super) operations: usize,
    pub(super) summed: bool,
    /// log p(xᵢ|θ) and the gradient of Σ log p(xᵢ|θ).
    pub(super) likelihood: Option<Part>,
    /// The same of Σ wᵢ log p(xᵢ|θ).
    pub(super) weighted: Option<Part>,
    /// log p(xᵢ|θ) alone.
    pub(super) pointwise: Option<Part>,
    /// The gradient of each log p(xᵢ|θ).
    pub(super) per_datum: Option<Part>,
    /// The log-prior with the log-Jacobian, and its gradient.
    pub(super) prior: Option<Part>,
    /// The same without its gradient.
    pub(super) prior_value: Option<Part>,
}

impl Sheet {
    pub(super) fn new(captured: Captured, layout: Layout) -> Result<Self, Reason> {
        let Captured { graph, parameters, likelihood, prior, operations, signature } = captured;
        let leaves = parameters.as_slice();
        let mut sheet = Self {
            layout,
            signature,
            operations,
            summed: likelihood.as_ref().is_some_and(|likelihood| likelihood.summed),
            likelihood: None,
            weighted: None,
            pointwise: None,
            per_datum: None,
            prior: None,
            prior_value: None,
        };
        if let Some(likelihood) = &likelihood {
            let part = |wanted| Part::rows(&graph, likelihood.node, leaves, wanted).map(Some);
            sheet.likelihood = part(Wanted::Gradient)?;
            sheet.weighted = part(Wanted::WeightedGradient)?;
            sheet.per_datum = part(Wanted::RowGradients)?;
            sheet.pointwise = part(Wanted::Values)?;
        }
        if let Some(prior) = prior {
            sheet.prior = Some(Part::shared(&graph, prior, leaves, true)?);
            sheet.prior_value = Some(Part::shared(&graph, prior, leaves, false)?);
        }
        Ok(sheet)
    }

    fn leaves(&self) -> Vec<Range<usize>> {
        self.layout.blocks().iter().map(|block| block.range.clone()).collect()
    }

    /// A program with buffers of its own.
    pub(super) fn program<T: Real>(&self, part: &Option<Part>) -> Result<Option<Program<T>>, Reason> {
        let compile = |part: &Part| Program::compile(&part.graph, &part.outputs, &self.leaves());
        part.as_ref().map(compile).transpose().map_err(Reason::from)
    }

    /// What the programs with gradients consist of.
    pub(super) fn plans<T: Real>(&self) -> Result<Vec<PartPlan>, Reason> {
        let parts = [("log-likelihood and gradient", &self.likelihood), ("log-prior and gradient", &self.prior)];
        let mut plans = Vec::new();
        for (name, part) in parts {
            if let (Some(found), Some(program)) = (part, self.program::<T>(part)?) {
                plans.push(PartPlan { name, nodes: found.nodes, plan: program.plan().clone() });
            }
        }
        Ok(plans)
    }
}

/// What the program of a part consists of.
#[derive(Debug)]
pub(super) struct PartPlan {
    pub(super) name: &'static str,
    /// Nodes before and after simplification.
    pub(super) nodes: [usize; 2],
    pub(super) plan: Plan,
}

impl Part {
    /// The per-row value `root`, with the gradient that is wanted.
    fn rows(graph: &Graph, root: NodeId, leaves: &[NodeId], wanted: Wanted) -> Result<Self, Reason> {
        let (mut graph, root, leaves) = stable(graph, root, leaves)?;
        let own = graph.shape(root).rows;
        let adjoints = match wanted {
            Wanted::Values => vec![],
            Wanted::RowGradients => {
                let seed = graph.scalar(1.0);
                differentiate(&mut graph, root, seed, &leaves, RowSums::Keep)?
            }
            Wanted::Gradient | Wanted::WeightedGradient => {
                let weight = graph.weight();
                let seed = match wanted {
                    Wanted::Gradient if own => graph.scalar(1.0),
                    // A value that all rows have in common counts as often as there are rows.
                    _ => {
                        if own {
                            weight
                        } else {
                            graph.sum_rows(weight)
                        }
                    }
                };
                differentiate(&mut graph, root, seed, &leaves, RowSums::Sum)?
            }
        };
        Self::simplified(&graph, |gradient| Outputs { row: Some(root), shared: None, gradient }, adjoints)
    }

    /// The shared value `root`, with its gradient if that is wanted.
    fn shared(graph: &Graph, root: NodeId, leaves: &[NodeId], gradient: bool) -> Result<Self, Reason> {
        let (mut graph, root, leaves) = stable(graph, root, leaves)?;
        let adjoints = if gradient {
            let seed = graph.scalar(1.0);
            differentiate(&mut graph, root, seed, &leaves, RowSums::Sum)?
        } else {
            vec![]
        };
        Self::simplified(&graph, |gradient| Outputs { row: None, shared: Some(root), gradient }, adjoints)
    }

    fn simplified(
        graph: &Graph,
        outputs: impl FnOnce(Vec<Option<NodeId>>) -> Outputs,
        adjoints: Vec<Option<NodeId>>,
    ) -> Result<Self, Reason> {
        let Outputs { row, shared, gradient } = outputs(adjoints);
        let roots: Vec<NodeId> = row.iter().chain(&shared).chain(gradient.iter().flatten()).copied().collect();
        let simplified = optimise(graph, &roots)?;
        let lowered = lower(&simplified.graph, &simplified.roots)?;
        let mut new = lowered.roots.iter().copied();
        let mut next = |old: Option<NodeId>| old.and_then(|_| new.next());
        let (row, shared) = (next(row), next(shared));
        let gradient = gradient.into_iter().map(&mut next).collect();
        let nodes = [simplified.before, lowered.after];
        Ok(Self { graph: lowered.graph, outputs: Outputs { row, shared, gradient }, nodes })
    }
}

/// The graph of `root` in numerically stable form, with the leaves found again.
fn stable(graph: &Graph, root: NodeId, leaves: &[NodeId]) -> Result<(Graph, NodeId, Vec<NodeId>), Reason> {
    let roots: Vec<NodeId> = std::iter::once(root).chain(leaves.iter().copied()).collect();
    let stable = stabilise(graph, &roots)?;
    let mut roots = stable.roots.into_iter();
    let root = roots.next().unwrap_or(root);
    Ok((stable.graph, root, roots.collect()))
}
