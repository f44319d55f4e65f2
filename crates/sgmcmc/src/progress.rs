//! Watching a run: a bar per chain on a terminal, plain lines elsewhere.
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

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use sgmcmc_samplers::run::{Progress, ProgressOption, Reporter};

const TEMPLATE: &str = "chain {prefix} {bar:30} {pos}/{len}, {msg}";

/// Bars where standard error is a terminal, lines where it is not.
pub fn auto() -> ProgressOption {
    if std::io::stderr().is_terminal() { ProgressOption::by(Bars::new()) } else { ProgressOption::lines() }
}

/// A bar per chain on standard error.
#[derive(Debug, Default)]
pub struct Bars(Mutex<Shown>);

/// The bars of the chains under way.
#[derive(Debug, Default)]
struct Shown {
    all: MultiProgress,
    chains: BTreeMap<usize, ProgressBar>,
}

impl Bars {
    /// No bar yet; each appears with its chain's first report.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Shown {
    fn bar(&mut self, progress: &Progress) -> &ProgressBar {
        let Self { all, chains } = self;
        chains.entry(progress.chain).or_insert_with(|| {
            let bar = ProgressBar::new(progress.total).with_prefix(progress.chain.to_string());
            // A template that could not be read would leave the plain style.
            all.add(match ProgressStyle::with_template(TEMPLATE) {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            })
        })
    }
}

impl Reporter for Bars {
    fn report(&self, progress: &Progress) {
        // A panic in another chain's report leaves the bars as they are.
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = shown.bar(progress);
        bar.set_message(progress.to_string());
        bar.set_position(progress.iteration);
        if progress.ended {
            bar.abandon();
            shown.chains.remove(&progress.chain);
        }
        // What is printed before the next run stays: its bars begin below.
        if shown.chains.is_empty() {
            shown.all = MultiProgress::new();
        }
    }
}
