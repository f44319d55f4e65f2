//! The distribution of Lewandowski, Kurowicka & Joe, over Cholesky factors of correlation matrices.

use std::f64::consts::LN_2;

use burn_tensor::{Tensor, TensorData};
use rand::Rng;

use super::draw;
use super::param::{Combine, Param, from_host};
use super::scatter::matrices;
use super::support::minus_infinity;
use crate::matrix::diagonal;

/// The LKJ distribution of the Cholesky factor L of a correlation matrix R = L Lᵀ.
///
/// ```text
/// log p(L) = Σⱼ (d − j + 2 eta − 2) log L[j, j] − log c,   j = 2 … d
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `eta` | concentration: 1 is uniform over correlation matrices, larger values favor the identity | number, `[1]` or `[n]` | positive |
///
/// Support: lower triangular matrices whose rows have length one and whose diagonal is positive; the log density is −∞
/// if a diagonal entry is not positive. The length of the rows is not checked: the density is that of the entries below the
/// diagonal. Values have shape `[n, d, d]`, or `[d, d]` for one matrix.
///
/// This is Stan's `lkj_corr_cholesky`, and the prior for parameters with the constraint `cholesky_correlation`.
///
/// # Source
///
/// Lewandowski, Kurowicka & Joe (2009).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::LkjCholesky;
///
/// let factor = sgmcmc::array(vec![1.0, 0.0, 0.6, 0.8], [2, 2])?;
/// let log_prob: Vec<f64> = LkjCholesky::new(1.0).log_prob(factor).into_data().iter::<f64>().collect();
/// // The correlation of two variables is uniform on (−1, 1).
/// assert!((log_prob[0] - 0.5_f64.ln()).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LkjCholesky {
    eta: Param<1>,
}

impl LkjCholesky {
    /// Creates the distribution.
    ///
    /// # Panics
    ///
    /// Panics if `eta` is a number that is not positive and finite.
    pub fn new(eta: impl Into<Param<1>>) -> Self {
        Self { eta: eta.into().positive("LkjCholesky", "eta") }
    }

    /// Returns the log density of each factor in `value`.
    pub fn log_prob<const R: usize>(&self, value: Tensor<R>) -> Tensor<1> {
        let value = matrices(value, "LkjCholesky", "the value");
        let [n, d, _] = value.dims();
        // The first entry is always one.
        let pivots = diagonal(value).reshape([n, d]).narrow(1, 1.min(d - 1), d.saturating_sub(1).max(1));
        let outside = pivots.clone().lower_equal_elem(0.0);
        let logs = pivots.mask_fill(outside.clone(), 1.0).log();
        let columns = logs.dims()[1];
        // The exponent of the j-th logarithm is (d − j) + 2 (eta − 1).
        let degrees: Vec<f64> = (0..columns).map(|k| (d.saturating_sub(k + 2)) as f64).collect();
        let degrees: Tensor<2> =
            Tensor::from_data(TensorData::new(degrees, [1, columns]), (&logs.device(), logs.dtype()));
        let weighted = (logs.clone() * degrees).sum_dim(1).squeeze_dim::<1>(1);
        let exponent = (self.eta.clone() - 1.0) * 2.0;
        let plain = logs.sum_dim(1).squeeze_dim::<1>(1).times(&exponent);
        let log_prob = (weighted + plain).minus(&log_normalizer(&self.eta, d));
        minus_infinity(log_prob, outside.any_dim(1).squeeze_dim::<1>(1))
    }

    /// Draws factors. `shape` is `[n, d, d]`.
    ///
    /// # Panics
    ///
    /// Panics if `eta` does not broadcast to n draws.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; 3], rng: &mut R) -> Tensor<3> {
        let [n, d, _] = shape;
        let drawn = self.eta.values([n]).into_iter().flat_map(|eta| draw_factor(eta, d, rng));
        from_host(drawn.collect(), shape)
    }
}

/// Returns the logarithm of ∫ |R|^(eta − 1) dR over the correlation matrices with d rows.
pub(super) fn log_normalizer(eta: &Param<1>, d: usize) -> Param<1> {
    let terms = (1..d).map(|k| {
        let rest = (d - k) as f64;
        let shape = eta.clone() + 0.5 * (rest - 1.0);
        (eta.clone() * 2.0 - 2.0 + rest) * (rest * LN_2) + shape.lbeta(&shape) * rest
    });
    terms.fold(Param::Number(0.0), |sum, term| sum + term)
}

/// Draws a factor in row-major order, from independent partial correlations. They have beta distributions on (−1, 1).
pub(super) fn draw_factor<R: Rng + ?Sized>(eta: f64, d: usize, rng: &mut R) -> Vec<f64> {
    let mut factor = vec![0.0; d * d];
    for i in 0..d {
        let mut rest = 1.0_f64;
        for j in 0..i {
            let shape = eta + 0.5 * (d - 2 - j) as f64;
            let z = 2.0 * draw(rand_distr::Beta::new(shape, shape), rng) - 1.0;
            factor[i * d + j] = z * rest.sqrt();
            rest *= (1.0 - z) * (1.0 + z);
        }
        factor[i * d + i] = rest.sqrt();
    }
    factor
}

matrixwise!(LkjCholesky, CholeskyCorrelation);
