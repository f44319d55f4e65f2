//! What is compiled for a model: its graphs, differentiated and simplified, ready to become programs.

use std::fmt::Write;
use std::ops::Range;

use sgmcmc_compiler::differentiate::{Rows as RowSums, differentiate};
use sgmcmc_compiler::graph::{Graph, NodeId, Op};
use sgmcmc_compiler::optimise::{lower, optimise, stabilise};
use sgmcmc_compiler::program::{Outputs, Plan, Program, Real};

use super::capture::{Captured, Signature};
use super::reason::Reason;
use crate::fingerprint::{Fingerprint, Fingerprinter};
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
    /// Of the graph before it was differentiated.
    pub(super) fingerprint: Fingerprint,
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
    /// `likelihood` and `prior` in one, where there are both.
    pub(super) posterior: Option<Part>,
    /// The same without its gradient.
    pub(super) prior_value: Option<Part>,
}

/// Hashes the nodes of a graph, its constants, and which of the nodes are wanted.
fn fingerprint(graph: &Graph, outputs: [Option<NodeId>; 2]) -> Fingerprint {
    let mut parts = Fingerprinter::new();
    // Writing to a fingerprint cannot fail.
    let _ = write!(parts, "{:?} {outputs:?}", graph.nodes());
    for node in graph.nodes() {
        if let Op::Constant(number) = node.op {
            parts.numbers(graph.constant_values(number));
        }
    }
    parts.finish()
}

impl Sheet {
    pub(super) fn new(captured: Captured, layout: Layout) -> Result<Self, Reason> {
        let Captured { graph, parameters, likelihood, prior, operations, signature } = captured;
        let leaves = parameters.as_slice();
        let outputs = [likelihood.as_ref().map(|likelihood| likelihood.node), prior];
        let mut sheet = Self {
            layout,
            signature,
            operations,
            fingerprint: fingerprint(&graph, outputs),
            summed: likelihood.as_ref().is_some_and(|likelihood| likelihood.summed),
            likelihood: None,
            weighted: None,
            pointwise: None,
            per_datum: None,
            prior: None,
            posterior: None,
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
        if let (Some(likelihood), Some(prior)) = (&likelihood, prior) {
            sheet.posterior = Some(Part::posterior(&graph, [likelihood.node, prior], leaves)?);
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
        let parts = if self.posterior.is_some() {
            vec![("log-posterior and gradient", &self.posterior)]
        } else {
            vec![("log-likelihood and gradient", &self.likelihood), ("log-prior and gradient", &self.prior)]
        };
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
        let (mut graph, [root], leaves) = stable(graph, [root], leaves)?;
        let outputs = match wanted {
            Wanted::Values => Outputs { row: Some(root), ..Outputs::default() },
            Wanted::RowGradients => {
                let seed = graph.scalar(1.0);
                let gradient = differentiate(&mut graph, root, seed, &leaves, RowSums::Keep)?;
                Outputs { gradient, ..Outputs::default() }
            }
            Wanted::WeightedGradient => {
                let weight = graph.weight();
                // A value that all rows have in common counts as often as there are rows.
                let seed = if graph.shape(root).rows { weight } else { graph.sum_rows(weight) };
                let gradient = differentiate(&mut graph, root, seed, &leaves, RowSums::Sum)?;
                Outputs { row: Some(root), gradient, ..Outputs::default() }
            }
            Wanted::Gradient => sum_with_gradient(&mut graph, root, &leaves)?,
        };
        Self::simplified(&graph, &outputs)
    }

    /// The shared value `root`, with its gradient if that is wanted.
    fn shared(graph: &Graph, root: NodeId, leaves: &[NodeId], gradient: bool) -> Result<Self, Reason> {
        let (mut graph, [root], leaves) = stable(graph, [root], leaves)?;
        let shared_gradient = if gradient { shared_gradient(&mut graph, root, &leaves)? } else { vec![] };
        Self::simplified(&graph, &Outputs { shared: Some(root), shared_gradient, ..Outputs::default() })
    }

    /// The sum of a per-row value and a shared value, both with their gradients.
    fn posterior(graph: &Graph, roots: [NodeId; 2], leaves: &[NodeId]) -> Result<Self, Reason> {
        let (mut graph, [row, shared], leaves) = stable(graph, roots, leaves)?;
        let sum = sum_with_gradient(&mut graph, row, &leaves)?;
        let shared_gradient = shared_gradient(&mut graph, shared, &leaves)?;
        Self::simplified(&graph, &Outputs { shared: Some(shared), shared_gradient, ..sum })
    }

    fn simplified(graph: &Graph, outputs: &Outputs) -> Result<Self, Reason> {
        let roots: Vec<NodeId> = outputs.roots().collect();
        let simplified = optimise(graph, &roots)?;
        let lowered = lower(&simplified.graph, &simplified.roots)?;
        let nodes = [simplified.before, lowered.after];
        Ok(Self { graph: lowered.graph, outputs: outputs.renamed(lowered.roots), nodes })
    }
}

/// The sum of `root` over the rows, all of weight one, and its gradient.
fn sum_with_gradient(graph: &mut Graph, root: NodeId, leaves: &[NodeId]) -> Result<Outputs, Reason> {
    let seed = if graph.shape(root).rows {
        graph.scalar(1.0)
    } else {
        let weight = graph.weight();
        graph.sum_rows(weight)
    };
    let gradient = differentiate(graph, root, seed, leaves, RowSums::Sum)?;
    Ok(Outputs { total: Some(root), gradient, ..Outputs::default() })
}

fn shared_gradient(graph: &mut Graph, root: NodeId, leaves: &[NodeId]) -> Result<Vec<Option<NodeId>>, Reason> {
    let seed = graph.scalar(1.0);
    Ok(differentiate(graph, root, seed, leaves, RowSums::Sum)?)
}

/// The graph of `roots` in numerically stable form, with the leaves found again.
fn stable<const N: usize>(
    graph: &Graph,
    roots: [NodeId; N],
    leaves: &[NodeId],
) -> Result<(Graph, [NodeId; N], Vec<NodeId>), Reason> {
    let all: Vec<NodeId> = roots.iter().chain(leaves).copied().collect();
    let stable = stabilise(graph, &all)?;
    let mut found = stable.roots.into_iter();
    let roots = roots.map(|root| found.next().unwrap_or(root));
    Ok((stable.graph, roots, found.collect()))
}
