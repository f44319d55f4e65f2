//! What is compiled for a model: its graphs, differentiated and simplified, ready to become programs.

use std::fmt::Write;
use std::ops::Range;
use std::sync::OnceLock;

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
    /// The log-prior with the log-Jacobian, and its gradient.
    pub(super) prior: Option<Part>,
    /// `likelihood` and `prior` in one, where there are both.
    pub(super) posterior: Option<Part>,
    /// What the parts are made from.
    model: Stable,
    /// Made when first asked for.
    others: OnceLock<Result<Others, Reason>>,
}

/// Parts that many chains never need.
#[derive(Debug)]
pub(super) struct Others {
    /// log p(xᵢ|θ) and the gradient of Σ wᵢ log p(xᵢ|θ).
    pub(super) weighted: Option<Part>,
    /// log p(xᵢ|θ) alone.
    pub(super) pointwise: Option<Part>,
    /// The gradient of each log p(xᵢ|θ).
    pub(super) per_datum: Option<Part>,
    /// The log-prior with the log-Jacobian, without its gradient.
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

/// What the closures compute, in numerically stable form.
#[derive(Debug)]
struct Stable {
    graph: Graph,
    leaves: Vec<NodeId>,
    likelihood: Option<NodeId>,
    prior: Option<NodeId>,
}

impl Sheet {
    pub(super) fn new(captured: Captured, layout: Layout) -> Result<Self, Reason> {
        let Captured { graph, parameters, likelihood, prior, operations, signature } = captured;
        let summed = likelihood.is_some_and(|likelihood| likelihood.summed);
        let model = Stable::new(&graph, likelihood.map(|likelihood| likelihood.node), prior, &parameters)?;
        let both = (model.likelihood, model.prior);
        Ok(Self {
            layout,
            signature,
            operations,
            fingerprint: fingerprint(&graph, [likelihood.map(|likelihood| likelihood.node), prior]),
            summed,
            likelihood: both.0.map(|root| model.rows(root, Wanted::Gradient)).transpose()?,
            prior: both.1.map(|root| model.shared(root, true)).transpose()?,
            posterior: if let (Some(row), Some(shared)) = both { Some(model.posterior(row, shared)?) } else { None },
            model,
            others: OnceLock::new(),
        })
    }

    /// The parts that many chains never need.
    pub(super) fn others(&self) -> Result<&Others, Reason> {
        self.others.get_or_init(|| self.model.others()).as_ref().map_err(Clone::clone)
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

impl Stable {
    fn new(
        graph: &Graph,
        likelihood: Option<NodeId>,
        prior: Option<NodeId>,
        leaves: &[NodeId],
    ) -> Result<Self, Reason> {
        let roots: Vec<NodeId> = likelihood.iter().chain(&prior).chain(leaves).copied().collect();
        let stable = stabilise(graph, &roots)?;
        let mut found = stable.roots.into_iter();
        let mut next = |wanted: Option<NodeId>| wanted.and_then(|_| found.next());
        let (likelihood, prior) = (next(likelihood), next(prior));
        Ok(Self { graph: stable.graph, likelihood, prior, leaves: found.collect() })
    }

    fn others(&self) -> Result<Others, Reason> {
        let rows = |wanted| self.likelihood.map(|root| self.rows(root, wanted)).transpose();
        Ok(Others {
            weighted: rows(Wanted::WeightedGradient)?,
            pointwise: rows(Wanted::Values)?,
            per_datum: rows(Wanted::RowGradients)?,
            prior_value: self.prior.map(|root| self.shared(root, false)).transpose()?,
        })
    }

    /// The per-row value `root`, with the gradient that is wanted.
    fn rows(&self, root: NodeId, wanted: Wanted) -> Result<Part, Reason> {
        let mut graph = self.graph.clone();
        let outputs = match wanted {
            Wanted::Values => Outputs { row: Some(root), ..Outputs::default() },
            Wanted::RowGradients => {
                let seed = graph.scalar(1.0);
                let gradient = differentiate(&mut graph, root, seed, &self.leaves, RowSums::Keep)?;
                Outputs { gradient, ..Outputs::default() }
            }
            Wanted::WeightedGradient => {
                let weight = graph.weight();
                // A value that all rows have in common counts as often as there are rows.
                let seed = if graph.shape(root).rows { weight } else { graph.sum_rows(weight) };
                let gradient = differentiate(&mut graph, root, seed, &self.leaves, RowSums::Sum)?;
                Outputs { row: Some(root), gradient, ..Outputs::default() }
            }
            Wanted::Gradient => sum_with_gradient(&mut graph, root, &self.leaves)?,
        };
        Part::simplified(&graph, &outputs)
    }

    /// The shared value `root`, with its gradient if that is wanted.
    fn shared(&self, root: NodeId, gradient: bool) -> Result<Part, Reason> {
        let mut graph = self.graph.clone();
        let shared_gradient = if gradient { shared_gradient(&mut graph, root, &self.leaves)? } else { vec![] };
        Part::simplified(&graph, &Outputs { shared: Some(root), shared_gradient, ..Outputs::default() })
    }

    /// The sum of the per-row value `row` and the shared value `shared`, both with their gradients.
    fn posterior(&self, row: NodeId, shared: NodeId) -> Result<Part, Reason> {
        let mut graph = self.graph.clone();
        let sum = sum_with_gradient(&mut graph, row, &self.leaves)?;
        let shared_gradient = shared_gradient(&mut graph, shared, &self.leaves)?;
        Part::simplified(&graph, &Outputs { shared: Some(shared), shared_gradient, ..sum })
    }
}

impl Part {
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
