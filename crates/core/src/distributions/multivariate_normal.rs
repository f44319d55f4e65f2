//! The multivariate normal distribution, over rows.

use burn_tensor::Tensor;
use rand::Rng;

use super::Normal;
use super::param::{Combine, Param, from_host};
use super::scatter::{Scatter, matrices};
use crate::matrix;
use crate::special::HALF_LOG_TWO_PI;

/// The multivariate normal distribution, over rows.
///
/// ```text
/// log p(x) = −½ |z|² − Σⱼ log L[j, j] − (d/2) log 2π,   L z = x − loc,   covariance L Lᵀ
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `loc` | mean | number, `[1, d]` or `[n, d]` | any real |
/// | `scale` | standard deviations ([`diagonal`](Self::diagonal)) | number, `[1, d]` or `[n, d]` | positive |
/// | `covariance` | covariance ([`covariance`](Self::covariance)) | `[d, d]` or `[n, d, d]` | positive definite |
/// | `precision` | inverse of the covariance ([`precision`](Self::precision)) | `[d, d]` or `[n, d, d]` | positive definite |
/// | `factor` | lower triangular L ([`cholesky`](Self::cholesky)) | `[d, d]` or `[n, d, d]` | positive diagonal |
///
/// Support: all rows of d reals. Entries of matrices above the diagonal are ignored. The log density is NaN if a matrix is
/// not positive definite.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Multivariate_normal_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::MultivariateNormal;
///
/// let factor = sgmcmc::array(vec![2.0, 0.0, 1.0, 1.0], [2, 2])?;
/// let covariance = sgmcmc::array(vec![4.0, 2.0, 2.0, 2.0], [2, 2])?;
/// let x = sgmcmc::array(vec![2.0, 1.0], [1, 2])?;
/// for normal in [MultivariateNormal::cholesky(0.0, factor), MultivariateNormal::covariance(0.0, covariance)] {
///     let log_prob: Vec<f64> = normal.log_prob(x.clone()).into_data().iter::<f64>().collect();
///     // z = (1, 0): −½ − log 2 − log 2π.
///     assert!((log_prob[0] + 3.0310243).abs() < 1e-6);
/// }
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MultivariateNormal {
    loc: Param<2>,
    scatter: Scatter,
}

impl MultivariateNormal {
    /// Creates a distribution with independent coordinates from their means and standard deviations, each a number or a
    /// tensor of shape `[1, d]` or `[n, d]`.
    ///
    /// # Panics
    ///
    /// Panics if `loc` is a number that is not finite, or if `scale` is a number that is not positive and finite.
    /// Tensors are not checked.
    pub fn diagonal(loc: impl Into<Param<2>>, scale: impl Into<Param<2>>) -> Self {
        let loc = loc.into().finite("MultivariateNormal", "loc");
        Self { loc, scatter: Scatter::Diagonal(scale.into().positive("MultivariateNormal", "scale")) }
    }

    /// Creates a distribution with covariance L Lᵀ from the lower triangular `factor` L of shape `[d, d]`, or from a
    /// factor for each row of shape `[n, d, d]`.
    ///
    /// # Panics
    ///
    /// Panics if `loc` is a number that is not finite, or if `factor` is not square.
    pub fn cholesky<const R: usize>(loc: impl Into<Param<2>>, factor: Tensor<R>) -> Self {
        let factor = matrices(factor, "MultivariateNormal", "factor");
        Self { loc: loc.into().finite("MultivariateNormal", "loc"), scatter: Scatter::Covariance(factor) }
    }

    /// Creates a distribution from its `covariance` of shape `[d, d]`, or from a covariance for each row of shape
    /// `[n, d, d]`.
    ///
    /// # Panics
    ///
    /// Panics if `loc` is a number that is not finite, or if `covariance` is not square.
    pub fn covariance<const R: usize>(loc: impl Into<Param<2>>, covariance: Tensor<R>) -> Self {
        let covariance = matrices(covariance, "MultivariateNormal", "covariance");
        Self::cholesky(loc, matrix::cholesky(covariance))
    }

    /// Creates a distribution from the inverse of its covariance of shape `[d, d]`, or from one for each row of shape
    /// `[n, d, d]`.
    ///
    /// # Panics
    ///
    /// Panics if `loc` is a number that is not finite, or if `precision` is not square.
    pub fn precision<const R: usize>(loc: impl Into<Param<2>>, precision: Tensor<R>) -> Self {
        let precision = matrices(precision, "MultivariateNormal", "precision");
        let scatter = Scatter::Precision(matrix::cholesky(precision));
        Self { loc: loc.into().finite("MultivariateNormal", "loc"), scatter }
    }

    /// Returns the log density of each row of `value`, which has shape `[n, d]`.
    pub fn log_prob(&self, value: Tensor<2>) -> Tensor<1> {
        if let Scatter::Diagonal(scale) = &self.scatter {
            let normal = Normal::new(self.loc.clone(), scale.clone());
            return normal.log_prob(value).sum_dim(1).squeeze_dim::<1>(1);
        }
        let centered = value.minus(&self.loc);
        let constant = centered.dims()[1] as f64 * HALF_LOG_TWO_PI;
        let log_scale = self.scatter.half_log_determinant(&centered);
        self.scatter.squared_distance(centered) * -0.5 - log_scale - constant
    }

    /// Draws rows. `shape` is `[n, d]`.
    ///
    /// # Panics
    ///
    /// Panics if d is not the size of the matrix, or if a parameter does not broadcast to `shape`.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; 2], mut rng: &mut R) -> Tensor<2> {
        if let Scatter::Diagonal(scale) = &self.scatter {
            return Normal::new(self.loc.clone(), scale.clone()).sample(shape, &mut rng);
        }
        let mut drawn = self.scatter.sample("MultivariateNormal", shape, rng);
        drawn.iter_mut().zip(self.loc.values(shape)).for_each(|(x, loc)| *x += loc);
        from_host(drawn, shape)
    }
}

rowwise!(MultivariateNormal);
