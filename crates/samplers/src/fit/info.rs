//! How a run was made.

use serde::{Deserialize, Serialize};

use super::Bias;

/// How a run was made: what is needed to repeat it, and what it cost. Kept with the draws in files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunInfo {
    /// The algorithm and its settings.
    pub algorithm: String,
    /// The gradient estimator and its settings.
    pub gradient: String,
    /// The step size and the temperature.
    pub step_size: String,
    /// The number of observations, N.
    pub observations: usize,
    /// Observations per gradient estimate; none where every estimate is over all of them, or where it is not known.
    pub minibatch: Option<f64>,
    /// The seed of all randomness.
    pub seed: u64,
    /// Iterations before the first draw.
    pub burn_in: u64,
    /// Iterations per draw.
    pub thin: u64,
    /// The number M of chains that each run interleaves: the chains of a fit are M to a run, run by run. 1 for most algorithms, and
    /// for a selection of chains that is not made of whole runs.
    pub interleaved: usize,
    /// Iterations of each chain, burn-in included. Each of M interleaved chains has its share of the run's.
    pub iterations: Vec<u64>,
    /// Gradient estimates that each chain made, burn-in included; the search for a mode does not count. Each of M interleaved
    /// chains has its share of the run's.
    pub gradients: Vec<u64>,
    /// Iterations of each chain whose log posterior was not a finite number. Each of M interleaved chains has its share of the run's.
    pub undefined: Vec<u64>,
    /// Seconds that each chain took, burn-in included; since it was resumed, where it was. Each of M interleaved chains has its
    /// share of the run's.
    pub seconds: Vec<f64>,
    /// Whether the chains are biased, as far as it was examined.
    pub bias: Bias,
    /// The version of the library.
    pub version: String,
}

impl Default for RunInfo {
    fn default() -> Self {
        Self {
            algorithm: String::new(),
            gradient: String::new(),
            step_size: String::new(),
            observations: 0,
            minibatch: None,
            seed: 0,
            burn_in: 0,
            thin: 0,
            interleaved: 1,
            iterations: Vec::new(),
            gradients: Vec::new(),
            undefined: Vec::new(),
            seconds: Vec::new(),
            bias: Bias::Unknown,
            version: String::new(),
        }
    }
}

impl RunInfo {
    /// Returns whether the gradient estimator reduces the variance of plain minibatches.
    pub fn has_reduced_variance(&self) -> bool {
        ["ControlVariate", "Svrg", "Saga"].iter().any(|name| self.gradient.starts_with(name))
    }

    /// The seconds of the longest run; of M interleaved chains, those of all M together. Zero if they are not known.
    pub fn longest_run(&self) -> f64 {
        self.seconds.iter().copied().fold(0.0, f64::max) * self.interleaved.max(1) as f64
    }

    /// Gradient estimates per iteration, where that is known.
    pub fn gradients_per_step(&self) -> Option<f64> {
        let (gradients, steps): (u64, u64) = (self.gradients.iter().sum(), self.iterations.iter().sum());
        (gradients > 0 && steps > 0).then(|| gradients as f64 / steps as f64)
    }
}
