//! Products of categorical components.

use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Error, Result};

use super::Family;
use super::simplices::{CategoryCounts, Probabilities, Simplices};
use crate::mixture::data::Levels;
use crate::mixture::update::Update;

/// Components with independent categorical variables, x_v ~ Categorical(p_v), p_v ~ Dirichlet(a, …, a), for [`Levels`]:
/// the mixture of Dunson & Xing (2009). With two levels per variable, components are products of Bernoulli
/// distributions.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::{Categorical, Family, Levels};
///
/// let data = Levels::new(vec![2, 3], vec![0, 2, 1, 1])?;
/// assert!(Categorical::symmetric(&[2, 3], 0.5)?.check(&data).is_ok());
/// assert!(Categorical::symmetric(&[2, 2], 0.5)?.check(&data).is_err());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Categorical {
    simplices: Simplices,
}

impl Categorical {
    /// Creates the family of variables with these numbers of levels, with the base distribution Dirichlet(a, …, a) of
    /// each.
    ///
    /// # Errors
    ///
    /// Returns an error if `a` is not positive.
    pub fn symmetric(sizes: &[usize], a: f64) -> Result<Self> {
        Ok(Self { simplices: Simplices::new(vec![a; sizes.iter().sum()], sizes)? })
    }
}

impl Family for Categorical {
    type Data = Levels;
    type Parameters = Probabilities;
    type Statistics = CategoryCounts;

    fn check(&self, data: &Levels) -> Result<()> {
        if self.simplices.sizes().eq(data.sizes().iter().copied()) {
            return Ok(());
        }
        Err(Error::Setting {
            name: "the number of levels of the variables",
            value: format!("{:?}", data.sizes()),
            expected: "it must be that of the mixture",
        })
    }

    fn no_statistics(&self) -> CategoryCounts {
        self.simplices.no_statistics()
    }

    fn add(&self, statistics: &mut CategoryCounts, data: &Levels, observation: usize, weight: f64) {
        data.row(observation).iter().for_each(|cell| statistics.counts[*cell as usize] += weight);
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

    fn log_density(&self, parameters: &Probabilities, data: &Levels, observation: usize) -> f64 {
        let log_probabilities = parameters.log_probabilities();
        data.row(observation).iter().map(|cell| log_probabilities[*cell as usize]).sum()
    }

    fn log_marginal(&self, statistics: &CategoryCounts) -> Result<f64> {
        Ok(self.simplices.log_marginal(statistics))
    }
}
