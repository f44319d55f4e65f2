//! The multivariate t distribution, over rows.

use std::f64::consts::PI;

use burn_tensor::Tensor;
use rand::Rng;

use super::param::{Combine, Param, from_host};
use super::scatter::{Scatter, matrices};
use super::{draw, positive};
use crate::matrix;

/// The multivariate Student t distribution, over rows: a normal distribution whose covariance has a random factor.
///
/// ```text
/// log p(x) = log Γ((df + d)/2) − log Γ(df/2) − (d/2) log(π df) − Σⱼ log L[j, j] − ((df + d)/2) log(1 + |z|²/df)
/// L z = x − loc,   scale matrix L Lᵀ
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `df` | degrees of freedom | number, `[1]` or `[n]` | positive |
/// | `loc` | location | number, `[1, d]` or `[n, d]` | any real |
/// | `scale` | scale matrix ([`new`](Self::new)) | `[d, d]` or `[n, d, d]` | positive definite |
/// | `factor` | lower triangular L ([`cholesky`](Self::cholesky)) | `[d, d]` or `[n, d, d]` | positive diagonal |
///
/// Support: all rows of d reals. Entries of matrices above the diagonal are ignored. The log density is NaN if a matrix is
/// not positive definite. The covariance is the scale matrix times df/(df − 2) for df > 2.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Multivariate_t-distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::{MultivariateStudentT, StudentT};
///
/// let scale = sgmcmc::array(vec![4.0], [1, 1])?;
/// let joint = MultivariateStudentT::new(3.0, 0.5, scale).log_prob(sgmcmc::array(vec![2.0], [1, 1])?);
/// let single = StudentT::new(3.0, 0.5, 2.0).log_prob(sgmcmc::array(vec![2.0], [1])?);
/// assert!((joint - single).into_scalar::<f64>().abs() < 1e-12);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MultivariateStudentT {
    df: Param<1>,
    loc: Param<2>,
    scatter: Scatter,
}

impl MultivariateStudentT {
    /// Creates a distribution from its scale matrix of shape `[d, d]`, or from one for each row of shape `[n, d, d]`.
    ///
    /// # Panics
    ///
    /// Panics if `df` is a number that is not positive and finite, if `loc` is a number that is not finite, or if `scale`
    /// is not square.
    pub fn new<const R: usize>(df: impl Into<Param<1>>, loc: impl Into<Param<2>>, scale: Tensor<R>) -> Self {
        let scale = matrices(scale, "MultivariateStudentT", "scale");
        Self::cholesky(df, loc, matrix::cholesky(scale))
    }

    /// Creates a distribution with scale matrix L Lᵀ from the lower triangular `factor` L of shape `[d, d]`, or from a
    /// factor for each row of shape `[n, d, d]`.
    ///
    /// # Panics
    ///
    /// Panics if `df` is a number that is not positive and finite, if `loc` is a number that is not finite, or if
    /// `factor` is not square.
    pub fn cholesky<const R: usize>(df: impl Into<Param<1>>, loc: impl Into<Param<2>>, factor: Tensor<R>) -> Self {
        let factor = matrices(factor, "MultivariateStudentT", "factor");
        Self {
            df: df.into().positive("MultivariateStudentT", "df"),
            loc: loc.into().finite("MultivariateStudentT", "loc"),
            scatter: Scatter::Covariance(factor),
        }
    }

    /// Returns the log density of each row of `value`, which has shape `[n, d]`.
    pub fn log_prob(&self, value: Tensor<2>) -> Tensor<1> {
        let centered = value.minus(&self.loc);
        let half = 0.5 * centered.dims()[1] as f64;
        let log_scale = self.scatter.half_log_determinant(&centered);
        // log Γ(a + b) − log Γ(a) = log Γ(b) − log B(a, b), which does not cancel for a large a.
        let dimension = Param::Number(half);
        let constant =
            dimension.lgamma() - (self.df.clone() * 0.5).lbeta(&dimension) - (self.df.clone() * PI).log() * half;
        let distance = self.scatter.squared_distance(centered).over(&self.df).log1p();
        distance.times(&((self.df.clone() * 0.5 + half) * -1.0)).plus(&constant) - log_scale
    }

    /// Draws rows. `shape` is `[n, d]`.
    ///
    /// # Panics
    ///
    /// Panics if d is not the size of the matrix, or if a parameter does not broadcast to `shape`.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; 2], rng: &mut R) -> Tensor<2> {
        let mut drawn = self.scatter.sample("MultivariateStudentT", shape, rng);
        let (df, loc) = (self.df.values([shape[0]]), self.loc.values(shape));
        let d = shape[1].max(1);
        for ((row, loc), df) in drawn.chunks_exact_mut(d).zip(loc.chunks_exact(d)).zip(df) {
            let scale = (df / draw(rand_distr::ChiSquared::new(positive(df)), rng)).sqrt();
            row.iter_mut().zip(loc).for_each(|(x, loc)| *x = loc + scale * *x);
        }
        from_host(drawn, shape)
    }
}

rowwise!(MultivariateStudentT);
