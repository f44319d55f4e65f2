//! Hyperpriors of the factors and their Gibbs updates.

use rand::{Rng, RngExt};
use rand_distr::Gamma;
use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{Error, Result, settings};
use sgmcmc_numerics::vector::dot;

use super::wishart::{GaussianWishart, MeanPrecision};

/// A Gamma distribution of a precision λ, with density ∝ λ^{shape−1} e^{−rate·λ}.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::factorization::GammaPrior;
///
/// let prior = GammaPrior { shape: 2.0, rate: 1.0 };
/// assert_eq!(prior.mean(), 2.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GammaPrior {
    /// The shape.
    pub shape: f64,
    /// The rate, the inverse of the scale.
    pub rate: f64,
}

impl GammaPrior {
    /// Returns the mean, shape/rate.
    pub fn mean(&self) -> f64 {
        self.shape / self.rate
    }

    /// Checks the settings.
    pub(super) fn check(&self) -> Result<()> {
        settings::positive("the shape of a Gamma prior", self.shape)?;
        settings::positive("the rate of a Gamma prior", self.rate)?;
        Ok(())
    }

    /// Draws the precision of `count` numbers N(0, 1/λ) with sum of squares `squares`, given these numbers.
    pub(super) fn draw_given<R: Rng + ?Sized>(&self, count: usize, squares: f64, rng: &mut R) -> Result<f64> {
        let (shape, rate) = (self.shape + 0.5 * count as f64, self.rate + 0.5 * squares);
        let gamma = Gamma::new(shape, 1.0 / rate).map_err(|error| Error::Draws {
            reason: format!("a precision with shape {shape} and rate {rate}: {error}"),
        })?;
        // A draw that underflows would make the prior improper.
        Ok(rng.sample(gamma).max(f64::MIN_POSITIVE))
    }
}

/// The prior of the rows of a factor.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::factorization::{BayesianFactorization, GammaPrior, Hyperprior};
///
/// let chen = Hyperprior::Gamma(GammaPrior { shape: 1.0, rate: 300.0 });
/// let model = BayesianFactorization::new(20).hyperprior(chen);
/// # let _ = model;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hyperprior {
    /// Rows are N(μ, Λ⁻¹) with Λ ~ Wishart(scale · I, degrees of freedom) and μ | Λ ~ N(0, (βΛ)⁻¹).
    ///
    /// Source: Salakhutdinov & Mnih (2008), eq. (7) to (9).
    GaussianWishart {
        /// The number β of prior observations of μ.
        beta: f64,
        /// The degrees of freedom of Λ. The default, `None`, is the rank.
        degrees_of_freedom: Option<f64>,
        /// The scale of Λ: E Λ = degrees of freedom × scale × I.
        scale: f64,
    },
    /// Element k of a row is N(0, 1/λₖ), with λₖ ~ Gamma(shape, rate).
    ///
    /// Source: Chen, Fox & Guestrin (2014), appendix H.2; Baker (2019), 3.5.2 and A.3 with Gamma(1, 300).
    Gamma(GammaPrior),
}

impl Default for Hyperprior {
    /// Returns the Gaussian–Wishart prior of Salakhutdinov & Mnih (2008): β = 2, W = I.
    fn default() -> Self {
        Self::GaussianWishart { beta: 2.0, degrees_of_freedom: None, scale: 1.0 }
    }
}

impl Hyperprior {
    /// Checks the settings for factors of rank `rank`.
    pub(super) fn check(&self, rank: usize) -> Result<()> {
        match self {
            Self::GaussianWishart { beta, degrees_of_freedom, scale } => {
                settings::positive("beta", *beta)?;
                settings::positive("the scale of the Wishart prior", *scale)?;
                let nu = degrees_of_freedom.unwrap_or(rank as f64);
                settings::finite("the degrees of freedom of the Wishart prior", nu)?;
                let lowest = rank as f64 - 1.0;
                if nu <= lowest {
                    return Err(Error::Setting {
                        name: "the degrees of freedom of the Wishart prior",
                        value: nu.to_string(),
                        expected: "it must exceed the rank minus 1",
                    });
                }
                Ok(())
            }
            Self::Gamma(prior) => prior.check(),
        }
    }

    /// Returns the Gaussian–Wishart distribution with these settings.
    fn gaussian_wishart(beta: f64, nu: f64, scale: f64, rank: usize) -> GaussianWishart {
        let mut inverse_scale = vec![0.0; rank * rank];
        inverse_scale.iter_mut().step_by(rank + 1).for_each(|entry| *entry = 1.0 / scale);
        GaussianWishart { location: vec![0.0; rank], beta, nu, inverse_scale }
    }

    /// Draws the hyperparameters given the rows of a factor, a row-major matrix with `rank` columns. Without rows, draws
    /// from the prior.
    pub(super) fn draw<R: Rng + ?Sized>(&self, rows: &[f64], rank: usize, rng: &mut R) -> Result<FactorPrior> {
        match self {
            Self::GaussianWishart { beta, degrees_of_freedom, scale } => {
                let nu = degrees_of_freedom.unwrap_or(rank as f64);
                let prior = Self::gaussian_wishart(*beta, nu, *scale, rank);
                let MeanPrecision { mean, precision } =
                    if rows.is_empty() { prior.draw(rng)? } else { prior.given(rows).draw(rng)? };
                Ok(FactorPrior::Full { mean, precision })
            }
            Self::Gamma(prior) => {
                let mut squares = vec![0.0; rank];
                for row in rows.chunks_exact(rank) {
                    squares.iter_mut().zip(row).for_each(|(sum, x)| *sum += x * x);
                }
                let count = rows.len() / rank;
                let precision = squares.into_iter().map(|squares| prior.draw_given(count, squares, rng));
                Ok(FactorPrior::Diagonal { precision: precision.collect::<Result<_>>()? })
            }
        }
    }
}

/// The prior of the rows of a factor given the hyperparameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum FactorPrior {
    /// N(μ, Λ⁻¹), Λ in row-major order.
    Full { mean: Vec<f64>, precision: Vec<f64> },
    /// N(0, diag(λ)⁻¹).
    Diagonal { precision: Vec<f64> },
}

impl FactorPrior {
    /// Returns the log density of `rows` up to a constant that depends on the hyperparameters only, and adds its
    /// gradient to `grad`.
    pub(super) fn log_density(&self, rows: &[f64], grad: &mut [f64]) -> f64 {
        let mut squares = 0.0;
        match self {
            Self::Full { mean, precision } => {
                let rank = mean.len();
                let mut centered = vec![0.0; rank];
                for (row, grad) in rows.chunks_exact(rank).zip(grad.chunks_exact_mut(rank)) {
                    centered.iter_mut().zip(row.iter().zip(mean)).for_each(|(c, (x, mean))| *c = x - mean);
                    for ((c, grad), line) in centered.iter().zip(grad).zip(precision.chunks_exact(rank)) {
                        let product = dot(line, &centered);
                        *grad -= product;
                        squares += c * product;
                    }
                }
            }
            Self::Diagonal { precision } => {
                let rank = precision.len();
                for (row, grad) in rows.chunks_exact(rank).zip(grad.chunks_exact_mut(rank)) {
                    for ((x, grad), precision) in row.iter().zip(grad).zip(precision) {
                        *grad -= precision * x;
                        squares += precision * x * x;
                    }
                }
            }
        }
        -0.5 * squares
    }

    /// Adds the precision matrix to the upper left block of `matrix`, which has `dim` rows, and precision times mean to
    /// `linear`.
    pub(super) fn add_to(&self, matrix: &mut [f64], linear: &mut [f64], dim: usize) {
        match self {
            Self::Full { mean, precision } => {
                for ((out, linear), line) in
                    matrix.chunks_exact_mut(dim).zip(linear).zip(precision.chunks_exact(mean.len()))
                {
                    out.iter_mut().zip(line).for_each(|(out, x)| *out += x);
                    *linear += dot(line, mean);
                }
            }
            Self::Diagonal { precision } => {
                precision.iter().enumerate().for_each(|(k, precision)| matrix[k * dim + k] += precision);
            }
        }
    }

    /// Appends the hyperparameters to `out`.
    pub(super) fn append_to(&self, out: &mut Vec<f64>) {
        match self {
            Self::Full { mean, precision } => {
                out.extend_from_slice(mean);
                out.extend_from_slice(precision);
            }
            Self::Diagonal { precision } => out.extend_from_slice(precision),
        }
    }

    /// Returns whether this is a prior of factors of rank `rank` of the same kind as `other`.
    pub(super) fn has_shape_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Full { mean, precision }, Self::Full { mean: m, precision: p }) => {
                mean.len() == m.len() && precision.len() == p.len()
            }
            (Self::Diagonal { precision }, Self::Diagonal { precision: p }) => precision.len() == p.len(),
            _ => false,
        }
    }
}
