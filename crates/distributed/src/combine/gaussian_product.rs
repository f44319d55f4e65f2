//! The product of normal approximations: see [`GaussianProduct`].

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc_fit::Tempering;
use sgmcmc_gradient::rng::StreamRng;

use super::normal::{Normal, product};
use super::{Combination, DrawOrder, Draws, Result, draw_count};

/// The parametric method of Neiswanger, Wang & Xing (2014): draws from the product of the normal distributions with the
/// means and covariances of the shards.
///
/// ```text
/// Σ = (Σ_s Σ_s⁻¹)⁻¹,   μ = Σ Σ_s Σ_s⁻¹ μ_s,   θ ~ N(μ, Σ)
/// ```
///
/// It is exact for normal subposteriors. The combined draws are independent and normal in unconstrained coordinates.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::combine::{Combination, Draws, GaussianProduct};
///
/// let shard = |shift: f64| Draws::new((0..100).map(|k| shift + f64::from(k % 10)).collect(), 1);
/// let draws = GaussianProduct::default().combine(&[shard(0.0)?, shard(1.0)?], 1)?;
/// assert_eq!(draws.len(), 100);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GaussianProduct {
    /// The number of draws. `None` makes as many as the shortest shard has.
    pub draws: Option<usize>,
}

impl Combination for GaussianProduct {
    fn name(&self) -> &'static str {
        "gaussian-product"
    }

    fn order(&self) -> DrawOrder {
        DrawOrder::New
    }

    fn apply(&self, shards: &[Draws], _tempering: Tempering, rng: &mut StreamRng) -> Result<Draws> {
        let count = draw_count(self.draws, shards)?;
        let Normal { mean, cholesky, .. } = product(&Normal::estimate_all(shards, self.name())?)?;
        let d = mean.len();
        let mut values = vec![0.0; count * d];
        let mut z = vec![0.0; d];
        for row in values.chunks_exact_mut(d) {
            z.fill_with(|| rng.sample(StandardNormal));
            cholesky.product(&z, row);
            row.iter_mut().zip(&mean).for_each(|(x, m)| *x += m);
        }
        Ok(Draws::from_parts(values, d))
    }
}
