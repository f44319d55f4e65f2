//! Signals that stop a run: see [`StopSignal`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sgmcmc_gradient::{Error, Result};

/// A signal that stops chains after their current step. Clones share the signal.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::ChainOutcome;
/// use sgmcmc::prelude::*;
/// use sgmcmc::run::StopSignal;
///
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let signal = StopSignal::new();
/// signal.stop();
/// let fit = ula(&model, &Dataset::none(), 0.1).stop_on(&signal).sample(&zeros([1]), 100)?;
/// assert!(matches!(fit.outcomes()[0], ChainOutcome::Stopped));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    /// Creates a signal that has not been triggered.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a signal that Ctrl-C triggers. A program can have one such signal.
    ///
    /// # Errors
    ///
    /// Returns an error if the program already has a handler of Ctrl-C.
    pub fn on_ctrl_c() -> Result<Self> {
        let signal = Self::new();
        let triggered = signal.clone();
        // `try_set_handler` would fail in a background program, where Ctrl-C is ignored: it treats that as a handler.
        ctrlc::set_handler(move || triggered.stop()).map_err(|error| Error::Setting {
            name: "the handler of Ctrl-C",
            value: error.to_string(),
            expected: "a program has one; share that signal",
        })?;
        Ok(signal)
    }

    /// Triggers the signal.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the signal has been triggered.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
