//! Products of semiparametric density estimates: see [`SemiparametricKdemc`].

use sgmcmc_fit::Tempering;
use sgmcmc_gradient::rng::StreamRng;

use super::components::{ComponentSampling, DensityProduct};
use super::{Combination, DrawOrder, Draws, Result};

/// The semiparametric method of Neiswanger, Wang & Xing (2014): draws from the product of estimates that are a normal
/// density times a kernel estimate of the rest.
///
/// ```text
/// p̂_s(θ) = 1/n Σ_t N(θ | θ_st, h² C) N(θ | μ_s, Σ_s) / N(θ_st | μ_s, Σ_s)
/// ```
///
/// Compared with [`Kdemc`](super::Kdemc), the normal factors correct most of the smoothing of nearly normal
/// subposteriors, so that it is usable in more dimensions. The product is again a mixture, sampled in the same way.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::combine::{Combination, Draws, SemiparametricKdemc};
///
/// let shard = |shift: f64| Draws::new((0..100).map(|k| shift + f64::from(k % 10)).collect(), 1);
/// let draws = SemiparametricKdemc::default().combine(&[shard(0.0)?, shard(1.0)?], 1)?;
/// assert_eq!(draws.len(), 100);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SemiparametricKdemc {
    /// The settings of the Markov chain over the components.
    pub sampling: ComponentSampling,
}

impl Combination for SemiparametricKdemc {
    fn name(&self) -> &'static str {
        "semiparametric-kdemc"
    }

    fn order(&self) -> DrawOrder {
        DrawOrder::New
    }

    fn apply(&self, shards: &[Draws], _tempering: Tempering, rng: &mut StreamRng) -> Result<Draws> {
        DensityProduct::new(shards, true, self.name())?.sample(self.sampling, rng)
    }
}
