//! Progress of runs: bars on a terminal, lines elsewhere.
//!
//! ```no_run
//! use sgmcmc::prelude::*;
//! # fn f(model: Model<Tensor<1>, Tensor<1>>, data: Dataset<Tensor<1>>) -> Result<(), sgmcmc::gradient::Error> {
//! let fit = sgld(&model, &data, 1e-4).progress(progress::auto()).sample(&zeros([1]), 10_000)?;
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use sgmcmc_samplers::run::{PreparationStage, Progress, ProgressOption, Reporter};

const CHAIN: &str = "chain {prefix} {bar:30} {pos}/{len}, {wide_msg}";
const TOTAL: &str = "{prefix} {bar:30} {pos}/{len}, {wide_msg}";

/// Returns an option that shows bars if standard error is a terminal, and lines if it is not.
///
/// # Examples
///
/// See the [module](self).
pub fn auto() -> ProgressOption {
    if std::io::stderr().is_terminal() { ProgressOption::by(Bars::new()) } else { ProgressOption::lines() }
}

/// A reporter that shows a bar per chain on standard error, and one of all chains with the quality of the draws so far.
///
/// # Examples
///
/// ```
/// use sgmcmc::progress::Bars;
/// use sgmcmc::run::ProgressOption;
///
/// let option = ProgressOption::by(Bars::new());
/// assert!(matches!(option, ProgressOption::By(..)));
/// ```
#[derive(Debug, Default)]
pub struct Bars(Mutex<Shown>);

/// The bars of the chains of a run.
#[derive(Debug, Default)]
struct Shown {
    all: MultiProgress,
    chains: BTreeMap<usize, Row>,
    total: Option<ProgressBar>,
    start: Option<Instant>,
    stage: Option<ProgressBar>,
}

/// A chain and its bar.
#[derive(Debug)]
struct Row {
    bar: ProgressBar,
    last: Progress,
}

impl Bars {
    /// Creates a reporter without bars. They appear with the first reports.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Shown {
    /// Returns the bar of a chain.
    fn row(&mut self, progress: &Progress) -> &mut Row {
        let Self { all, chains, total, .. } = self;
        chains.entry(progress.chain).or_insert_with(|| {
            let bar = styled(ProgressBar::new(progress.total), CHAIN).with_prefix(progress.chain.to_string());
            let bar = match total {
                Some(total) => all.insert_before(total, bar),
                None => all.add(bar),
            };
            Row { bar, last: *progress }
        })
    }

    /// Updates the bar of all chains. A run of one chain has it, too, since it shows the quality of the draws.
    fn update_total(&mut self, progress: &Progress) {
        let rows = || self.chains.values().map(|row| &row.last);
        let (done, total) = (rows().map(|row| row.iteration).sum(), rows().map(|row| row.total).sum());
        let new = rows().map(|row| row.iteration - row.resumed_from).sum::<u64>();
        let divergences: u64 = rows().map(|row| row.divergences).sum();
        let start = *self.start.get_or_insert_with(Instant::now);
        let all = &self.all;
        let bar =
            self.total.get_or_insert_with(|| all.add(styled(ProgressBar::new(total), TOTAL).with_prefix("all    ")));
        bar.set_length(total);
        bar.set_position(done);
        let mut message = String::new();
        if new > 0 && done < total {
            let left = start.elapsed().as_secs_f64() * total.saturating_sub(done) as f64 / new as f64;
            let left = Duration::try_from_secs_f64(left).unwrap_or(Duration::ZERO);
            message = format!("{} left", indicatif::HumanDuration(left));
        }
        let mut new = Vec::new();
        new.extend(progress.quality.map(|quality| quality.to_string()));
        new.extend(Some(format!("{divergences} divergent")).filter(|_| divergences > 0));
        if !new.is_empty() {
            let since = since(&rows().map(|row| row.resumed_from).collect::<Vec<_>>());
            message = join(message, format!("{}{since}", new.join(", ")));
        }
        bar.set_message(message);
    }
}

/// Returns the range of draws of the quality and the divergences, which do not include draws of before the chains were
/// resumed from these iterations. Empty if no chain was.
fn since(resumed_from: &[u64]) -> String {
    match resumed_from.iter().copied().max() {
        None | Some(0) => String::new(),
        Some(last) if resumed_from.iter().all(|from| *from == last) => format!(" since iteration {last}"),
        Some(_) => " since the run was resumed".into(),
    }
}

/// Joins two parts of a message.
fn join(first: String, second: String) -> String {
    if first.is_empty() { second } else { format!("{first}, {second}") }
}

/// Returns a bar with a style. A template that could not be parsed would leave the plain style.
fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

impl Reporter for Bars {
    fn report(&self, progress: &Progress) {
        // A panic in another chain's report leaves the bars as they are.
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let row = shown.row(progress);
        row.last = *progress;
        row.bar.set_message(progress.to_string());
        row.bar.set_position(progress.iteration);
        if progress.stage.has_ended() {
            row.bar.abandon();
        }
        shown.update_total(progress);
        if shown.chains.values().all(|row| row.last.stage.has_ended()) {
            if let Some(total) = &shown.total {
                total.abandon();
            }
            // The output before the next run stays: its bars begin below.
            *shown = Shown::default();
        }
    }

    fn prepare(&self, stage: &PreparationStage) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all = shown.all.clone();
        let bar =
            shown.stage.get_or_insert_with(|| all.add(styled(ProgressBar::new_spinner(), "{spinner} {wide_msg}")));
        bar.set_message(stage.to_string());
        if stage.ended_after.is_some() {
            bar.abandon();
            *shown = Shown::default();
        } else {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::since;

    #[test]
    fn the_draws_that_are_assessed_are_named() {
        assert_eq!(since(&[0, 0]), "");
        assert_eq!(since(&[70, 70]), " since iteration 70");
        assert_eq!(since(&[70, 0]), " since the run was resumed");
    }
}
