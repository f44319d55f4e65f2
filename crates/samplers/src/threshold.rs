//! The sampling threshold: see [`SamplingThreshold`].

use sgmcmc_gradient::{Result, settings};

use crate::chain::Chain;

/// The sampling threshold of Welling & Teh: draws are kept from the iteration at which injected noise dominates
/// gradient noise.
///
/// # Rule
///
/// αₜ = ¼ λ_max(Fᵀ H^{1/2} V H^{1/2} F), where H are the step sizes, M = F Fᵀ is the matrix of the algorithm and V the
/// covariance of the gradient estimate of the run. For plain minibatches with replacement V is N²/n times the
/// covariance of the gradients of single observations, times 1 − n/N without replacement; control variates make it
/// smaller. αₜ is the relative increase of the variance of SGLD by gradient noise. For algorithms with momentum it is
/// the increase by their own law. The chain samples if αₜ ≪ 1, and is a stochastic optimizer if αₜ > 1.
///
/// # Source
///
/// Welling & Teh (2011), §4.1, eqs. (9) and (10).
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `alpha` | 0.01 | draws are kept from the first αₜ below this value | > 0 |
/// | `observations` | 400 | least number of gradients of single observations in an estimate of αₜ | ≥ 4 |
/// | `every` | 100 | number of iterations between two estimates of αₜ | ≥ 1 |
/// | `limit` | 10⁶ | number of iterations after which the run fails if αₜ is still above the threshold | |
///
/// αₜ is recorded with every draw as the statistic `alpha`.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
/// use sgmcmc::run::SamplingThreshold;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let threshold = SamplingThreshold { alpha: 0.5, ..SamplingThreshold::default() };
/// let fit = sgld(&model, &data, 0.01).minibatch(2).sampling_threshold(threshold).sample(&zeros([1]), 100)?;
/// assert!(fit.chains()[0].stat("alpha").is_some());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplingThreshold {
    /// The value of αₜ below which draws are kept.
    pub alpha: f64,
    /// The least number of gradients of single observations in an estimate of αₜ.
    pub observations: usize,
    /// The number of iterations between two estimates of αₜ.
    pub every: u64,
    /// The number of iterations after which the run fails if αₜ is still above the threshold.
    pub limit: u64,
}

impl Default for SamplingThreshold {
    fn default() -> Self {
        Self { alpha: 0.01, observations: 400, every: 100, limit: 1_000_000 }
    }
}

impl SamplingThreshold {
    /// Checks the settings.
    pub(crate) fn check(&self) -> Result<()> {
        settings::positive("the sampling threshold", self.alpha)?;
        let expected = "a covariance needs at least 4 of them";
        settings::at_least("the observations of the sampling threshold", self.observations, 4, expected)?;
        let expected = "measure at most once an iteration";
        settings::at_least("the interval of the sampling threshold", self.every, 1, expected)?;
        Ok(())
    }

    /// Estimates αₜ at the position of `chain`. The choice of observations depends on the iteration only and does not
    /// use the RNG streams of the chain.
    pub(crate) fn measure(&self, chain: &mut dyn Chain) -> Result<f64> {
        chain.noise_ratio(self.observations)
    }
}
