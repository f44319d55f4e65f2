//! Products of kernel density estimates: see [`Kdemc`].

use sgmcmc_fit::Tempering;
use sgmcmc_gradient::rng::StreamRng;

use super::components::{ComponentSampling, DensityProduct};
use super::{Combination, DrawOrder, Draws, Result};

/// KDEMC, the nonparametric method of Neiswanger, Wang & Xing (2014): draws from the product of kernel density estimates
/// of the subposteriors.
///
/// The product is a mixture of one Gaussian for every choice t of one draw θ_{t_s} per shard, with weight
/// Π_s N(θ_{t_s} | θ̄_t, h² C), mean θ̄_t and covariance h² C/S, where C is the average covariance of the shards. The
/// components are sampled by Metropolis within Gibbs, see [`ComponentSampling`].
///
/// It follows subposteriors of any shape if they overlap. Each estimate is wider than its subposterior by the factor 1 +
/// h² in variance, and so is the product. Kernel estimates need a number of draws that grows exponentially with the
/// dimension: use it in a few dimensions. Where the draws of the shards do not overlap, the result is a guess from the
/// tails of kernels.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::combine::{Combination, Draws, Kdemc};
///
/// let shard = |shift: f64| Draws::new((0..100).map(|k| shift + f64::from(k % 10)).collect(), 1);
/// let draws = Kdemc::default().combine(&[shard(0.0)?, shard(1.0)?], 1)?;
/// assert_eq!(draws.len(), 100);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Kdemc {
    /// The settings of the Markov chain over the components.
    pub sampling: ComponentSampling,
}

impl Combination for Kdemc {
    fn name(&self) -> &'static str {
        "kdemc"
    }

    fn order(&self) -> DrawOrder {
        DrawOrder::New
    }

    fn apply(&self, shards: &[Draws], _tempering: Tempering, rng: &mut StreamRng) -> Result<Draws> {
        DensityProduct::new(shards, false, self.name())?.sample(self.sampling, rng)
    }
}
