//! The Dirichlet distribution, over rows of proportions.

use burn_tensor::{Tensor, TensorData};
use rand::Rng;

use super::draw;
use super::observed::{Support, record};
use super::param::{Param, as_rows, from_host};
use super::support::within_rows;
use crate::special::{lgamma, xlogy};

/// The Dirichlet distribution, over rows of proportions.
///
/// ```text
/// log p(x) = Σⱼ (concentration[j] − 1) log x[j] + lgamma(Σⱼ concentration[j]) − Σⱼ lgamma(concentration[j])
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `concentration` | concentrations; normalized, they are the mean | `[k]`, `[1, k]` or `[n, k]`; numbers by [`from_concentrations`](Self::from_concentrations) and [`symmetric`](Self::symmetric) | positive |
///
/// Support: rows of numbers ≥ 0 whose sum is one; the log density is −∞ for rows with a negative number. The sum is not
/// checked because it is one only up to rounding. The density is with respect to the first k − 1 coordinates. For a
/// coordinate that is zero it is the limit, as in [`Beta`](super::Beta).
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Dirichlet_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::Dirichlet;
///
/// let x = sgmcmc::array(vec![0.5, 0.25, 0.25], [1, 3])?;
/// let dirichlet = Dirichlet::new(sgmcmc::array(vec![2.0, 1.0, 1.0], [3])?);
/// let log_prob: Vec<f64> = dirichlet.log_prob(x).into_data().iter::<f64>().collect();
/// // Γ(4)/(Γ(2) Γ(1) Γ(1)) · 0.5 = 3.
/// assert!((log_prob[0] - 1.0986123).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dirichlet {
    concentration: Concentration,
}

/// The concentrations: a tensor, numbers for each entry, or one number for all entries.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a distribution has one")]
enum Concentration {
    Tensor(Tensor<2>),
    Numbers(Vec<f64>),
    Same(f64),
}

impl Concentration {
    /// Returns the concentrations as rows with the type and the device of `value`.
    fn rows(&self, value: &Tensor<2>) -> Tensor<2> {
        let options = (&value.device(), value.dtype());
        let entries = value.dims()[1];
        match self {
            Self::Tensor(tensor) => tensor.clone(),
            Self::Numbers(numbers) => {
                let found = numbers.len();
                assert!(found == entries, "Dirichlet: {found} concentrations for rows of {entries} proportions");
                let data = TensorData::new(numbers.clone(), [1, found]);
                Tensor::from_data(data.convert_dtype(value.dtype()), options)
            }
            Self::Same(number) => Tensor::full([1, entries], *number, options),
        }
    }
}

impl Dirichlet {
    /// Creates the distribution from concentrations of shape `[k]`, `[1, k]` or `[n, k]`.
    ///
    /// # Panics
    ///
    /// Panics if the rank of `concentration` is neither one nor two. Its values are not checked.
    pub fn new<const R: usize>(concentration: Tensor<R>) -> Self {
        Self { concentration: Concentration::Tensor(as_rows(concentration, "Dirichlet", "concentration")) }
    }

    /// Creates the distribution from numbers, one for each proportion.
    ///
    /// # Panics
    ///
    /// Panics if a number is not positive and finite, or if there are none.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributions::Dirichlet;
    ///
    /// let log_prob = Dirichlet::from_concentrations(&[2.0, 1.0, 1.0]).log_prob(sgmcmc::array(vec![0.5, 0.25, 0.25], [1, 3])?);
    /// assert!((log_prob.into_scalar::<f64>() - 1.0986123).abs() < 1e-6);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn from_concentrations(concentrations: &[f64]) -> Self {
        assert!(!concentrations.is_empty(), "Dirichlet: there are no concentrations");
        concentrations.iter().for_each(|concentration| check(*concentration));
        Self { concentration: Concentration::Numbers(concentrations.to_vec()) }
    }

    /// Creates the distribution with the same concentration for any number of proportions. One gives the uniform
    /// distribution.
    ///
    /// # Panics
    ///
    /// Panics if the number is not positive and finite.
    pub fn symmetric(concentration: f64) -> Self {
        check(concentration);
        Self { concentration: Concentration::Same(concentration) }
    }

    /// Returns the log density of each row of `value`, which has shape `[n, k]`.
    pub fn log_prob(&self, value: Tensor<2>) -> Tensor<1> {
        record("Dirichlet", &value, Support::Interval(0.0, 1.0));
        let weights = self.concentration.rows(&value);
        let constant = lgamma(weights.clone().sum_dim(1)) - lgamma(weights.clone()).sum_dim(1);
        within_rows(value, 0.5, |x| xlogy(weights - 1.0, x).sum_dim(1) + constant)
    }

    /// Draws rows of proportions. `shape` is `[n, k]`.
    ///
    /// # Panics
    ///
    /// Panics if the concentrations do not broadcast to `shape`.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; 2], rng: &mut R) -> Tensor<2> {
        let weights = Param::Tensor(self.concentration.rows(&from_host(vec![0.0; shape[0] * shape[1]], shape))).values(shape);
        let mut drawn: Vec<f64> = weights.iter().map(|a| draw(rand_distr::Gamma::new(*a, 1.0), rng)).collect();
        for row in drawn.chunks_exact_mut(shape[1].max(1)) {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|part| *part /= sum);
        }
        from_host(drawn, shape)
    }
}

/// Checks a concentration.
fn check(concentration: f64) {
    assert!(
        concentration > 0.0 && concentration.is_finite(),
        "Dirichlet: concentrations must be positive and finite, not {concentration}"
    );
}

rowwise!(Dirichlet, Simplex);
