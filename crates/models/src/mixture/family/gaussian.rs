//! Gaussian components with full covariance matrices.

use std::f64::consts::PI;

use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Error, Result, settings};
use sgmcmc_numerics::Cholesky;
use statrs::function::gamma::ln_gamma;

use super::Family;
use crate::mixture::data::{Observations, Points};
use crate::mixture::random::log_gamma;
use crate::mixture::update::Update;

/// The normal-inverse-Wishart distribution: Σ ~ InverseWishart(ν, Ψ), μ | Σ ~ N(m, Σ/κ).
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::{Gaussian, NormalInverseWishart};
///
/// let prior = NormalInverseWishart {
///     mean: vec![0.0, 0.0],
///     strength: 0.1,
///     degrees_of_freedom: 4.0,
///     scale: vec![1.0, 0.0, 0.0, 1.0],
/// };
/// assert!(Gaussian::new(prior).is_ok());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NormalInverseWishart {
    /// The mean m.
    pub mean: Vec<f64>,
    /// The number κ of observations that the prior of μ is worth.
    pub strength: f64,
    /// The degrees of freedom ν, above d − 1.
    pub degrees_of_freedom: f64,
    /// The scale matrix Ψ in row-major order. The mean of Σ is Ψ/(ν − d − 1).
    pub scale: Vec<f64>,
}

/// Gaussian components x ~ N(μ, Σ) with a normal-inverse-Wishart base distribution, for [`Points`].
///
/// The sufficient statistics of a component are few numbers, so that they are always those of all stored allocations:
/// components are drawn from their exact conditional distribution with every [`Update`].
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::{Family, Gaussian, Points};
///
/// let data = Points::new(vec![0.0, 0.1, 1.2, 0.9, 0.4, 0.3], 2)?;
/// let family = Gaussian::around(&data)?;
/// assert!(family.check(&data).is_ok());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Gaussian {
    prior: NormalInverseWishart,
    /// log det Ψ.
    log_determinant: f64,
}

/// The parameters of a Gaussian component: μ, and a matrix R with RᵀR = Σ⁻¹.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GaussianComponent {
    mean: Vec<f64>,
    root: Vec<f64>,
    log_determinant: f64,
}

impl GaussianComponent {
    /// Returns the mean μ.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Returns the precision matrix Σ⁻¹ in row-major order.
    pub fn precision(&self) -> Vec<f64> {
        let d = self.mean.len();
        let entry = |i: usize, j: usize| (0..d).map(|k| self.root[k * d + i] * self.root[k * d + j]).sum();
        (0..d * d).map(|index| entry(index / d, index % d)).collect()
    }
}

/// The number, sum and sum of outer products of the deviations of points from the prior mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GaussianStatistics {
    count: f64,
    sum: Vec<f64>,
    outer: Vec<f64>,
}

/// The distribution of the parameters given points, with deviations from the prior mean.
struct Posterior {
    strength: f64,
    degrees_of_freedom: f64,
    shift: Vec<f64>,
    /// The Cholesky factor L of the scale matrix.
    scale: Cholesky,
}

impl Gaussian {
    /// Creates the family with this base distribution.
    ///
    /// # Errors
    ///
    /// Returns an error if the scale matrix is not positive definite or another parameter is out of range.
    pub fn new(prior: NormalInverseWishart) -> Result<Self> {
        let d = prior.mean.len();
        settings::at_least("the dimension of the points", d, 1, "it must be at least 1")?;
        prior.mean.iter().try_for_each(|m| settings::finite("the prior mean", *m).map(drop))?;
        settings::positive("the strength of the prior mean", prior.strength)?;
        settings::positive("the degrees of freedom minus the dimension plus 1", {
            prior.degrees_of_freedom - d as f64 + 1.0
        })?;
        let factor = Cholesky::new(&prior.scale, d).map_err(|error| not_positive_definite(&error))?;
        Ok(Self { log_determinant: factor.log_determinant(), prior })
    }

    /// Creates the family with a weak base distribution around the data: m is their mean, κ = 0.01, ν = d + 2, and Ψ
    /// is the diagonal matrix of a tenth of their variances, which is the prior mean of Σ.
    ///
    /// # Errors
    ///
    /// Returns an error if a coordinate is the same in all points.
    pub fn around(data: &Points) -> Result<Self> {
        let (d, n) = (data.dim(), data.observations() as f64);
        let points = || (0..data.observations()).map(|i| data.point(i));
        let mean: Vec<f64> = (0..d).map(|k| points().map(|x| x[k]).sum::<f64>() / n).collect();
        let mut scale = vec![0.0; d * d];
        for k in 0..d {
            let variance = points().map(|x| (x[k] - mean[k]).powi(2)).sum::<f64>() / n;
            scale[k * d + k] = 0.1 * settings::positive("the variance of a coordinate", variance)?;
        }
        Self::new(NormalInverseWishart { mean, strength: 0.01, degrees_of_freedom: d as f64 + 2.0, scale })
    }

    /// Returns the distribution of the parameters given points with these statistics.
    fn posterior(&self, statistics: &GaussianStatistics) -> Result<Posterior> {
        let NormalInverseWishart { mean, strength, degrees_of_freedom, scale } = &self.prior;
        let d = mean.len();
        let strength = strength + statistics.count;
        let shift: Vec<f64> = statistics.sum.iter().map(|sum| sum / strength).collect();
        let entry =
            |index: usize| scale[index] + statistics.outer[index] - strength * shift[index / d] * shift[index % d];
        let matrix: Vec<f64> = (0..d * d).map(entry).collect();
        let scale = Cholesky::new(&matrix, d).map_err(|error| not_positive_definite(&error))?;
        Ok(Posterior { strength, degrees_of_freedom: degrees_of_freedom + statistics.count, shift, scale })
    }
}

/// Returns the error for a scale matrix without a Cholesky factor.
fn not_positive_definite(error: &sgmcmc_numerics::Error) -> Error {
    Error::Setting {
        name: "the scale matrix of the inverse Wishart distribution",
        value: format!("not valid ({error})"),
        expected: "it must be symmetric and positive definite; rescale the data if it is nearly singular",
    }
}

/// Returns the log of the multivariate gamma function of dimension `d` at `x`, without its power of π.
fn ln_multivariate_gamma(d: usize, x: f64) -> f64 {
    (0..d).map(|i| ln_gamma(x - 0.5 * i as f64)).sum()
}

impl Family for Gaussian {
    type Data = Points;
    type Parameters = GaussianComponent;
    type Statistics = GaussianStatistics;

    fn check(&self, data: &Points) -> Result<()> {
        let (expected, found) = (self.prior.mean.len(), data.dim());
        if expected == found { Ok(()) } else { Err(Error::Length { what: "a point", expected, found }) }
    }

    fn no_statistics(&self) -> GaussianStatistics {
        let d = self.prior.mean.len();
        GaussianStatistics { count: 0.0, sum: vec![0.0; d], outer: vec![0.0; d * d] }
    }

    fn add(&self, statistics: &mut GaussianStatistics, data: &Points, observation: usize, weight: f64) {
        let d = self.prior.mean.len();
        let point = data.point(observation);
        statistics.count += weight;
        for (i, (x, m)) in point.iter().zip(&self.prior.mean).enumerate() {
            let deviation = weight * (x - m);
            statistics.sum[i] += deviation;
            for (j, (y, m)) in point.iter().zip(&self.prior.mean).enumerate() {
                statistics.outer[i * d + j] += deviation * (y - m);
            }
        }
    }

    /// Draws Σ⁻¹ = RᵀR with R = Bᵀ L⁻¹, where B is the lower triangular Bartlett matrix: Bᵢᵢ² ~ χ²(ν − i) and standard
    /// normal entries below the diagonal. The mean is m + κ^{−½} R⁻¹ z.
    fn draw(&self, statistics: &GaussianStatistics, rng: &mut StreamRng) -> Result<GaussianComponent> {
        let d = self.prior.mean.len();
        let Posterior { strength, degrees_of_freedom, shift, scale } = self.posterior(statistics)?;
        let mut bartlett = vec![0.0; d * d];
        let mut log_determinant = -0.5 * scale.log_determinant();
        for i in 0..d {
            for j in 0..i {
                bartlett[i * d + j] = rng.sample(StandardNormal);
            }
            let log_diagonal = 0.5 * (std::f64::consts::LN_2 + log_gamma(0.5 * (degrees_of_freedom - i as f64), rng));
            bartlett[i * d + i] = log_diagonal.exp();
            log_determinant += log_diagonal;
        }
        // Row k of R is L⁻ᵀ times column k of B.
        let mut root = vec![0.0; d * d];
        for (k, row) in root.chunks_exact_mut(d).enumerate() {
            row.iter_mut().enumerate().for_each(|(i, entry)| *entry = bartlett[i * d + k]);
            scale.solve_upper(row);
        }
        // R⁻¹ z = L B⁻ᵀ z, by back substitution.
        let mut y: Vec<f64> = (0..d).map(|_| rng.sample(StandardNormal)).collect();
        for i in (0..d).rev() {
            let tail: f64 = (i + 1..d).map(|j| bartlett[j * d + i] * y[j]).sum();
            y[i] = (y[i] - tail) / bartlett[i * d + i];
        }
        let mut mean = vec![0.0; d];
        scale.product(&y, &mut mean);
        for ((mean, prior), shift) in mean.iter_mut().zip(&self.prior.mean).zip(&shift) {
            *mean = prior + shift + *mean / strength.sqrt();
        }
        Ok(GaussianComponent { mean, root, log_determinant })
    }

    fn update(
        &self,
        _update: Update,
        parameters: &mut GaussianComponent,
        _estimate: &GaussianStatistics,
        stored: &GaussianStatistics,
        rng: &mut StreamRng,
    ) -> Result<()> {
        *parameters = self.draw(stored, rng)?;
        Ok(())
    }

    fn log_density(&self, parameters: &GaussianComponent, data: &Points, observation: usize) -> f64 {
        let GaussianComponent { mean, root, log_determinant } = parameters;
        let (d, point) = (mean.len(), data.point(observation));
        let mut square = 0.0;
        for row in root.chunks_exact(d) {
            let deviations = point.iter().zip(mean).map(|(x, m)| x - m);
            let product: f64 = row.iter().zip(deviations).map(|(r, deviation)| r * deviation).sum();
            square += product * product;
        }
        log_determinant - 0.5 * (square + d as f64 * (2.0 * PI).ln())
    }

    fn log_marginal(&self, statistics: &GaussianStatistics) -> Result<f64> {
        let d = self.prior.mean.len();
        let Posterior { strength, degrees_of_freedom, scale, .. } = self.posterior(statistics)?;
        let (dim, prior) = (d as f64, &self.prior);
        Ok(ln_multivariate_gamma(d, 0.5 * degrees_of_freedom)
            - ln_multivariate_gamma(d, 0.5 * prior.degrees_of_freedom)
            + 0.5 * prior.degrees_of_freedom * self.log_determinant
            - 0.5 * degrees_of_freedom * scale.log_determinant()
            + 0.5 * dim * (prior.strength / strength).ln()
            - 0.5 * statistics.count * dim * PI.ln())
    }
}
