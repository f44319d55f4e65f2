//! The Wishart distribution, over positive definite matrices.

use std::f64::consts::LN_2;

use burn_tensor::Tensor;
use rand::Rng;

use super::param::{Combine, Param, from_host};
use super::scatter::{
    Definite, bartlett, definite, host_matrices, log_diagonal, matrices, multivariate_lgamma, sum_of_squares,
};
use crate::matrix::{cholesky, solve_lower};

/// The Wishart distribution of a positive definite matrix, such as the sum of x xᵀ over `df` draws x of a normal
/// distribution.
///
/// ```text
/// log p(X) = ((df − d − 1)/2) log|X| − ½ tr(scale⁻¹ X) − (df d/2) log 2 − (df/2) log|scale| − log Γ_d(df/2)
/// Γ_d: multivariate gamma function
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `df` | degrees of freedom | number, `[1]` or `[n]` | above d − 1 |
/// | `scale` | scale matrix ([`new`](Self::new)) | `[d, d]` or `[n, d, d]` | positive definite |
/// | `factor` | its Cholesky factor ([`cholesky`](Self::cholesky)) | `[d, d]` or `[n, d, d]` | positive diagonal |
///
/// Support: symmetric positive definite matrices; the log density is −∞ for other matrices. Only the lower triangle of a
/// matrix is read: the density is that of its entries on and below the diagonal. Values have shape `[n, d, d]`, or
/// `[d, d]` for one matrix.
/// The mean is df · scale. The log density is NaN if the scale matrix is not positive definite.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Wishart_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::{Gamma, Wishart};
///
/// let scale = sgmcmc::array(vec![2.0], [1, 1])?;
/// let matrix = sgmcmc::array(vec![3.0], [1, 1])?;
/// let wishart = Wishart::new(5.0, scale).log_prob(matrix);
/// let gamma = Gamma::new(2.5, 0.25).log_prob(sgmcmc::array(vec![3.0], [1])?);
/// assert!((wishart - gamma).into_scalar::<f64>().abs() < 1e-12);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Wishart {
    df: Param<1>,
    factor: Tensor<3>,
}

impl Wishart {
    /// Creates the distribution from its scale matrix.
    ///
    /// # Panics
    ///
    /// Panics if `df` is a number that is not positive and finite, or if `scale` is not square.
    pub fn new<const R: usize>(df: impl Into<Param<1>>, scale: Tensor<R>) -> Self {
        Self::cholesky(df, cholesky(matrices(scale, "Wishart", "scale")))
    }

    /// Creates the distribution with scale matrix L Lᵀ from the lower triangular `factor` L.
    ///
    /// # Panics
    ///
    /// Panics if `df` is a number that is not positive and finite, or if `factor` is not square.
    pub fn cholesky<const R: usize>(df: impl Into<Param<1>>, factor: Tensor<R>) -> Self {
        Self { df: df.into().positive("Wishart", "df"), factor: matrices(factor, "Wishart", "factor") }
    }

    /// Returns the log density of each matrix in `value`.
    pub fn log_prob<const R: usize>(&self, value: Tensor<R>) -> Tensor<1> {
        let value = matrices(value, "Wishart", "the value");
        let d = value.dims()[1];
        let Definite { factor, outside } = definite(value);
        let exponent = self.df.clone() - (d as f64 + 1.0);
        let constant = self.df.clone() * (0.5 * d as f64 * LN_2) + multivariate_lgamma(&(self.df.clone() * 0.5), d);
        let log_scale = log_diagonal(&self.factor).times(&self.df);
        let log_determinant = log_diagonal(&factor).times(&exponent);
        let trace = sum_of_squares(solve_lower(self.factor.clone(), factor));
        let log_prob = (log_determinant - trace * 0.5 - log_scale).minus(&constant);
        super::support::minus_infinity(log_prob, outside)
    }

    /// Draws matrices. `shape` is `[n, d, d]`.
    ///
    /// # Panics
    ///
    /// Panics if d is not the size of the scale matrix, or if a parameter does not broadcast to n draws.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; 3], rng: &mut R) -> Tensor<3> {
        let [n, d, _] = shape;
        let factors = host_matrices(&self.factor, "Wishart", n, d);
        let df = self.df.values([n]);
        let drawn = factors.iter().zip(df).flat_map(|(factor, df)| {
            let inner = bartlett(df, d, rng);
            let root = |i: usize, j: usize| (j..=i).map(|k| factor[i * d + k] * inner[k * d + j]).sum::<f64>();
            let root: Vec<f64> = (0..d * d).map(|at| root(at / d, at % d)).collect();
            (0..d * d).map(|at| (0..d).map(|k| root[at / d * d + k] * root[at % d * d + k]).sum()).collect::<Vec<f64>>()
        });
        from_host(drawn.collect(), shape)
    }
}

matrixwise!(Wishart, PositiveDefinite);
