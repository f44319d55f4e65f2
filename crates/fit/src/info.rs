//! Settings and cost of a run.

use serde::{Deserialize, Serialize};

use super::{Bias, Finding, ShardInfo};
use crate::text::{describe_estimator, describe_settings};

/// The decisions of automatic tuning, and what it found. Files keep it with the draws.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::TuningRecord;
///
/// let record = TuningRecord { decisions: vec!["minibatches of 64 observations".into()], ..TuningRecord::default() };
/// assert!(record.findings.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TuningRecord {
    /// The decisions in the order in which they were made, each a sentence with its numbers.
    pub decisions: Vec<String>,
    /// Findings about the posterior and the run. [`Fit::check`](crate::Fit::check) includes them.
    pub findings: Vec<Finding>,
    /// The number of gradients of single observations apart from those of the chains: of the mode search, of tuning and of
    /// the measurement of the bias.
    pub gradients: u64,
    /// The time before the first round of sampling in seconds: of the mode search and of tuning.
    pub seconds: f64,
}

/// The cost of communication between the ranks of a run.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::Communication;
///
/// let one = Communication { ranks: 2, messages: 10, bytes: 800, seconds: 0.5 };
/// let all = Communication::from_ranks([one, one]);
/// assert_eq!(all, Communication { ranks: 2, messages: 20, bytes: 1600, seconds: 0.5 });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Communication {
    /// The number of ranks.
    pub ranks: usize,
    /// The number of messages that were sent.
    pub messages: u64,
    /// The number of bytes that were sent.
    pub bytes: u64,
    /// The time in seconds that was spent waiting for messages.
    pub seconds: f64,
}

impl Communication {
    /// Returns the cost of all ranks together: the sums of messages and bytes, and the longest time.
    pub fn from_ranks(parts: impl IntoIterator<Item = Self>) -> Self {
        parts.into_iter().fold(Self::default(), |all, part| Self {
            ranks: all.ranks.max(part.ranks),
            messages: all.messages + part.messages,
            bytes: all.bytes + part.bytes,
            seconds: all.seconds.max(part.seconds),
        })
    }
}

/// The settings that are needed to repeat a run, and its cost. Files keep it with the draws.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::RunInfo;
///
/// let info = RunInfo {
///     algorithm: "Sghmc { alpha: 0.1, steps: 5, noise: None }".into(),
///     iterations: vec![1000, 1000],
///     gradients: vec![5000, 5000],
///     ..RunInfo::default()
/// };
/// assert_eq!(info.describe_algorithm(), "SGHMC, alpha 0.1, steps 5");
/// assert_eq!(info.gradients_per_step(), Some(5.0));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunInfo {
    /// The algorithm and its settings, as a `Debug` text.
    pub algorithm: String,
    /// The gradient estimator and its settings, as a `Debug` text. For control variates around a mode that was found,
    /// " at the mode" follows.
    pub gradient: String,
    /// The step size and the temperature, as `Debug` texts.
    pub step_size: String,
    /// The number N of observations.
    pub observations: usize,
    /// The number of observations per gradient estimate. `None` if every estimate uses all observations, or if it is
    /// not known.
    pub minibatch: Option<f64>,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The number of iterations before the first draw.
    pub burn_in: u64,
    /// The number of iterations per draw.
    pub thin: u64,
    /// The number M of chains that each run interleaves. The chains of a fit are ordered by run, M chains per run. It
    /// is 1 for most algorithms, and for a selection of chains that does not consist of whole runs.
    pub interleaved: usize,
    /// The number of iterations of each chain, with burn-in. M interleaved chains share the iterations of their run
    /// equally.
    pub iterations: Vec<u64>,
    /// The number of gradient estimates of each chain, with burn-in and without the mode search. M interleaved chains
    /// share the estimates of their run equally.
    pub gradients: Vec<u64>,
    /// The number of iterations of each chain whose log posterior was not finite. M interleaved chains share those of
    /// their run equally.
    pub undefined: Vec<u64>,
    /// The run time of each chain in seconds, with burn-in. For a resumed chain it includes the time before, up to the
    /// checkpoint. M interleaved chains share the time of their run equally.
    pub seconds: Vec<f64>,
    /// The number of draws that each chain is to make, for a run that is under way or was stopped. `None` if it is not
    /// known.
    pub planned: Option<usize>,
    /// The bias of the chains, if it was examined.
    pub bias: Bias,
    /// The decisions of automatic tuning. `None` if the settings were given.
    pub tuning: Option<TuningRecord>,
    /// The part of the data that the run has seen. `None` if it has seen all data.
    pub shard: Option<ShardInfo>,
    /// The communication between ranks. `None` if the run had one rank.
    pub communication: Option<Communication>,
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
            planned: None,
            bias: Bias::Unknown,
            tuning: None,
            shard: None,
            communication: None,
            version: String::new(),
        }
    }
}

impl RunInfo {
    /// Returns the algorithm and its settings in words, for instance "SGHMC, alpha 0.1, steps 5". Empty if they are not
    /// known.
    pub fn describe_algorithm(&self) -> String {
        describe_settings(&self.algorithm)
    }

    /// Returns the gradient estimator and its settings in words, for instance "Control variates at the mode, minibatches
    /// of 500 without replacement". Empty if they are not known.
    pub fn describe_gradient(&self) -> String {
        describe_estimator(&self.gradient)
    }

    /// Returns the step size and the temperature in words, for instance "0.001 at temperature 1". Empty if they are not
    /// known.
    pub fn describe_step_size(&self) -> String {
        match self.step_size.rsplit_once(" at temperature ") {
            Some((step_size, temperature)) => {
                format!("{} at temperature {}", describe_settings(step_size), describe_settings(temperature))
            }
            None => describe_settings(&self.step_size),
        }
    }

    /// Returns a statistic of the draws in words: "step size" for `weight`, and for `log_posterior` that it is estimated
    /// from minibatches if it is. Other names are returned unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::fit::RunInfo;
    ///
    /// let info = RunInfo { minibatch: Some(500.0), ..RunInfo::default() };
    /// assert_eq!(info.describe_statistic("log_posterior"), "log posterior, estimated from minibatches");
    /// assert_eq!(RunInfo::default().describe_statistic("log_posterior"), "log posterior");
    /// ```
    pub fn describe_statistic<'n>(&self, name: &'n str) -> &'n str {
        match name {
            "weight" => "step size",
            "log_posterior" if self.minibatch.is_some() => "log posterior, estimated from minibatches",
            "log_posterior" => "log posterior",
            name => name,
        }
    }

    /// Returns whether the gradient estimator has a smaller variance than plain minibatches.
    pub fn has_reduced_variance(&self) -> bool {
        ["ControlVariate", "Svrg", "Saga"].iter().any(|name| self.gradient.starts_with(name))
    }

    /// Returns the time of the longest run in seconds. For M interleaved chains, it is the time of all M chains.
    /// Returns zero if the times are not known.
    pub fn longest_run(&self) -> f64 {
        self.seconds.iter().copied().fold(0.0, f64::max) * self.interleaved.max(1) as f64
    }

    /// Returns the number of gradient estimates per iteration, or `None` if it is not known.
    pub fn gradients_per_step(&self) -> Option<f64> {
        let (gradients, steps): (u64, u64) = (self.gradients.iter().sum(), self.iterations.iter().sum());
        (gradients > 0 && steps > 0).then(|| gradients as f64 / steps as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::RunInfo;

    #[test]
    fn step_size_and_temperature_are_described() {
        let step_size = "PerParameter { common: 0.001, named: [] } at temperature 1".to_owned();
        let info = RunInfo { step_size, ..RunInfo::default() };
        assert_eq!(info.describe_step_size(), "0.001 at temperature 1");
        assert_eq!(RunInfo::default().describe_step_size(), "");
    }
}
