//! The loop: steps, draws, checkpoints, progress, and the end.

use sgmcmc_core::{Error, Result};

use super::builder::Plan;
use super::checkpoint::{Keeper, Place};
use super::fit::Ending;
use super::monitor::Clock;
use crate::kernel::{Kernel, StepInfo};
use crate::sink::{Draw, Sink};

/// Takes all the steps of one chain, from its last checkpoint if there is one, and hands its draws to `sink`.
///
/// # Errors
///
/// If the checkpoint is not of this run. Whatever goes wrong later is the [`Ending`], and what the sink holds is kept.
pub(super) fn drive<S: Sink>(
    kernel: Box<dyn Kernel>,
    mut sink: S,
    plan: &Plan,
    draws: usize,
    mut keeper: Keeper,
) -> Result<(S::Output, Ending)> {
    let begin = if plan.threshold.is_some() { None } else { Some(plan.burn_in) };
    let place = Place { draws: 0, begin };
    let mut run = Run { values: vec![0.0; kernel.layout().value_count()], kernel, place };
    if let Some(restored) = keeper.load()? {
        run.kernel.restore(&restored.kernel)?;
        sink.restore(&restored.sink)?;
        run.place = restored.place;
    }
    let total = plan.burn_in + plan.thin * draws as u64;
    let first = run.kernel.info().iterations;
    let mut clock = Clock::new(plan.watch.clone(), keeper.chain(), first, total);
    let ending = match run.finish(&mut sink, plan, draws, &mut keeper, &mut clock) {
        Ok(ending) => ending,
        Err(error) => Ending::Failed(error),
    };
    let info = run.kernel.info();
    clock.end(info.iterations, info.log_posterior);
    Ok((sink.finish(), ending))
}

/// A chain under way.
struct Run {
    kernel: Box<dyn Kernel>,
    values: Vec<f64>,
    place: Place,
}

impl Run {
    fn finish<S: Sink>(
        &mut self,
        sink: &mut S,
        plan: &Plan,
        draws: usize,
        keeper: &mut Keeper,
        clock: &mut Clock,
    ) -> Result<Ending> {
        while self.place.draws < draws {
            if plan.stop.is_set() {
                self.save(sink, keeper)?;
                sink.flush()?;
                return Ok(Ending::Stopped);
            }
            self.kernel.step()?;
            let info = self.kernel.info();
            if self.place.begin.is_none() {
                self.place.begin = self.begins(plan, info.iterations)?;
            }
            let after = self.place.begin.map_or(0, |begin| info.iterations.saturating_sub(begin));
            if after > 0 && after.is_multiple_of(plan.thin) && info.counts {
                self.record(sink, plan)?;
            }
            if keeper.is_due() {
                self.save(sink, keeper)?;
            }
            clock.tick(info.iterations, info.log_posterior);
        }
        self.save(sink, keeper)?;
        sink.flush()?;
        Ok(Ending::Complete)
    }

    fn record<S: Sink>(&mut self, sink: &mut S, plan: &Plan) -> Result<()> {
        let alpha = plan.threshold.map(|threshold| threshold.measure(self.kernel.as_mut())).transpose()?;
        let StepInfo { iterations, log_posterior, step_size, .. } = self.kernel.info();
        let (layout, position) = (self.kernel.layout(), self.kernel.position());
        // Without constraints the coordinates are the values.
        let values = if layout.is_constrained() {
            layout.values_into(position, &mut self.values)?;
            &self.values
        } else {
            position
        };
        sink.record(&Draw { iteration: iterations, values, weight: step_size, log_posterior, alpha })?;
        self.place.draws += 1;
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
            let expected =
                "it stays above the sampling threshold: use a smaller or falling step size, or control variates";
            return Err(Error::Setting { name: "the ratio of gradient noise to injected noise", value, expected });
        }
        Ok((alpha < threshold.alpha).then_some(iteration))
    }

    fn save<S: Sink>(&self, sink: &mut S, keeper: &mut Keeper) -> Result<()> {
        if !keeper.is_on() {
            return Ok(());
        }
        sink.flush()?;
        keeper.save(self.kernel.save()?, sink.save()?, self.place)
    }
}
