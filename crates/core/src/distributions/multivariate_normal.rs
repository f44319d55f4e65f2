//! The multivariate normal distribution, over rows.

use burn_tensor::Tensor;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

use super::Normal;
use super::param::{Combine, Param, from_host, host};
use crate::special::HALF_LOG_TWO_PI;

/// The multivariate normal distribution, over rows.
///
/// ```text
/// log p(x) = −½ Σⱼ z[j]² − Σⱼ log L[j, j] − (d/2) log 2π,   L z = x − loc,   covariance L Lᵀ
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `loc` | mean | number, `[1, d]` or `[n, d]` | any real |
/// | `scale` | standard deviations ([`diagonal`](Self::diagonal)) | number, `[1, d]` or `[n, d]` | positive |
/// | `factor` | lower triangular L ([`cholesky`](Self::cholesky)) | `[d, d]` | positive diagonal |
///
/// Support: all rows of d reals. Entries of L above the diagonal are ignored.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Multivariate_normal_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::MultivariateNormal;
///
/// let factor = sgmcmc::array(vec![2.0, 0.0, 1.0, 1.0], [2, 2])?;
/// let x = sgmcmc::array(vec![2.0, 1.0], [1, 2])?;
/// let normal = MultivariateNormal::cholesky(0.0, factor);
/// let log_prob: Vec<f64> = normal.log_prob(x).into_data().iter::<f64>().collect();
/// // z = (1, 0): −½ − log 2 − log 2π.
/// assert!((log_prob[0] + 3.0310243).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MultivariateNormal {
    loc: Param<2>,
    root: CovarianceRoot,
}

/// The square root of the covariance.
#[derive(Clone, Debug)]
enum CovarianceRoot {
    Diagonal(Param<2>),
    Cholesky(Tensor<2>),
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
        Self { loc, root: CovarianceRoot::Diagonal(scale.into().positive("MultivariateNormal", "scale")) }
    }

    /// Creates a distribution with covariance L Lᵀ from the lower triangular `factor` L of shape `[d, d]`.
    ///
    /// # Panics
    ///
    /// Panics if `loc` is a number that is not finite, or if `factor` is not square.
    pub fn cholesky(loc: impl Into<Param<2>>, factor: Tensor<2>) -> Self {
        let [rows, columns] = factor.dims();
        assert!(rows == columns, "MultivariateNormal: factor must be square, not {rows} × {columns}");
        Self { loc: loc.into().finite("MultivariateNormal", "loc"), root: CovarianceRoot::Cholesky(factor) }
    }

    /// Returns the log density of each row of `value`, which has shape `[n, d]`.
    pub fn log_prob(&self, value: Tensor<2>) -> Tensor<1> {
        match &self.root {
            CovarianceRoot::Diagonal(scale) => {
                let normal = Normal::new(self.loc.clone(), scale.clone());
                normal.log_prob(value).sum_dim(1).squeeze_dim::<1>(1)
            }
            CovarianceRoot::Cholesky(factor) => {
                let d = factor.dims()[0];
                let (squares, log_diagonal) = solve(value.minus(&self.loc), factor);
                (squares * -0.5 - log_diagonal - d as f64 * HALF_LOG_TWO_PI).squeeze_dim::<1>(1)
            }
        }
    }

    /// Draws rows. `shape` is `[n, d]`.
    ///
    /// # Panics
    ///
    /// Panics if d is not the size of the factor, or if a parameter does not broadcast to `shape`.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; 2], rng: &mut R) -> Tensor<2> {
        match &self.root {
            CovarianceRoot::Diagonal(scale) => Normal::new(self.loc.clone(), scale.clone()).sample(shape, rng),
            CovarianceRoot::Cholesky(factor) => {
                let d = factor.dims()[0];
                assert!(shape[1] == d, "MultivariateNormal: rows have {d} coordinates, not {}", shape[1]);
                let (factor, mut drawn) = (host(factor), self.loc.values(shape));
                for row in drawn.chunks_exact_mut(d.max(1)) {
                    let z: Vec<f64> = (0..d).map(|_| rng.sample(StandardNormal)).collect();
                    for (i, x) in row.iter_mut().enumerate() {
                        *x += (0..=i).map(|j| factor[i * d + j] * z[j]).sum::<f64>();
                    }
                }
                from_host(drawn, shape)
            }
        }
    }
}

/// Solves L z = x for each row x by forward substitution. Returns Σⱼ z[j]² of shape `[n, 1]` and Σⱼ log L[j, j] of
/// shape `[1, 1]`.
fn solve(x: Tensor<2>, factor: &Tensor<2>) -> (Tensor<2>, Tensor<2>) {
    let entry = |i: usize, columns: std::ops::Range<usize>| factor.clone().slice([i..i + 1, columns]);
    let first = entry(0, 0..1);
    let mut solved = x.clone().narrow(1, 0, 1) / first.clone();
    let mut log_diagonal = first.log();
    for i in 1..factor.dims()[0] {
        let diagonal = entry(i, i..i + 1);
        let before = solved.clone().matmul(entry(i, 0..i).transpose());
        let z = (x.clone().narrow(1, i, 1) - before) / diagonal.clone();
        solved = Tensor::cat(vec![solved, z], 1);
        log_diagonal = log_diagonal + diagonal.log();
    }
    (solved.square().sum_dim(1), log_diagonal)
}

rowwise!(MultivariateNormal);
