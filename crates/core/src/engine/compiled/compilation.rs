//! The compilation of a model: its graphs, differentiated and simplified.

use std::fmt::Write;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use sgmcmc_compiler::differentiate::{RowAdjoint, differentiate};
use sgmcmc_compiler::graph::{Graph, NodeId, Op};
use sgmcmc_compiler::optimize::{expand_composites, optimize, stabilize};
use sgmcmc_compiler::program::{Outputs, Plan, Program, Real};

use super::capture::{Captured, Signature};
use super::compile_error::CompileError;
use sgmcmc_gradient::fingerprint::{Fingerprint, Fingerprinter};
use sgmcmc_gradient::layout::Layout;

/// A graph and its outputs.
#[derive(Debug)]
pub(super) struct Subgraph {
    graph: Graph,
    outputs: Outputs,
    /// The number of nodes before and after simplification.
    pub(super) nodes: [usize; 2],
}

/// The derivative of a value per observation.
#[derive(Clone, Copy, Debug)]
enum Derivative {
    /// No derivative.
    None,
    /// The gradient of the sum.
    Gradient,
    /// The gradient of the weighted sum.
    WeightedGradient,
    /// The gradient of each observation.
    RowGradients,
}

/// The subgraphs of a model.
#[derive(Debug)]
pub(super) struct Compilation {
    pub(super) layout: Layout,
    /// The recording, to compare with recordings at other numbers of observations.
    pub(super) signature: Signature,
    /// The number of operations that Burn recorded.
    pub(super) operations: usize,
    /// The fingerprint of the graph before differentiation.
    pub(super) fingerprint: Fingerprint,
    /// True if the closure returns the sum of the log-likelihood over the observations.
    pub(super) summed: bool,
    /// The terms log p(xᵢ|θ) and the gradient of Σ log p(xᵢ|θ).
    pub(super) likelihood: Option<Subgraph>,
    /// The log-prior with the log-Jacobian, and its gradient.
    pub(super) prior: Option<Subgraph>,
    /// Both `likelihood` and `prior`, if the model has both.
    pub(super) posterior: Option<Subgraph>,
    /// The graph from which the subgraphs are derived.
    model: StableGraph,
    /// Subgraphs that are derived on first use.
    lazy: OnceLock<Result<LazySubgraphs, CompileError>>,
    /// The number of observations of the data.
    observations: usize,
    /// The model with the first steps of its loops, if it has long loops, for comparisons with the eager engine.
    pub(super) brief: Option<Arc<Compilation>>,
    /// The model with more steps of its loops, and their number, until the comparison with the eager engine.
    pub(super) longer: Option<(Box<Compilation>, usize)>,
}

/// Subgraphs that are derived on first use, because many chains do not need them.
#[derive(Debug)]
pub(super) struct LazySubgraphs {
    /// The terms log p(xᵢ|θ) and the gradient of Σ wᵢ log p(xᵢ|θ).
    pub(super) weighted: Option<Subgraph>,
    /// The terms log p(xᵢ|θ) without a gradient.
    pub(super) log_likelihood_per_observation: Option<Subgraph>,
    /// The gradient of each log p(xᵢ|θ).
    pub(super) gradient_per_observation: Option<Subgraph>,
    /// The log-prior with the log-Jacobian, without its gradient.
    pub(super) prior_value: Option<Subgraph>,
}

/// Returns the hash of the nodes of a graph, its constants and its outputs.
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

/// The graph of the closures in numerically stable form.
#[derive(Debug)]
struct StableGraph {
    graph: Graph,
    leaves: Vec<NodeId>,
    likelihood: Option<NodeId>,
    prior: Option<NodeId>,
}

impl Compilation {
    /// Differentiates and simplifies the graph of a model.
    ///
    /// # Errors
    ///
    /// Returns the error of the compiler.
    pub(super) fn new(captured: Captured, layout: Layout, observations: usize) -> Result<Self, CompileError> {
        let Captured { graph, parameters, likelihood, prior, operations, signature, brief, longer } = captured;
        let part = |part: Captured| Self::new(part, layout.clone(), observations);
        let brief = brief.map(|brief| part(*brief).map(Arc::new)).transpose()?;
        let longer = match longer {
            Some((longer, steps)) => Some((Box::new(part(*longer)?), steps)),
            None => None,
        };
        let summed = likelihood.is_some_and(|likelihood| likelihood.summed);
        let model = StableGraph::new(&graph, likelihood.map(|likelihood| likelihood.node), prior, &parameters)?;
        let both = (model.likelihood, model.prior);
        Ok(Self {
            layout,
            signature,
            operations,
            fingerprint: fingerprint(&graph, [likelihood.map(|likelihood| likelihood.node), prior]),
            summed,
            likelihood: both.0.map(|root| model.rows(root, Derivative::Gradient)).transpose()?,
            prior: both.1.map(|root| model.shared(root, true)).transpose()?,
            posterior: if let (Some(row), Some(shared)) = both { Some(model.posterior(row, shared)?) } else { None },
            model,
            lazy: OnceLock::new(),
            observations,
            brief,
            longer,
        })
    }

    /// Returns the subgraphs that are derived on first use.
    pub(super) fn lazy(&self) -> Result<&LazySubgraphs, CompileError> {
        self.lazy.get_or_init(|| self.model.lazy()).as_ref().map_err(Clone::clone)
    }

    /// Returns the coordinates of each parameter.
    fn leaves(&self) -> Vec<Range<usize>> {
        self.layout.blocks().iter().map(|block| block.range.clone()).collect()
    }

    /// Compiles a program with its own buffers.
    pub(super) fn program<T: Real>(&self, subgraph: &Option<Subgraph>) -> Result<Option<Program<T>>, CompileError> {
        let compile = |subgraph: &Subgraph| {
            Program::compile_for(&subgraph.graph, &subgraph.outputs, &self.leaves(), self.observations)
        };
        subgraph.as_ref().map(compile).transpose().map_err(CompileError::from)
    }

    /// Returns the plans of the programs with gradients.
    pub(super) fn plans<T: Real>(&self) -> Result<Vec<SubgraphPlan>, CompileError> {
        let subgraphs = if self.posterior.is_some() {
            vec![("log-posterior and gradient", &self.posterior)]
        } else {
            vec![("log-likelihood and gradient", &self.likelihood), ("log-prior and gradient", &self.prior)]
        };
        let mut plans = Vec::new();
        for (name, subgraph) in subgraphs {
            if let (Some(found), Some(program)) = (subgraph, self.program::<T>(subgraph)?) {
                plans.push(SubgraphPlan { name, nodes: found.nodes, plan: program.plan().clone() });
            }
        }
        Ok(plans)
    }
}

/// The plan of the program of a subgraph.
#[derive(Debug)]
pub(super) struct SubgraphPlan {
    pub(super) name: &'static str,
    /// The number of nodes before and after simplification.
    pub(super) nodes: [usize; 2],
    pub(super) plan: Plan,
}

impl StableGraph {
    /// Stabilizes a graph with these outputs.
    fn new(
        graph: &Graph,
        likelihood: Option<NodeId>,
        prior: Option<NodeId>,
        leaves: &[NodeId],
    ) -> Result<Self, CompileError> {
        let roots: Vec<NodeId> = likelihood.iter().chain(&prior).chain(leaves).copied().collect();
        let stable = stabilize(graph, &roots)?;
        let mut found = stable.roots.into_iter();
        let mut next = |root: Option<NodeId>| root.and_then(|_| found.next());
        let (likelihood, prior) = (next(likelihood), next(prior));
        Ok(Self { graph: stable.graph, likelihood, prior, leaves: found.collect() })
    }

    /// Derives the subgraphs that many chains do not need.
    fn lazy(&self) -> Result<LazySubgraphs, CompileError> {
        let rows = |derivative| self.likelihood.map(|root| self.rows(root, derivative)).transpose();
        Ok(LazySubgraphs {
            weighted: rows(Derivative::WeightedGradient)?,
            log_likelihood_per_observation: rows(Derivative::None)?,
            gradient_per_observation: rows(Derivative::RowGradients)?,
            prior_value: self.prior.map(|root| self.shared(root, false)).transpose()?,
        })
    }

    /// Derives the subgraph of the value per observation `root` and its derivative.
    fn rows(&self, root: NodeId, derivative: Derivative) -> Result<Subgraph, CompileError> {
        let mut graph = self.graph.clone();
        let outputs = match derivative {
            Derivative::None => Outputs { row: Some(root), ..Outputs::default() },
            Derivative::RowGradients => {
                let seed = graph.scalar(1.0);
                let gradient = differentiate(&mut graph, root, seed, &self.leaves, RowAdjoint::Keep)?;
                Outputs { gradient, ..Outputs::default() }
            }
            Derivative::WeightedGradient => {
                let weight = graph.weight();
                // A value that is shared by all observations has the sum of the weights as its weight.
                let seed = if graph.shape(root).rows { weight } else { graph.sum_rows(weight) };
                let gradient = differentiate(&mut graph, root, seed, &self.leaves, RowAdjoint::Sum)?;
                Outputs { row: Some(root), gradient, ..Outputs::default() }
            }
            Derivative::Gradient => sum_with_gradient(&mut graph, root, &self.leaves)?,
        };
        Subgraph::simplified(&graph, &outputs)
    }

    /// Derives the subgraph of the shared value `root`, with its gradient if `gradient` is true.
    fn shared(&self, root: NodeId, gradient: bool) -> Result<Subgraph, CompileError> {
        let mut graph = self.graph.clone();
        let shared_gradient = if gradient { shared_gradient(&mut graph, root, &self.leaves)? } else { vec![] };
        Subgraph::simplified(&graph, &Outputs { shared: Some(root), shared_gradient, ..Outputs::default() })
    }

    /// Derives the subgraph of the value per observation `row` and the shared value `shared`, both with their
    /// gradients.
    fn posterior(&self, row: NodeId, shared: NodeId) -> Result<Subgraph, CompileError> {
        let mut graph = self.graph.clone();
        let sum = sum_with_gradient(&mut graph, row, &self.leaves)?;
        let shared_gradient = shared_gradient(&mut graph, shared, &self.leaves)?;
        Subgraph::simplified(&graph, &Outputs { shared: Some(shared), shared_gradient, ..sum })
    }
}

impl Subgraph {
    /// Simplifies a graph.
    fn simplified(graph: &Graph, outputs: &Outputs) -> Result<Self, CompileError> {
        let roots: Vec<NodeId> = outputs.roots().collect();
        let simplified = optimize(graph, &roots)?;
        let lowered = expand_composites(&simplified.graph, &simplified.roots)?;
        let nodes = [simplified.before, lowered.after];
        Ok(Self { graph: lowered.graph, outputs: outputs.renamed(lowered.roots), nodes })
    }
}

/// Adds the gradient of the unweighted sum of `root` over the observations, and returns the outputs.
fn sum_with_gradient(graph: &mut Graph, root: NodeId, leaves: &[NodeId]) -> Result<Outputs, CompileError> {
    let seed = if graph.shape(root).rows {
        graph.scalar(1.0)
    } else {
        let weight = graph.weight();
        graph.sum_rows(weight)
    };
    let gradient = differentiate(graph, root, seed, leaves, RowAdjoint::Sum)?;
    Ok(Outputs { total: Some(root), gradient, ..Outputs::default() })
}

/// Adds the gradient of the shared value `root`.
fn shared_gradient(graph: &mut Graph, root: NodeId, leaves: &[NodeId]) -> Result<Vec<Option<NodeId>>, CompileError> {
    let seed = graph.scalar(1.0);
    Ok(differentiate(graph, root, seed, leaves, RowAdjoint::Sum)?)
}
