//! The main loop of a chain: steps, draws, checkpoints, progress reports and the result.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sgmcmc_gradient::{Error, Result};

use super::checkpoint::{Checkpointer, Cursor};
use super::guard::guard;
use super::plan::Plan;
use super::progress::{ChainStage, ProgressClock, QualityBoard, Reading, Watch};
use crate::chain::{Chain, Cost, StepInfo};
use crate::prediction::{EVALUATIONS, PredictionPlan};
use sgmcmc_fit::sink::{Draw, Sink};
use sgmcmc_fit::{Bias, ChainOutcome};

/// The settings of one chain that its [`Chain`] and its sink do not contain.
pub(super) struct Task<'a> {
    /// The index of the run.
    pub(super) index: usize,
    /// The names of the statistics of each draw.
    pub(super) stats: &'a [String],
    /// Saves the chain, if checkpoints are enabled.
    pub(super) checkpointer: Option<Checkpointer>,
    /// The length of a turn, if there are more chains than threads.
    pub(super) turn: Option<Duration>,
    /// The quality of the draws of all chains, if progress is reported.
    pub(super) board: Option<Arc<QualityBoard>>,
}

/// A chain that makes its steps in one or several turns.
pub(super) struct RunningChain<S> {
    run: Run,
    sink: S,
    draws: usize,
    checkpointer: Option<Checkpointer>,
    clock: ProgressClock,
}

impl<S: Sink> RunningChain<S> {
    /// Creates a chain that passes `draws` draws to `sink`, from its last checkpoint if there is one.
    ///
    /// With interleaved chains `draws` is their total number, a multiple of the number of chains.
    ///
    /// # Errors
    ///
    /// Returns an error if the checkpoint belongs to another run.
    pub(super) fn new(chain: Box<dyn Chain>, mut sink: S, plan: &Plan, draws: usize, task: Task<'_>) -> Result<Self> {
        let start = Instant::now();
        let Task { index, stats, mut checkpointer, turn, board } = task;
        let begin = if plan.threshold.is_some() { None } else { Some(plan.burn_in) };
        let cursor = Cursor { draws: 0, begin, steps: [0.0; 2], undefined: 0, undefined_now: 0, seconds: 0.0 };
        let values = vec![0.0; chain.layout().value_count()];
        let watch = board.map(|board| Watch::new(board, index, chain.as_ref(), stats));
        let stats = vec![0.0; stats.len()];
        let mut run = Run { values, stats, chain, cursor, computing: Duration::ZERO, phase: Phase::Step, watch };
        if let Some(checkpointer) = &mut checkpointer {
            let restored = guard(|| "a sink".into(), || checkpointer.restore(run.chain.as_mut(), &mut sink, draws))?;
            run.cursor = restored.unwrap_or(run.cursor);
        }
        let first = run.chain.info().iterations;
        let clock = ProgressClock::new(plan.progress.clone(), turn, index, first, plan.iterations(draws));
        run.computing = Duration::try_from_secs_f64(run.cursor.seconds).unwrap_or_default() + start.elapsed();
        Ok(Self { run, sink, draws, checkpointer, clock })
    }

    /// Returns the number of iterations so far.
    pub(super) fn iteration(&self) -> u64 {
        self.run.chain.info().iterations
    }

    /// Performs steps until the turn is over, or until the chain has ended. Returns the outcome of a chain that has
    /// ended.
    pub(super) fn take_turn(&mut self, plan: &Plan) -> Option<ChainOutcome> {
        self.clock.begin_turn(self.iteration());
        let Self { run, sink, draws, checkpointer, clock, .. } = self;
        let outcome = catch(run, |run| run.advance(sink, plan, *draws, checkpointer.as_mut(), clock));
        self.run.computing += self.clock.in_turn();
        outcome.unwrap_or_else(|error| Some(ChainOutcome::Failed(error)))
    }

    /// Reports the end of the chain and returns its result.
    ///
    /// # Errors
    ///
    /// Returns an error if [`Sink::finish`] panics.
    pub(super) fn end(mut self, plan: &Plan, outcome: ChainOutcome) -> Result<ChainResult<S::Output>> {
        let start = Instant::now();
        let iterations = self.iteration();
        let stage = match &outcome {
            ChainOutcome::Complete => ChainStage::Complete,
            ChainOutcome::Stopped => ChainStage::Stopped,
            ChainOutcome::Failed(_) => ChainStage::Failed,
        };
        let reported = guard(
            || Phase::Report.describe(iterations),
            || {
                self.clock.report(self.run.reading(stage));
                Ok(())
            },
        );
        let outcome = match (outcome, reported) {
            (ChainOutcome::Complete | ChainOutcome::Stopped, Err(error)) => ChainOutcome::Failed(error),
            (outcome, _) => outcome,
        };
        let bias = guard(
            || "the model, or a closure of the algorithm, in the prediction of the bias".into(),
            || Ok(self.run.predict_bias(plan, &outcome)),
        );
        let bias = bias.unwrap_or_else(|error| Bias::NotExamined(error.to_string()));
        let output = guard(|| "the end of a sink".into(), || Ok(self.sink.finish()))?;
        let (cost, undefined) = (self.run.chain.cost(), self.run.cursor.undefined);
        let seconds = (self.run.computing + start.elapsed()).as_secs_f64();
        Ok(ChainResult { output, outcome, iterations, undefined, cost, bias, seconds })
    }

    /// Saves a chain that ends because another one has an error. Its own errors are of no use then.
    pub(super) fn abandon(mut self) {
        let _ = catch(&mut self.run, |run| run.save(&mut self.sink, self.checkpointer.as_mut(), Duration::ZERO));
    }
}

/// Calls `call` with `run`. Converts a panic into an error that names the phase of the iteration.
fn catch<T>(run: &mut Run, call: impl FnOnce(&mut Run) -> Result<T>) -> Result<T> {
    let caught = guard(String::new, || call(run));
    caught.map_err(|error| match error {
        Error::Panicked { message, .. } => {
            Error::Panicked { what: run.phase.describe(run.chain.info().iterations), message }
        }
        other => other,
    })
}

/// The current part of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Step,
    Record,
    Save,
    Report,
}

impl Phase {
    /// Describes the phase after `iterations` iterations.
    fn describe(self, iterations: u64) -> String {
        let what = match self {
            Self::Step => "a schedule, an update or another closure of a step",
            Self::Record => "a sink that took a draw",
            Self::Save => "a sink that was saved",
            Self::Report => "the progress reporter",
        };
        format!("{what} (after iteration {iterations})")
    }
}

/// Returns the result of a chain that failed with `error` before its first step.
///
/// # Errors
///
/// Returns an error if [`Sink::finish`] panics.
pub(super) fn failed<S: Sink>(sink: S, error: Error) -> Result<ChainResult<S::Output>> {
    let output = guard(|| "the end of a sink".into(), || Ok(sink.finish()))?;
    let bias = Bias::NotExamined("a chain did not start".into());
    let outcome = ChainOutcome::Failed(error);
    Ok(ChainResult { output, outcome, iterations: 0, undefined: 0, cost: Cost::default(), bias, seconds: 0.0 })
}

/// The result of a chain that has ended: the output of its sink and its cost.
pub(super) struct ChainResult<O> {
    pub(super) output: O,
    pub(super) outcome: ChainOutcome,
    pub(super) iterations: u64,
    /// The number of iterations whose log posterior was not finite.
    pub(super) undefined: u64,
    pub(super) cost: Cost,
    pub(super) bias: Bias,
    pub(super) seconds: f64,
}

impl<O> ChainResult<Vec<O>> {
    /// Splits the result into the interleaved chains, each with its share of the cost and the outcome of the run.
    pub(super) fn split_interleaved(self) -> impl Iterator<Item = ChainResult<O>> {
        let Self { output, outcome, iterations, undefined, cost, bias, seconds } = self;
        let chains = output.len();
        output.into_iter().enumerate().map(move |(chain, output)| ChainResult {
            output,
            outcome: outcome.clone(),
            iterations: share(iterations, chains, chain),
            undefined: share(undefined, chains, chain),
            cost: Cost { gradients: share(cost.gradients, chains, chain), ..cost },
            bias: bias.clone(),
            seconds: seconds / chains as f64,
        })
    }
}

/// Returns part number `part` of `total` divided by `parts`. The remainder goes to the first parts.
fn share(total: u64, parts: usize, part: usize) -> u64 {
    let parts = parts as u64;
    total / parts + u64::from((part as u64) < total % parts)
}

/// A chain with its buffers and its progress.
struct Run {
    chain: Box<dyn Chain>,
    values: Vec<f64>,
    stats: Vec<f64>,
    cursor: Cursor,
    /// The time of the starts and of all turns, also of those before the run was resumed.
    computing: Duration,
    phase: Phase,
    /// The parts of progress reports that are collected with the draws.
    watch: Option<Watch>,
}

/// The least number of gradient estimates of a chain whose bias is predicted. The prediction then costs at most about a
/// tenth of the run.
const LEAST_ESTIMATES: u64 = 400;

/// The largest number of observations in a product with the curvature.
const MOST_OBSERVATIONS: usize = 4096;

impl Run {
    /// Predicts the bias of a chain that did not fail, at a cost in proportion to that of the run.
    fn predict_bias(&mut self, plan: &Plan, outcome: &ChainOutcome) -> Bias {
        let Cost { gradients, minibatch } = self.chain.cost();
        if self.chain.is_exact() {
            return Bias::Exact;
        }
        if !plan.predicts_bias || matches!(outcome, ChainOutcome::Failed(_)) {
            return Bias::NotExamined("a chain did not end well".into());
        }
        if gradients < LEAST_ESTIMATES {
            return Bias::NotExamined(format!("a chain made fewer than {LEAST_ESTIMATES} gradient estimates"));
        }
        let all = self.chain.observations();
        let per_gradient = if minibatch == 0 { all } else { minibatch };
        // A twentieth of the gradients of single observations that the run evaluated.
        let budget = gradients.saturating_mul(per_gradient as u64) / (20 * EVALUATIONS as u64);
        let observations = (budget as usize).clamp(per_gradient.min(MOST_OBSERVATIONS), MOST_OBSERVATIONS).min(all);
        let last = self.chain.info().step_size;
        let step_scale =
            if self.cursor.steps[0] > 0.0 { self.cursor.steps[1] / (self.cursor.steps[0] * last) } else { 1.0 };
        let plan = PredictionPlan { observations, step_scale };
        self.chain.predict_bias(&plan).unwrap_or_else(|error| Bias::NotExamined(error.to_string()))
    }

    /// Performs steps until there are `draws` draws, the run is stopped, or the turn is over, for which it returns `None`.
    fn advance<S: Sink>(
        &mut self,
        sink: &mut S,
        plan: &Plan,
        draws: usize,
        mut checkpointer: Option<&mut Checkpointer>,
        clock: &mut ProgressClock,
    ) -> Result<Option<ChainOutcome>> {
        let chains = self.chain.interleaved_chains() as u64;
        while self.cursor.draws < draws {
            if plan.stop.is_set() {
                self.save(sink, checkpointer, clock.in_turn())?;
                return Ok(Some(ChainOutcome::Stopped));
            }
            self.phase = Phase::Step;
            self.chain.step()?;
            let info = self.chain.info();
            self.count_undefined(&info, plan)?;
            if self.cursor.begin.is_none() {
                self.cursor.begin = self.first_iteration(plan, info.iterations)?;
            }
            let after = self.cursor.begin.map_or(0, |begin| info.iterations.saturating_sub(begin));
            // A round moves every interleaved chain once. Rounds are kept or discarded as a whole.
            if after > 0 && after.div_ceil(chains).is_multiple_of(plan.thin) && info.keeps_draw {
                self.record(sink, plan)?;
            }
            if checkpointer.as_mut().is_some_and(|checkpointer| checkpointer.is_due()) {
                self.save(sink, checkpointer.as_deref_mut(), clock.in_turn())?;
            }
            self.phase = Phase::Report;
            let due = clock.read(info.iterations);
            if due.report_is_due {
                let stage = if after == 0 {
                    ChainStage::BurnIn
                } else if info.keeps_draw {
                    ChainStage::Sampling
                } else {
                    ChainStage::Adaptation
                };
                clock.report(self.reading(stage));
            }
            if due.turn_is_over && self.cursor.draws < draws {
                return Ok(None);
            }
        }
        self.save(sink, checkpointer, clock.in_turn())?;
        Ok(Some(ChainOutcome::Complete))
    }

    /// Returns the parts of a progress report that come from the chain.
    fn reading(&mut self, stage: ChainStage) -> Reading {
        let StepInfo { iterations: iteration, log_posterior, .. } = self.chain.info();
        let (divergences, quality) = self.watch.as_ref().map_or((0, None), Watch::read);
        let is_estimate = self.chain.cost().minibatch > 0;
        Reading { iteration, log_posterior, is_estimate, stage, divergences, quality }
    }

    /// Counts iterations without a finite log posterior.
    ///
    /// # Errors
    ///
    /// Returns an error if there were too many in a row.
    fn count_undefined(&mut self, info: &StepInfo, plan: &Plan) -> Result<()> {
        if info.log_posterior.is_finite() {
            self.cursor.undefined_now = 0;
            return Ok(());
        }
        self.cursor.undefined += 1;
        self.cursor.undefined_now += 1;
        if self.cursor.undefined_now < plan.non_finite_limit {
            return Ok(());
        }
        let (iterations, iteration) = (self.cursor.undefined_now, info.iterations);
        Err(Error::Undefined { value: info.log_posterior, iterations, iteration })
    }

    /// Passes the current draw to `sink`.
    fn record<S: Sink>(&mut self, sink: &mut S, plan: &Plan) -> Result<()> {
        self.chain.stats(&mut self.stats);
        if let (Some(threshold), Some(alpha)) = (plan.threshold, self.stats.last_mut()) {
            *alpha = threshold.measure(self.chain.as_mut())?;
        }
        let StepInfo { iterations, log_posterior, step_size, .. } = self.chain.info();
        let (layout, position) = (self.chain.layout(), self.chain.position());
        // Without constraints the coordinates are the values.
        let values = if layout.is_constrained() {
            layout.values_into(position, &mut self.values)?;
            &self.values
        } else {
            position
        };
        let stats = &self.stats;
        self.phase = Phase::Record;
        sink.record(&Draw { iteration: iterations, values, weight: step_size, log_posterior, stats })?;
        if let Some(watch) = &mut self.watch {
            watch.record(iterations, values, stats);
        }
        self.cursor.draws += 1;
        self.cursor.steps = [self.cursor.steps[0] + step_size, self.cursor.steps[1] + step_size * step_size];
        Ok(())
    }

    /// Returns the iteration after which draws are kept, if the sampling threshold is reached.
    fn first_iteration(&mut self, plan: &Plan, iteration: u64) -> Result<Option<u64>> {
        let Some(threshold) = plan.threshold else { return Ok(Some(plan.burn_in)) };
        let waited = iteration.saturating_sub(plan.burn_in);
        if iteration < plan.burn_in || !waited.is_multiple_of(threshold.every) {
            return Ok(None);
        }
        let alpha = threshold.measure(self.chain.as_mut())?;
        if waited >= threshold.limit {
            let value = format!("{alpha} after {waited} iterations");
            let expected = "it stays above the sampling threshold: use a smaller or falling step size, larger minibatches, or \
                            control variates where there are none";
            return Err(Error::Setting { name: "the ratio of gradient noise to injected noise", value, expected });
        }
        Ok((alpha < threshold.alpha).then_some(iteration))
    }

    /// Saves the chain if checkpoints are enabled, and flushes the sink. `in_turn` is the time since the begin of the turn.
    fn save<S: Sink>(
        &mut self,
        sink: &mut S,
        checkpointer: Option<&mut Checkpointer>,
        in_turn: Duration,
    ) -> Result<()> {
        self.phase = Phase::Save;
        self.cursor.seconds = (self.computing + in_turn).as_secs_f64();
        if let Some(checkpointer) = checkpointer {
            checkpointer.save(self.chain.as_ref(), sink, self.cursor)?;
        }
        sink.flush()
    }
}
