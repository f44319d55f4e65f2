//! The chains of a run: started and run in parallel, each with its sink and its checkpoints.

use rayon::prelude::*;
use sgmcmc_gradient::{Layout, Result};

use super::checkpoint::{Checkpointer, RunFingerprint};
use super::driver::{self, ChainResult, Task};
use super::files;
use super::guard::guard;
use super::plan::Plan;
use crate::chain::Chain;
use sgmcmc_fit::sink::{Interleaved, Schema, Sink};
use sgmcmc_fit::{Bias, ChainDraws, ChainOutcome, Fit, RunInfo};

/// The settings that all chains of a run share.
pub(super) struct ChainGroup<'a> {
    pub(super) plan: &'a Plan,
    pub(super) layout: Layout,
    /// The names of the statistics of each draw.
    pub(super) stats: Vec<String>,
    /// The number of interleaved Markov chains of each chain.
    pub(super) interleaved: usize,
    /// The number of draws of each chain, a multiple of `interleaved`.
    pub(super) draws: usize,
}

/// A chain before its start.
pub(super) struct PendingChain<C> {
    /// Everything that the chain is created from.
    pub(super) start: C,
    /// The fingerprint in checkpoints of the chain. `None` without checkpoints.
    pub(super) fingerprint: Option<RunFingerprint>,
}

/// A chain that has ended.
struct Finished<O> {
    result: ChainResult<O>,
    /// True if the chain reached its first step.
    started: bool,
}

impl ChainGroup<'_> {
    /// Creates the chains with `start`, each on the thread that runs it, and runs them. The result has one entry per
    /// recorded chain.
    ///
    /// A chain that cannot start ends with its error, and the others run.
    ///
    /// # Errors
    ///
    /// Returns an error if no chain can start, and the errors of checkpoints.
    pub(super) fn run<C: Send, S: Sink>(
        &self,
        chains: Vec<PendingChain<C>>,
        start: impl Fn(C, usize) -> Result<Box<dyn Chain>> + Sync,
        sink: impl Fn(usize) -> S + Sync,
    ) -> Result<Vec<ChainResult<S::Output>>> {
        let first = self.plan.chain_indices().start;
        let make = |run| Interleaved::new(run, self.interleaved, &sink);
        let sinks: Vec<_> =
            guard(|| "the closure that makes sinks".into(), || Ok((first..first + chains.len()).map(make).collect()))?;
        files::check_distinct(&sinks)?;
        let run = |(index, (chain, sink))| self.run_chain(first + index, chain, &start, sink);
        // The indexed iterator keeps the results in the order of the chains. The scope moves a single chain to a thread
        // of the pool, where splitting its work is cheapest.
        let tasks: Vec<_> = chains.into_iter().zip(sinks).collect();
        let runs: Result<Vec<Finished<_>>> = rayon::scope(|_| tasks.into_par_iter().enumerate().map(run).collect());
        let runs = runs?;
        if runs.iter().all(|run| !run.started)
            && let Some(ChainOutcome::Failed(error)) = runs.first().map(|run| &run.result.outcome)
        {
            return Err(error.clone());
        }
        Ok(runs.into_iter().flat_map(|run| run.result.split_interleaved()).collect())
    }

    /// Creates and runs chain number `index`.
    fn run_chain<C, S: Sink>(
        &self,
        index: usize,
        chain: PendingChain<C>,
        start: impl Fn(C, usize) -> Result<Box<dyn Chain>>,
        mut sink: S,
    ) -> Result<Finished<S::Output>> {
        let Self { plan, layout, stats, draws, .. } = self;
        let PendingChain { start: from, fingerprint } = chain;
        let started = guard(
            || "a closure of the first step".into(),
            || {
                let schema = Schema { layout: layout.clone(), draws: *draws, chain: index, stats: stats.clone() };
                sink.begin(&schema)?;
                start(from, index)
            },
        );
        match started {
            Ok(chain) => {
                let checkpoints = fingerprint.zip(plan.checkpoints.clone());
                let checkpointer =
                    checkpoints.map(|(fingerprint, checkpoints)| Checkpointer::new(checkpoints, fingerprint));
                let task = Task { index, stats: stats.len(), checkpointer };
                let result = driver::run_chain(chain, sink, plan, *draws, task)?;
                Ok(Finished { result, started: true })
            }
            // The draws of the other chains are in their checkpoints. Ending the sink of this chain could replace its
            // files.
            Err(error) if fingerprint.is_some() => Err(error),
            Err(error) => Ok(Finished { result: driver::failed(sink, error)?, started: false }),
        }
    }
}

/// Rounds `draws` up so that all of `interleaved` chains have the same number of draws.
pub(super) fn whole_rounds(draws: usize, interleaved: usize) -> usize {
    draws.div_ceil(interleaved).saturating_mul(interleaved)
}

/// Returns the settings in `plan` and the cost of `chains`. The description of the algorithm is empty.
pub(super) fn info<O>(plan: &Plan, chains: &[ChainResult<O>]) -> RunInfo {
    let minibatch = chains.first().map_or(0, |chain| chain.cost.minibatch);
    RunInfo {
        minibatch: (minibatch > 0).then_some(minibatch as f64),
        seed: plan.seed,
        burn_in: plan.burn_in,
        thin: plan.thin,
        iterations: chains.iter().map(|chain| chain.iterations).collect(),
        gradients: chains.iter().map(|chain| chain.cost.gradients).collect(),
        undefined: chains.iter().map(|chain| chain.undefined).collect(),
        seconds: chains.iter().map(|chain| chain.seconds).collect(),
        bias: Bias::worst(chains.iter().map(|chain| chain.bias.clone())),
        tuning: None,
        version: env!("CARGO_PKG_VERSION").into(),
        ..RunInfo::default()
    }
}

/// Returns the fit of `chains`.
///
/// # Errors
///
/// Returns an error if the draws do not have the layout.
pub(super) fn fit(layout: Layout, chains: Vec<ChainResult<ChainDraws>>, info: RunInfo) -> Result<Fit> {
    let (draws, outcomes) = chains.into_iter().map(|chain| (chain.output, chain.outcome)).unzip();
    Ok(Fit::new(layout, draws)?.with_outcomes(outcomes)?.with_info(info))
}
