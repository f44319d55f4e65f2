//! Matrices as parameters: covariances, precisions and Cholesky factors.

use burn_tensor::{Bool, Tensor};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use sgmcmc_numerics::triangular;

use super::param::{Combine, Param, host};
use crate::matrix::{add_diagonal, cholesky, diagonal, solve_lower};

/// Returns square matrices `[d, d]`, `[1, d, d]` or `[n, d, d]` with a leading axis.
pub(super) fn matrices<const R: usize>(tensor: Tensor<R>, distribution: &str, name: &str) -> Tensor<3> {
    let dims = tensor.dims();
    match dims.as_slice() {
        [d, e] if d == e => tensor.reshape([1, *d, *d]),
        [n, d, e] if d == e => tensor.reshape([*n, *d, *d]),
        _ => panic!("{distribution}: {name} must be square, [d, d] or [n, d, d], not {dims:?}"),
    }
}

/// Returns the Cholesky factors of `values`, and a mask `[n, 1, 1]` of the matrices that are not positive definite.
/// These are replaced by the identity, so that the gradient there is zero.
pub(super) fn definite(values: Tensor<3>) -> Definite {
    let [n, d, _] = values.dims();
    let outside = diagonal(cholesky(values.clone().detach())).is_nan().any_dim(2);
    let identity = add_diagonal(values.zeros_like(), 1.0);
    let factor = cholesky(values.mask_where(outside.clone().expand([n, d, d]), identity));
    Definite { factor, outside: outside.reshape([n]) }
}

/// Matrices in the cone of positive definite matrices.
pub(super) struct Definite {
    pub(super) factor: Tensor<3>,
    /// True where the matrix is not positive definite.
    pub(super) outside: Tensor<1, Bool>,
}

/// Returns log Γ_d(a), the logarithm of the multivariate gamma function.
pub(super) fn multivariate_lgamma(a: &Param<1>, d: usize) -> Param<1> {
    let constant = 0.25 * (d * d.saturating_sub(1)) as f64 * std::f64::consts::PI.ln();
    let terms = (0..d).map(|j| (a.clone() - 0.5 * j as f64).lgamma());
    terms.fold(Param::Number(constant), |sum, term| sum + term)
}

/// Draws the lower triangular A of Bartlett: A Aᵀ has the Wishart distribution with the identity as scale matrix.
pub(super) fn bartlett<R: Rng + ?Sized>(df: f64, d: usize, rng: &mut R) -> Vec<f64> {
    let mut factor = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..i {
            factor[i * d + j] = rng.sample(StandardNormal);
        }
        let squared = super::draw(rand_distr::ChiSquared::new(super::positive(df - i as f64)), rng);
        factor[i * d + i] = squared.sqrt();
    }
    factor
}

/// Returns the host copies of n matrices from one or n of them.
///
/// # Panics
///
/// Panics if there is another number of matrices, or if they do not have d rows.
pub(super) fn host_matrices(matrix: &Tensor<3>, name: &str, n: usize, d: usize) -> Vec<Vec<f64>> {
    let [count, rows, _] = matrix.dims();
    assert!(rows == d, "{name}: matrices have {rows} rows, not {d}");
    assert!(count == 1 || count == n, "{name}: {count} matrices for {n} draws");
    let values = host(matrix);
    (0..n).map(|i| values[if count == 1 { 0 } else { i * d * d }..][..d * d].to_vec()).collect()
}

/// Returns Σⱼ log L[j, j], of shape `[n]`.
pub(super) fn log_diagonal(factor: &Tensor<3>) -> Tensor<1> {
    let n = factor.dims()[0];
    diagonal(factor.clone()).log().sum_dim(2).reshape([n])
}

/// Returns the sum of the squares of the entries of each matrix, of shape `[n]`.
pub(super) fn sum_of_squares(matrix: Tensor<3>) -> Tensor<1> {
    let n = matrix.dims()[0];
    matrix.square().sum_dim(2).sum_dim(1).reshape([n])
}

/// A matrix of scales of rows with d coordinates: a covariance matrix, or a multiple of one.
#[derive(Clone, Debug)]
pub(super) enum Scatter {
    /// Standard deviations of independent coordinates.
    Diagonal(Param<2>),
    /// The Cholesky factor of the covariance, `[1, d, d]` or `[n, d, d]`.
    Covariance(Tensor<3>),
    /// The Cholesky factor of the inverse of the covariance, `[1, d, d]` or `[n, d, d]`.
    Precision(Tensor<3>),
}

impl Scatter {
    /// Returns the squared Mahalanobis distance of each row of `x` from zero.
    pub(super) fn squared_distance(&self, x: Tensor<2>) -> Tensor<1> {
        let sum = |z: Tensor<2>| z.square().sum_dim(1).squeeze_dim::<1>(1);
        match self {
            Self::Diagonal(scale) => sum(x.over(scale)),
            Self::Covariance(factor) if factor.dims()[0] == 1 => {
                let solved = solve_lower(factor.clone().squeeze_dim::<2>(0), x.transpose());
                solved.square().sum_dim(0).squeeze_dim::<1>(0)
            }
            Self::Covariance(factor) => sum_of_squares(solve_lower(factor.clone(), x.unsqueeze_dim(2))),
            Self::Precision(factor) if factor.dims()[0] == 1 => sum(x.matmul(factor.clone().squeeze_dim::<2>(0))),
            Self::Precision(factor) => sum_of_squares(x.unsqueeze_dim::<3>(1).matmul(factor.clone())),
        }
    }

    /// Returns half the logarithm of the determinant of the covariance, `[1]` or `[n]`. Rows have `d` coordinates.
    pub(super) fn half_log_determinant(&self, x: &Tensor<2>) -> Tensor<1> {
        match self {
            Self::Diagonal(scale) => {
                let [_, d] = x.dims();
                let log = scale.log().like(x);
                let [n, _] = log.dims();
                log.expand([n, d]).sum_dim(1).squeeze_dim::<1>(1)
            }
            Self::Covariance(factor) => log_diagonal(factor),
            Self::Precision(factor) => log_diagonal(factor).neg(),
        }
    }

    /// Returns draws with mean zero in row-major order, if `normal` is standard normal. `shape` is `[n, d]`.
    ///
    /// # Panics
    ///
    /// Panics if d is not the size of the matrix, or if there are neither one nor n matrices.
    pub(super) fn sample<R: Rng + ?Sized>(&self, name: &str, [n, d]: [usize; 2], rng: &mut R) -> Vec<f64> {
        let mut drawn: Vec<f64> = (0..n * d).map(|_| rng.sample(StandardNormal)).collect();
        let factor = match self {
            Self::Diagonal(scale) => {
                let scale = scale.values([n, d]);
                drawn.iter_mut().zip(scale).for_each(|(x, scale)| *x *= super::positive(scale));
                return drawn;
            }
            Self::Covariance(factor) | Self::Precision(factor) => factor,
        };
        let factors = host_matrices(factor, name, n, d);
        for (row, factor) in drawn.chunks_exact_mut(d.max(1)).zip(&factors) {
            if matches!(self, Self::Precision(_)) {
                triangular::solve_lower_transposed(factor, d, row, 1);
            } else {
                multiply_lower(factor, row);
            }
        }
        drawn
    }
}

/// Replaces v by L v. Entries of L above the diagonal are ignored.
pub(super) fn multiply_lower(factor: &[f64], v: &mut [f64]) {
    let d = v.len();
    for i in (0..d).rev() {
        v[i] = (0..=i).map(|j| factor[i * d + j] * v[j]).sum();
    }
}
