//! The sampling threshold of Welling & Teh (2011), §4.1: the iteration from which the injected noise outweighs the noise of the gradient.
//!
//! αₜ = ¼ λ_max(Fᵀ H^{1/2} V H^{1/2} F) with H the step sizes, M = F Fᵀ the matrix of the algorithm and V the covariance of the run's own gradient
//! estimate: for plain minibatches with replacement N²/n times the covariance of the scores (eqs. (9) and (10)), times 1 − n/N without replacement,
//! and smaller with control variates. αₜ is the share by which gradient noise widens the variance of SGLD. For algorithms with momentum it is the
//! share by their own law. Where αₜ ≪ 1 the chain samples; where αₜ > 1 it is a stochastic climb.

use sgmcmc_core::{Error, Result};

use crate::kernel::Kernel;

/// When draws begin to count.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `alpha` | 0.01 | draws are kept from the first αₜ below this on | > 0 |
/// | `observations` | 400 | gradients of single observations that αₜ is measured from, at least | ≥ 4 |
/// | `every` | 100 | iterations between two measurements of αₜ before that | ≥ 1 |
/// | `limit` | 10⁶ | iterations after which the threshold counts as out of reach | |
///
/// # Examples
///
/// ```
/// use sgmcmc_samplers::SamplingThreshold;
///
/// let strict = SamplingThreshold { alpha: 0.001, ..SamplingThreshold::default() };
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplingThreshold {
    /// Draws are kept from the first αₜ below this on.
    pub alpha: f64,
    /// Gradients of single observations that αₜ is measured from, at least.
    pub observations: usize,
    /// Iterations between two measurements.
    pub every: u64,
    /// Iterations after which the threshold counts as out of reach.
    pub limit: u64,
}

impl Default for SamplingThreshold {
    fn default() -> Self {
        Self { alpha: 0.01, observations: 400, every: 100, limit: 1_000_000 }
    }
}

impl SamplingThreshold {
    pub(crate) fn check(&self) -> Result<()> {
        let refuse = |name, value: String, expected| Err(Error::Setting { name, value, expected });
        if !(self.alpha.is_finite() && self.alpha > 0.0) {
            return refuse("the sampling threshold", self.alpha.to_string(), "it must be a positive number");
        }
        if self.observations < 4 {
            let expected = "a covariance needs at least 4 of them";
            return refuse("the observations of the sampling threshold", self.observations.to_string(), expected);
        }
        if self.every == 0 {
            return refuse("the interval of the sampling threshold", "0".into(), "measure at most once an iteration");
        }
        Ok(())
    }

    /// Measures αₜ where the chain is. The observations are a function of the iteration alone, and no part of the chain's randomness.
    pub(crate) fn measure(&self, kernel: &mut dyn Kernel) -> Result<f64> {
        kernel.noise_ratio(self.observations)
    }
}
