//! The distribution of Lewandowski, Kurowicka & Joe, over correlation matrices.

use burn_tensor::Tensor;
use rand::Rng;

use super::lkj_cholesky::{draw_factor, log_normalizer};
use super::param::{Combine, Param, from_host};
use super::scatter::{Definite, definite, log_diagonal, matrices};
use super::support::minus_infinity;

/// The LKJ distribution of a correlation matrix.
///
/// ```text
/// log p(R) = (eta − 1) log|R| − log c
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `eta` | concentration: 1 is uniform, larger values favor the identity | number, `[1]` or `[n]` | positive |
///
/// Support: correlation matrices; the log density is −∞ for matrices that are not positive definite. Only the lower
/// triangle of a matrix is read, and its diagonal must be one, which is not checked: the density is that of the entries
/// below the diagonal. Values have shape `[n, d, d]`, or `[d, d]` for one matrix.
///
/// A model whose parameter has the constraint of Cholesky factors of correlation matrices uses
/// [`LkjCholesky`](super::LkjCholesky), which needs no factorization.
///
/// # Source
///
/// Lewandowski, Kurowicka & Joe (2009).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::Lkj;
///
/// let matrix = sgmcmc::array(vec![1.0, 0.3, 0.3, 1.0], [2, 2])?;
/// let log_prob: Vec<f64> = Lkj::new(1.0).log_prob(matrix).into_data().iter::<f64>().collect();
/// // The correlation of two variables is uniform on (−1, 1).
/// assert!((log_prob[0] - 0.5_f64.ln()).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lkj {
    eta: Param<1>,
}

impl Lkj {
    /// Creates the distribution.
    ///
    /// # Panics
    ///
    /// Panics if `eta` is a number that is not positive and finite.
    pub fn new(eta: impl Into<Param<1>>) -> Self {
        Self { eta: eta.into().positive("Lkj", "eta") }
    }

    /// Returns the log density of each matrix in `value`.
    pub fn log_prob<const R: usize>(&self, value: Tensor<R>) -> Tensor<1> {
        let value = matrices(value, "Lkj", "the value");
        let d = value.dims()[1];
        let Definite { factor, outside } = definite(value);
        let exponent = (self.eta.clone() - 1.0) * 2.0;
        let log_prob = log_diagonal(&factor).times(&exponent).minus(&log_normalizer(&self.eta, d));
        minus_infinity(log_prob, outside)
    }

    /// Draws correlation matrices. `shape` is `[n, d, d]`.
    ///
    /// # Panics
    ///
    /// Panics if `eta` does not broadcast to n draws.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; 3], rng: &mut R) -> Tensor<3> {
        let [n, d, _] = shape;
        let drawn = self.eta.values([n]).into_iter().flat_map(|eta| {
            let factor = draw_factor(eta, d, rng);
            let entry = |i: usize, j: usize| {
                if i == j {
                    return 1.0;
                }

                (0..d).map(|k| factor[i * d + k] * factor[j * d + k]).sum()
            };
            (0..d * d).map(|at| entry(at / d, at % d)).collect::<Vec<f64>>()
        });
        from_host(drawn.collect(), shape)
    }
}

matrixwise!(Lkj, PositiveDefinite);
