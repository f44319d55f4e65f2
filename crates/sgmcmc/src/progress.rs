//! Watching a run: a bar per chain on a terminal, plain lines elsewhere.
//!
//! ```no_run
//! use sgmcmc::prelude::*;
//! # fn f(model: Model<Tensor<1>, Tensor<1>>, data: Dataset<Tensor<1>>) -> Result<(), sgmcmc::Error> {
//! let fit = sgld(&model, &data, 1e-4).progress(progress::auto()).sample(&zeros([1]), 10_000)?;
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use sgmcmc_samplers::run::{Progress, Reporter, Watch};

const TEMPLATE: &str = "chain {prefix} {bar:30} {pos}/{len} {per_sec} {eta} left, log posterior {msg}";

/// Bars where standard error is a terminal, lines where it is not.
pub fn auto() -> Watch {
    if std::io::stderr().is_terminal() { Watch::by(Bars::new()) } else { Watch::lines() }
}

/// A bar per chain on standard error.
#[derive(Debug, Default)]
pub struct Bars {
    all: MultiProgress,
    chains: Mutex<BTreeMap<usize, ProgressBar>>,
}

impl Bars {
    /// No bar yet; each appears with its chain's first report.
    pub fn new() -> Self {
        Self::default()
    }

    fn bar(&self, progress: &Progress) -> ProgressBar {
        let make = || {
            let bar = self.all.add(ProgressBar::new(progress.total).with_prefix(progress.chain.to_string()));
            // A template that could not be read would leave the plain style.
            ProgressStyle::with_template(TEMPLATE).map_or(bar.clone(), |style| bar.with_style(style))
        };
        // A panic in another chain's report leaves the bars as they are.
        let mut chains = self.chains.lock().unwrap_or_else(PoisonError::into_inner);
        chains.entry(progress.chain).or_insert_with(make).clone()
    }
}

impl Reporter for Bars {
    fn report(&self, progress: &Progress) {
        let bar = self.bar(progress);
        bar.set_position(progress.iteration);
        bar.set_message(format!("{:.1}", progress.log_posterior));
        if progress.ended {
            bar.abandon();
        }
    }
}
