//! Draws of mixtures.

use serde::{Deserialize, Serialize};

/// A draw of a mixture: the weights and parameters of its components, and the allocations of the observations.
///
/// Components are those up to the last one that is occupied. The Dirichlet process has infinitely many others, whose
/// parameters are distributed as the base distribution; [`log_remaining_weight`](Self::log_remaining_weight) is their weight.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::{Counts, DirichletProcess};
///
/// let data = Counts::new(2, [vec![(0, 3)], vec![(0, 2)], vec![(1, 4)]])?;
/// let mut sampler = DirichletProcess::multinomial(0.5).seed(1).sampler(&data)?;
/// sampler.step()?;
/// let mixture = sampler.mixture();
/// let total: f64 = mixture.log_weights.iter().map(|w| w.exp()).sum();
/// assert!((total + mixture.log_remaining_weight.exp() - 1.0).abs() < 1e-12);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixtureDraw<P> {
    /// The iteration.
    pub iteration: u64,
    /// The concentration α.
    pub concentration: f64,
    /// The logarithms of the weights of the components.
    pub log_weights: Vec<f64>,
    /// The logarithm of the weight of all other components together.
    pub log_remaining_weight: f64,
    /// The parameters of the components.
    pub components: Vec<P>,
    /// The component of every observation; empty if allocations are not kept.
    pub allocations: Vec<u32>,
}
