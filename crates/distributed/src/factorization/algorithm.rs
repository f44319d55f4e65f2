//! The algorithms that move blocks.

use sgmcmc_gradient::{Result, settings};
use sgmcmc_numerics::InitialScale;

/// The algorithm that moves the factors. With the gradient ĝ of a part and a step of size h, which is 2ε in the papers:
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::InitialScale;
/// use sgmcmc::distributed::factorization::BlockAlgorithm;
///
/// let hamcmc = BlockAlgorithm::Hamcmc { memory: 2, lambda: 100.0, gamma: InitialScale::Fixed(0.01) };
/// assert_ne!(hamcmc, BlockAlgorithm::Sgld);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockAlgorithm {
    /// θ += h/2 ĝ + √h z.
    Sgld,
    /// θ += h/2 M ĝ + √h M^{1/2} z, M = diag 1/(λ + √V), then V ← αV + (1 − α) ḡ∘ḡ, where ḡ is the mean gradient of the likelihood
    /// over the entries of the part. The first V is ḡ∘ḡ of the first part. The correction Γ is left out.
    Psgld {
        /// The decay rate α of V.
        alpha: f64,
        /// The regularization λ, in the unit of ḡ.
        lambda: f64,
    },
    /// θₜ = θₜ₋ₘ + h/2 Hₜ ĝ(θₜ₋ₘ) + √h Sₜ z, as [`Hamcmc`](sgmcmc_samplers::langevin::Hamcmc): M interleaved chains, Hₜ = Sₜ Sₜᵀ from
    /// the last M − 1 pairs of L-BFGS, two gradients per iteration.
    Hamcmc {
        /// The number M of interleaved chains, at least 2.
        memory: usize,
        /// The regularization λ of the Hessian.
        lambda: f64,
        /// The scale γ of H in directions without pairs.
        gamma: InitialScale,
    },
}

impl BlockAlgorithm {
    /// Checks the settings.
    pub(super) fn check(self) -> Result<()> {
        match self {
            Self::Sgld => {}
            Self::Psgld { alpha, lambda } => {
                settings::within("the memory alpha", alpha, 0.0..=1.0, "it must be between 0 and 1")?;
                settings::positive("lambda", lambda)?;
            }
            Self::Hamcmc { memory, lambda, gamma } => {
                settings::at_least("the memory of HAMCMC", memory, 2, "it must be at least 2")?;
                settings::non_negative("lambda", lambda)?;
                let (InitialScale::Fixed(gamma) | InitialScale::Newest(gamma)) = gamma;
                settings::positive("gamma", gamma)?;
            }
        }
        Ok(())
    }

    /// Returns the number of interleaved chains.
    pub(super) fn interleaved(self) -> usize {
        match self {
            Self::Hamcmc { memory, .. } => memory,
            Self::Sgld | Self::Psgld { .. } => 1,
        }
    }

    /// Returns the number of vectors that are kept of each block: samples, followed by what the metric needs.
    pub(super) fn vectors(self) -> usize {
        match self {
            Self::Sgld => 1,
            Self::Psgld { .. } => 2,
            Self::Hamcmc { memory, .. } => memory + 2 * (memory - 1),
        }
    }
}
