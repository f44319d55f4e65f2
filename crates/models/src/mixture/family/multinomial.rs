//! Multinomial components.

use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Error, Result};

use super::Family;
use super::simplices::{CategoryCounts, Probabilities, Simplices};
use crate::mixture::data::Counts;
use crate::mixture::update::Update;

/// Multinomial components x ~ Multinomial(n, p), p ~ Dirichlet(a), for [`Counts`].
///
/// Densities are those of the sequence of categories, Π pⱼ^{xⱼ}: the multinomial coefficient does not depend on the
/// component.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::{Counts, Family, Multinomial};
///
/// let data = Counts::new(3, [vec![(0, 2)]])?;
/// assert!(Multinomial::symmetric(3, 0.5)?.check(&data).is_ok());
/// assert!(Multinomial::new(vec![0.5, 1.0])?.check(&data).is_err());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Multinomial {
    simplices: Simplices,
}

impl Multinomial {
    /// Creates the family with the base distribution Dirichlet(a).
    ///
    /// # Errors
    ///
    /// Returns an error if an element of `a` is not positive.
    pub fn new(a: Vec<f64>) -> Result<Self> {
        let categories = a.len();
        Ok(Self { simplices: Simplices::new(a, &[categories])? })
    }

    /// Creates the family with the base distribution Dirichlet(a, …, a).
    ///
    /// # Errors
    ///
    /// Returns an error if `a` is not positive.
    pub fn symmetric(categories: usize, a: f64) -> Result<Self> {
        Self::new(vec![a; categories])
    }
}

impl Family for Multinomial {
    type Data = Counts;
    type Parameters = Probabilities;
    type Statistics = CategoryCounts;

    fn check(&self, data: &Counts) -> Result<()> {
        let expected = self.simplices.len();
        if data.categories() == expected {
            return Ok(());
        }
        Err(Error::Length { what: "an observation", expected, found: data.categories() })
    }

    fn no_statistics(&self) -> CategoryCounts {
        self.simplices.no_statistics()
    }

    fn add(&self, statistics: &mut CategoryCounts, data: &Counts, observation: usize, weight: f64) {
        for (category, count) in data.row(observation) {
            statistics.counts[category] += weight * count;
        }
    }

    fn draw(&self, statistics: &CategoryCounts, rng: &mut StreamRng) -> Result<Probabilities> {
        Ok(self.simplices.draw(statistics, rng))
    }

    fn update(
        &self,
        update: Update,
        parameters: &mut Probabilities,
        estimate: &CategoryCounts,
        stored: &CategoryCounts,
        rng: &mut StreamRng,
    ) -> Result<()> {
        self.simplices.update(update, parameters, estimate, stored, rng)
    }

    fn log_density(&self, parameters: &Probabilities, data: &Counts, observation: usize) -> f64 {
        let log_probabilities = parameters.log_probabilities();
        data.row(observation).map(|(category, count)| count * log_probabilities[category]).sum()
    }

    fn log_marginal(&self, statistics: &CategoryCounts) -> Result<f64> {
        Ok(self.simplices.log_marginal(statistics))
    }
}
