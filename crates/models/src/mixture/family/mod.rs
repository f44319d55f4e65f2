//! Families of component distributions.

mod categorical;
mod gaussian;
mod multinomial;
mod simplices;

pub use categorical::Categorical;
pub use gaussian::{Gaussian, GaussianComponent, GaussianStatistics, NormalInverseWishart};
pub use multinomial::Multinomial;
pub use simplices::{CategoryCounts, Probabilities};

use serde::{Serialize, de::DeserializeOwned};
use sgmcmc_gradient::Result;
use sgmcmc_gradient::rng::StreamRng;

use super::data::Observations;
use super::update::Update;

/// A family of component distributions f(x|θ) with a conjugate base distribution G₀ of θ.
///
/// | family | data | base distribution |
/// |---|---|---|
/// | [`Multinomial`] | [`Counts`](super::Counts) | Dirichlet |
/// | [`Categorical`] | [`Levels`](super::Levels) | Dirichlet, one per variable |
/// | [`Gaussian`] | [`Points`](super::Points) | normal-inverse-Wishart |
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::{Counts, Family, Multinomial};
///
/// let data = Counts::new(2, [vec![(0, 1)], vec![(1, 1)]])?;
/// let family = Multinomial::symmetric(2, 1.0)?;
/// let mut statistics = family.no_statistics();
/// family.add(&mut statistics, &data, 0, 1.0);
/// family.add(&mut statistics, &data, 1, 1.0);
/// // ∫ p (1 − p) dp = 1/6.
/// assert!((family.log_marginal(&statistics)? - (1.0_f64 / 6.0).ln()).abs() < 1e-12);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait Family: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// The observations.
    type Data: Observations;
    /// The parameters θ of a component.
    type Parameters: Clone + std::fmt::Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned + 'static;
    /// The sufficient statistics of the observations of a component.
    type Statistics: Clone + std::fmt::Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned + 'static;

    /// Checks that the family fits the data.
    ///
    /// # Errors
    ///
    /// Returns an error if the data have other categories, variables or dimensions.
    fn check(&self, data: &Self::Data) -> Result<()>;

    /// Returns the statistics of no observation.
    fn no_statistics(&self) -> Self::Statistics;

    /// Adds `weight` times the statistics of an observation.
    fn add(&self, statistics: &mut Self::Statistics, data: &Self::Data, observation: usize, weight: f64);

    /// Draws parameters from their distribution given the observations with these statistics.
    ///
    /// # Errors
    ///
    /// Returns an error if the distribution is degenerate at the precision of `f64`.
    fn draw(&self, statistics: &Self::Statistics, rng: &mut StreamRng) -> Result<Self::Parameters>;

    /// Moves parameters by `update`, with the statistics of the minibatch scaled to all observations and those of the
    /// stored allocations. A family whose parameters are not probabilities uses the latter for every update.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`draw`](Self::draw).
    fn update(
        &self,
        update: Update,
        parameters: &mut Self::Parameters,
        estimate: &Self::Statistics,
        stored: &Self::Statistics,
        rng: &mut StreamRng,
    ) -> Result<()>;

    /// Returns log f(x|θ) of an observation.
    fn log_density(&self, parameters: &Self::Parameters, data: &Self::Data, observation: usize) -> f64;

    /// Returns log ∫ Πᵢ f(xᵢ|θ) dG₀(θ) of the observations with these statistics.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`draw`](Self::draw).
    fn log_marginal(&self, statistics: &Self::Statistics) -> Result<f64>;
}
