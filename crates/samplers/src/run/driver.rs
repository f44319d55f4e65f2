//! The loop: steps, draws, checkpoints, progress, and the end.

use std::time::Instant;

use sgmcmc_core::{Error, Result};

use super::builder::Plan;
use super::checkpoint::{Keeper, Place};
use super::guard::guard;
use super::monitor::Clock;
use crate::fit::{Bias, Ending};
use crate::kernel::{Cost, Kernel, StepInfo};
use crate::prediction::{EVALUATIONS, PredictionPlan};
use crate::sink::{Draw, Sink};

/// A chain that is to be run, besides its kernel and its sink.
pub(super) struct Task {
    /// The number of the run.
    pub(super) chain: usize,
    /// How many numbers come with each draw.
    pub(super) stats: usize,
    /// Saves the chain, if it is to be saved.
    pub(super) keeper: Option<Keeper>,
}

/// Takes all the steps of one run, from its last checkpoint if there is one, and hands its draws to `sink`. With interleaved chains
/// `draws` is the number of all of them together, a multiple of the number of chains.
///
/// # Errors
///
/// If the checkpoint is not of this run, or [`Sink::finish`] panics. Whatever goes wrong later is the [`Ending`], and what the sink holds
/// is kept.
pub(super) fn drive<S: Sink>(
    kernel: Box<dyn Kernel>,
    mut sink: S,
    plan: &Plan,
    draws: usize,
    task: Task,
) -> Result<Driven<S::Output>> {
    let began = Instant::now();
    let Task { chain, stats, mut keeper } = task;
    let begin = if plan.threshold.is_some() { None } else { Some(plan.burn_in) };
    let place = Place { draws: 0, begin, steps: [0.0; 2], undefined: 0, undefined_now: 0 };
    let values = vec![0.0; kernel.layout().value_count()];
    let mut run = Run { values, stats: vec![0.0; stats], kernel, place, phase: Phase::Step };
    if let Some(keeper) = &mut keeper {
        let restored = guard(|| "a sink".into(), || keeper.restore(run.kernel.as_mut(), &mut sink, draws))?;
        run.place = restored.unwrap_or(run.place);
    }
    let total = plan.burn_in.saturating_add(plan.thin.saturating_mul(draws as u64));
    let mut clock = Clock::new(plan.watch.clone(), chain, run.kernel.info().iterations, total);
    let outcome = catch(&mut run, |run| run.finish(&mut sink, plan, draws, keeper.as_mut(), &mut clock));
    let info = run.kernel.info();
    let ending = match outcome {
        Ok(ending) => ending,
        Err(error) => Ending::Failed(error),
    };
    let told = guard(
        || Phase::Report.at(info.iterations),
        || {
            clock.end(info.iterations, info.log_posterior);
            Ok(())
        },
    );
    let ending = match (ending, told) {
        (Ending::Complete | Ending::Stopped, Err(error)) => Ending::Failed(error),
        (ending, _) => ending,
    };
    let bias = run.examine(plan, &ending);
    let (output, cost) = (guard(|| "the end of a sink".into(), || Ok(sink.finish()))?, run.kernel.cost());
    let (iterations, undefined, seconds) = (info.iterations, run.place.undefined, began.elapsed().as_secs_f64());
    Ok(Driven { output, ending, iterations, undefined, cost, bias, seconds })
}

/// Runs `call` on `run`; a panic becomes an error that names the phase it happened in.
fn catch<T>(run: &mut Run, call: impl FnOnce(&mut Run) -> Result<T>) -> Result<T> {
    let caught = guard(String::new, || call(run));
    caught.map_err(|error| match error {
        Error::Panicked { message, .. } => {
            Error::Panicked { what: run.phase.at(run.kernel.info().iterations), message }
        }
        other => other,
    })
}

/// The part of an iteration under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Step,
    Record,
    Save,
    Report,
}

impl Phase {
    /// The phase after `iterations` iterations, in words.
    fn at(self, iterations: u64) -> String {
        let what = match self {
            Self::Step => "a schedule, a Gibbs update or another closure of a step",
            Self::Record => "a sink that took a draw",
            Self::Save => "a sink that was saved",
            Self::Report => "the progress reporter",
        };
        format!("{what} (after iteration {iterations})")
    }
}

/// A chain that failed with `error` before its first step.
///
/// # Errors
///
/// If [`Sink::finish`] panics.
pub(super) fn failed<S: Sink>(sink: S, error: Error) -> Result<Driven<S::Output>> {
    let output = guard(|| "the end of a sink".into(), || Ok(sink.finish()))?;
    let bias = Bias::NotExamined("a chain did not start".into());
    let ending = Ending::Failed(error);
    Ok(Driven { output, ending, iterations: 0, undefined: 0, cost: Cost::default(), bias, seconds: 0.0 })
}

/// A chain that has ended: what its sink left, and what it took.
pub(super) struct Driven<O> {
    pub(super) output: O,
    pub(super) ending: Ending,
    pub(super) iterations: u64,
    /// Iterations whose log posterior was not a finite number.
    pub(super) undefined: u64,
    pub(super) cost: Cost,
    pub(super) bias: Bias,
    pub(super) seconds: f64,
}

impl<O> Driven<Vec<O>> {
    /// The interleaved chains one by one, each with its share of the cost and the ending of the run.
    pub(super) fn apart(self) -> impl Iterator<Item = Driven<O>> {
        let Self { output, ending, iterations, undefined, cost, bias, seconds } = self;
        let chains = output.len();
        output.into_iter().enumerate().map(move |(chain, output)| Driven {
            output,
            ending: ending.clone(),
            iterations: share(iterations, chains, chain),
            undefined: share(undefined, chains, chain),
            cost: Cost { gradients: share(cost.gradients, chains, chain), ..cost },
            bias: bias.clone(),
            seconds: seconds / chains as f64,
        })
    }
}

/// Part `part` of `total` divided by `parts`; the first parts have the remainder.
fn share(total: u64, parts: usize, part: usize) -> u64 {
    let parts = parts as u64;
    total / parts + u64::from((part as u64) < total % parts)
}

/// A chain under way.
struct Run {
    kernel: Box<dyn Kernel>,
    values: Vec<f64>,
    stats: Vec<f64>,
    place: Place,
    phase: Phase,
}

/// Gradient estimates that a chain must have made for its bias to be examined: the examination then costs at most about a tenth of the run.
const LEAST_ESTIMATES: u64 = 400;

/// Most observations whose gradients make a product with the curvature.
const MOST_OBSERVATIONS: usize = 4096;

impl Run {
    /// Predicts the bias of a chain that has ended well, with an effort in proportion to that of the run.
    fn examine(&mut self, plan: &Plan, ending: &Ending) -> Bias {
        let Cost { gradients, minibatch } = self.kernel.cost();
        if self.kernel.is_exact() {
            return Bias::Exact;
        }
        if !plan.examine || matches!(ending, Ending::Failed(_)) {
            return Bias::NotExamined("a chain did not end well".into());
        }
        if gradients < LEAST_ESTIMATES {
            return Bias::NotExamined(format!("a chain made fewer than {LEAST_ESTIMATES} gradient estimates"));
        }
        let all = self.kernel.evaluator().observations();
        let per_gradient = if minibatch == 0 { all } else { minibatch };
        // A twentieth of the gradients of single observations that the run took.
        let budget = gradients.saturating_mul(per_gradient as u64) / (20 * EVALUATIONS as u64);
        let observations = (budget as usize).clamp(per_gradient.min(MOST_OBSERVATIONS), MOST_OBSERVATIONS).min(all);
        let last = self.kernel.info().step_size;
        let step_scale =
            if self.place.steps[0] > 0.0 { self.place.steps[1] / (self.place.steps[0] * last) } else { 1.0 };
        let plan = PredictionPlan { observations, step_scale };
        self.kernel.predict_bias(&plan).unwrap_or_else(|error| Bias::NotExamined(error.to_string()))
    }

    fn finish<S: Sink>(
        &mut self,
        sink: &mut S,
        plan: &Plan,
        draws: usize,
        mut keeper: Option<&mut Keeper>,
        clock: &mut Clock,
    ) -> Result<Ending> {
        let chains = self.kernel.interleaved_chains() as u64;
        while self.place.draws < draws {
            if plan.stop.is_set() {
                self.save(sink, keeper)?;
                return Ok(Ending::Stopped);
            }
            self.phase = Phase::Step;
            self.kernel.step()?;
            let info = self.kernel.info();
            self.count_undefined(&info, plan)?;
            if self.place.begin.is_none() {
                self.place.begin = self.begins(plan, info.iterations)?;
            }
            let after = self.place.begin.map_or(0, |begin| info.iterations.saturating_sub(begin));
            // A round moves every interleaved chain once, and is kept or left out as a whole.
            if after > 0 && after.div_ceil(chains).is_multiple_of(plan.thin) && info.counts {
                self.record(sink, plan)?;
            }
            if keeper.as_mut().is_some_and(|keeper| keeper.is_due()) {
                self.save(sink, keeper.as_deref_mut())?;
            }
            self.phase = Phase::Report;
            clock.tick(info.iterations, info.log_posterior);
        }
        self.save(sink, keeper)?;
        Ok(Ending::Complete)
    }

    /// Counts iterations without a finite log posterior.
    ///
    /// # Errors
    ///
    /// If there were too many in a row.
    fn count_undefined(&mut self, info: &StepInfo, plan: &Plan) -> Result<()> {
        if info.log_posterior.is_finite() {
            self.place.undefined_now = 0;
            return Ok(());
        }
        self.place.undefined += 1;
        self.place.undefined_now += 1;
        if self.place.undefined_now < plan.undefined_limit {
            return Ok(());
        }
        let (iterations, iteration) = (self.place.undefined_now, info.iterations);
        Err(Error::Undefined { value: info.log_posterior, iterations, iteration })
    }

    fn record<S: Sink>(&mut self, sink: &mut S, plan: &Plan) -> Result<()> {
        self.kernel.stats(&mut self.stats);
        if let (Some(threshold), Some(alpha)) = (plan.threshold, self.stats.last_mut()) {
            *alpha = threshold.measure(self.kernel.as_mut())?;
        }
        let StepInfo { iterations, log_posterior, step_size, .. } = self.kernel.info();
        let (layout, position) = (self.kernel.layout(), self.kernel.position());
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
        self.place.draws += 1;
        self.place.steps = [self.place.steps[0] + step_size, self.place.steps[1] + step_size * step_size];
        Ok(())
    }

    /// The iteration after which draws count, if the sampling threshold is reached.
    fn begins(&mut self, plan: &Plan, iteration: u64) -> Result<Option<u64>> {
        let Some(threshold) = plan.threshold else { return Ok(Some(plan.burn_in)) };
        let waited = iteration.saturating_sub(plan.burn_in);
        if iteration < plan.burn_in || !waited.is_multiple_of(threshold.every) {
            return Ok(None);
        }
        let alpha = threshold.measure(self.kernel.as_mut())?;
        if waited >= threshold.limit {
            let value = format!("{alpha} after {waited} iterations");
            let expected = "it stays above the sampling threshold: use a smaller or falling step size, larger minibatches, or \
                            control variates where there are none";
            return Err(Error::Setting { name: "the ratio of gradient noise to injected noise", value, expected });
        }
        Ok((alpha < threshold.alpha).then_some(iteration))
    }

    /// Saves the chain where that is wanted, and makes sure that its draws are safe.
    fn save<S: Sink>(&mut self, sink: &mut S, keeper: Option<&mut Keeper>) -> Result<()> {
        self.phase = Phase::Save;
        if let Some(keeper) = keeper {
            keeper.save(self.kernel.as_ref(), sink, self.place)?;
        }
        sink.flush()
    }
}
