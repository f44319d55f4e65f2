//! The chains of a run: started and run in parallel, each with its sink and its checkpoints.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use sgmcmc_gradient::{Layout, Result};

use super::checkpoint::{Checkpointer, RunFingerprint};
use super::driver::{self, ChainResult, RunningChain, Task};
use super::files;
use super::guard::guard;
use super::plan::Plan;
use super::progress::{Progress, ProgressOption, QualityBoard};
use super::turns::{self, Turn, TurnTaker};
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
        let watched = matches!(self.plan.progress, ProgressOption::By(..));
        let shared = Shared {
            group: self,
            start,
            turn: (turns::threads(chains.len()) < chains.len()).then_some(TURN),
            board: watched.then(|| Arc::new(QualityBoard::new(first, chains.len()))),
        };
        self.report_waiting(first..first + chains.len());
        let members = chains.into_iter().zip(sinks).enumerate();
        let members = members.map(|(index, (chain, sink))| Member {
            shared: &shared,
            index: first + index,
            state: State::Pending(Box::new((chain, sink))),
        });
        let runs: Vec<Finished<_>> = turns::run(members.collect())?;
        if runs.iter().all(|run| !run.started)
            && let Some(ChainOutcome::Failed(error)) = runs.first().map(|run| &run.result.outcome)
        {
            return Err(error.clone());
        }
        Ok(runs.into_iter().flat_map(|run| run.result.split_interleaved()).collect())
    }

    /// Reports that the chains wait for their start.
    fn report_waiting(&self, chains: Range<usize>) {
        let ProgressOption::By(reporter, _) = &self.plan.progress else { return };
        let total = self.plan.iterations(self.draws);
        let report = || {
            chains.for_each(|chain| reporter.report(&Progress::waiting(chain, total)));
            Ok(())
        };
        // A reporter that panics does so again when a chain calls it, and ends that chain.
        let _ = guard(|| "the progress reporter".into(), report);
    }
}

/// The length of the turn of a chain, if there are more chains than threads.
const TURN: Duration = Duration::from_millis(100);

/// The parts that all chains of a run share.
struct Shared<'a, F> {
    group: &'a ChainGroup<'a>,
    /// Creates a chain.
    start: F,
    turn: Option<Duration>,
    board: Option<Arc<QualityBoard>>,
}

/// A chain between its turns.
struct Member<'a, C, S, F> {
    shared: &'a Shared<'a, F>,
    index: usize,
    state: State<C, S>,
}

/// The state of a chain between its turns.
enum State<C, S> {
    Pending(Box<(PendingChain<C>, S)>),
    Running(Box<RunningChain<S>>),
}

impl<C: Send, S: Sink, F> TurnTaker for Member<'_, C, S, F>
where
    F: Fn(C, usize) -> Result<Box<dyn Chain>> + Sync,
{
    type Result = Finished<S::Output>;

    fn iteration(&self) -> u64 {
        match &self.state {
            State::Pending(_) => 0,
            State::Running(chain) => chain.iteration(),
        }
    }

    fn take_turn(self) -> Result<Turn<Self>> {
        let Self { shared, index, state } = self;
        let mut chain = match state {
            State::Running(chain) => chain,
            State::Pending(pending) => match shared.start_chain(index, *pending)? {
                Started::Running(chain) => chain,
                Started::Failed(result) => return Ok(Turn::Finished(Finished { result: *result, started: false })),
            },
        };
        let plan = shared.group.plan;
        match chain.take_turn(plan) {
            None => Ok(Turn::Unfinished(Self { shared, index, state: State::Running(chain) })),
            Some(outcome) => Ok(Turn::Finished(Finished { result: chain.end(plan, outcome)?, started: true })),
        }
    }

    fn abandon(self) {
        if let State::Running(chain) = self.state {
            chain.abandon();
        }
    }
}

/// A chain after its start.
enum Started<S: Sink> {
    Running(Box<RunningChain<S>>),
    Failed(Box<ChainResult<S::Output>>),
}

impl<F> Shared<'_, F> {
    /// Creates chain number `index`.
    fn start_chain<C, S: Sink>(&self, index: usize, (chain, mut sink): (PendingChain<C>, S)) -> Result<Started<S>>
    where
        F: Fn(C, usize) -> Result<Box<dyn Chain>>,
    {
        let ChainGroup { plan, layout, stats, draws, .. } = self.group;
        let PendingChain { start: from, fingerprint } = chain;
        let started = guard(
            || "a closure of the first step".into(),
            || {
                let chains = plan.chain_indices().end;
                let (layout, stats) = (layout.clone(), stats.clone());
                let schema = Schema { layout, draws: *draws, chain: index, chains, stats };
                sink.begin(&schema)?;
                (self.start)(from, index)
            },
        );
        match started {
            Ok(chain) => {
                let checkpoints = fingerprint.zip(plan.checkpoints.clone());
                let checkpointer =
                    checkpoints.map(|(fingerprint, checkpoints)| Checkpointer::new(checkpoints, fingerprint, *draws));
                let task = Task { index, stats, checkpointer, turn: self.turn, board: self.board.clone() };
                Ok(Started::Running(Box::new(RunningChain::new(chain, sink, plan, *draws, task)?)))
            }
            // The draws of the other chains are in their checkpoints. Ending the sink of this chain could replace its
            // files.
            Err(error) if fingerprint.is_some() => Err(error),
            Err(error) => Ok(Started::Failed(Box::new(driver::failed(sink, error)?))),
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
