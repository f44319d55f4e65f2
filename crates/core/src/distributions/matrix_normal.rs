//! The matrix normal distribution.

use burn_tensor::Tensor;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

use super::param::{Combine, Param, from_host};
use super::scatter::{host_matrices, log_diagonal, matrices, sum_of_squares};
use crate::matrix::{cholesky, solve_lower};
use crate::special::HALF_LOG_TWO_PI;

/// The matrix normal distribution: a matrix of normal variables whose covariance is the product of one between rows and
/// one between columns.
///
/// ```text
/// log p(X) = −½ tr(columns⁻¹ (X − loc)ᵀ rows⁻¹ (X − loc)) − (c/2) log|rows| − (r/2) log|columns| − (r c/2) log 2π
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `loc` | mean | number, `[1, r, c]` or `[n, r, c]` | any real |
/// | `rows` | covariance between rows, or its factor ([`cholesky`](Self::cholesky)) | `[r, r]` or `[n, r, r]` | positive definite |
/// | `columns` | covariance between columns, or its factor | `[c, c]` or `[n, c, c]` | positive definite |
///
/// Support: all real matrices. Entries of covariances above the diagonal are ignored. The log density is NaN if a
/// covariance is not positive definite. Values have shape `[n, r, c]`, or `[r, c]` for one matrix.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Matrix_normal_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::{MatrixNormal, MultivariateNormal};
///
/// let rows = sgmcmc::array(vec![4.0, 2.0, 2.0, 2.0], [2, 2])?;
/// let columns = sgmcmc::array(vec![1.0], [1, 1])?;
/// let matrix = MatrixNormal::new(0.0, rows.clone(), columns).log_prob(sgmcmc::array(vec![2.0, 1.0], [2, 1])?);
/// let vector = MultivariateNormal::covariance(0.0, rows).log_prob(sgmcmc::array(vec![2.0, 1.0], [1, 2])?);
/// assert!((matrix - vector).into_scalar::<f64>().abs() < 1e-12);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MatrixNormal {
    loc: Param<3>,
    rows: Tensor<3>,
    columns: Tensor<3>,
}

impl MatrixNormal {
    /// Creates the distribution from the covariances between rows and between columns.
    ///
    /// # Panics
    ///
    /// Panics if `loc` is a number that is not finite, or if a covariance is not square.
    pub fn new<const R: usize, const C: usize>(loc: impl Into<Param<3>>, rows: Tensor<R>, columns: Tensor<C>) -> Self {
        let rows = cholesky(matrices(rows, "MatrixNormal", "rows"));
        Self::cholesky(loc, rows, cholesky(matrices(columns, "MatrixNormal", "columns")))
    }

    /// Creates the distribution from the Cholesky factors of the covariances between rows and between columns.
    ///
    /// # Panics
    ///
    /// Panics if `loc` is a number that is not finite, or if a factor is not square.
    pub fn cholesky<const R: usize, const C: usize>(
        loc: impl Into<Param<3>>,
        rows: Tensor<R>,
        columns: Tensor<C>,
    ) -> Self {
        Self {
            loc: loc.into().finite("MatrixNormal", "loc"),
            rows: matrices(rows, "MatrixNormal", "rows"),
            columns: matrices(columns, "MatrixNormal", "columns"),
        }
    }

    /// Returns the log density of each matrix in `value`.
    ///
    /// # Panics
    ///
    /// Panics if `value` does not have two or three axes.
    pub fn log_prob<const R: usize>(&self, value: Tensor<R>) -> Tensor<1> {
        let dims = value.dims();
        let (n, r, c) = match dims.as_slice() {
            [r, c] => (1, *r, *c),
            [n, r, c] => (*n, *r, *c),
            _ => panic!("MatrixNormal: the value must be [r, c] or [n, r, c], not {dims:?}"),
        };
        let centered = value.reshape([n, r, c]).minus(&self.loc);
        let half = solve_lower(self.rows.clone(), centered);
        let whitened = solve_lower(self.columns.clone(), half.swap_dims(1, 2));
        let log_scale = log_diagonal(&self.rows) * c as f64 + log_diagonal(&self.columns) * r as f64;
        sum_of_squares(whitened) * -0.5 - log_scale - (r * c) as f64 * HALF_LOG_TWO_PI
    }

    /// Draws matrices. `shape` is `[n, r, c]`.
    ///
    /// # Panics
    ///
    /// Panics if the covariances have other sizes, or if a parameter does not broadcast to `shape`.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; 3], rng: &mut R) -> Tensor<3> {
        let [n, r, c] = shape;
        let rows = host_matrices(&self.rows, "MatrixNormal", n, r);
        let columns = host_matrices(&self.columns, "MatrixNormal", n, c);
        let mut drawn = self.loc.values(shape);
        for ((x, rows), columns) in drawn.chunks_exact_mut((r * c).max(1)).zip(&rows).zip(&columns) {
            let z: Vec<f64> = (0..r * c).map(|_| rng.sample(StandardNormal)).collect();
            for (i, j) in (0..r).flat_map(|i| (0..c).map(move |j| (i, j))) {
                let inner = |k: usize| (0..=j).map(|l| z[k * c + l] * columns[j * c + l]).sum::<f64>();
                x[i * c + j] += (0..=i).map(|k| rows[i * r + k] * inner(k)).sum::<f64>();
            }
        }
        from_host(drawn, shape)
    }
}

matrixwise!(MatrixNormal, Unconstrained);
