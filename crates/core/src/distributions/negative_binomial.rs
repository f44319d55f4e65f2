//! The negative binomial distribution, parameterized by mean and dispersion.

use burn_tensor::Tensor;

use super::draw;
use super::observed::{Support, record};
use super::param::{Combine, Param};
use super::poisson::draw_poisson;
use super::support::within;
use crate::special::lbeta;

/// The negative binomial distribution, parameterized by mean and dispersion.
///
/// ```text
/// log p(x) = log C(x + dispersion − 1, x) + x log(mean/(mean + dispersion)) − dispersion log(1 + mean/dispersion)
/// x = 0, 1, …
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `mean` | mean | number or `Tensor<D>` | positive |
/// | `dispersion` | mean²/(variance − mean); Poisson in the limit ∞ | number or `Tensor<D>` | positive |
///
/// Support: whole numbers from 0; the log probability is −∞ below.
///
/// This is Stan's
/// [`neg_binomial_2`](https://mc-stan.org/docs/functions-reference/unbounded_discrete_distributions.html). In terms of
/// SciPy's `nbinom`, n = dispersion and p = dispersion/(dispersion + mean).
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Negative_binomial_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::NegativeBinomial;
///
/// let x = sgmcmc::array(vec![1.0], [1])?;
/// let log_prob: Vec<f64> = NegativeBinomial::new(1.0, 1.0).log_prob(x).into_data().iter::<f64>().collect();
/// // With these parameters the probability of x is (1/2)^(x + 1): log(1/4).
/// assert!((log_prob[0] + 1.3862944).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct NegativeBinomial<const D: usize> {
    mean: Param<D>,
    dispersion: Param<D>,
}

impl<const D: usize> NegativeBinomial<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `mean` or `dispersion` is a number that is not positive and finite. Tensors are not checked.
    pub fn new(mean: impl Into<Param<D>>, dispersion: impl Into<Param<D>>) -> Self {
        Self {
            mean: mean.into().positive("NegativeBinomial", "mean"),
            dispersion: dispersion.into().positive("NegativeBinomial", "dispersion"),
        }
    }

    /// Returns the log probability of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        record("NegativeBinomial", &value, Support::Counts(f64::INFINITY));
        let outside = value.clone().lower_elem(0.0);
        within(value, outside, 0.0, |x| {
            let dispersion = self.dispersion.like(&x);
            let log_inverse_success = (self.dispersion.clone() / self.mean.clone()).log1p();
            let log_inverse_zero = (self.mean.clone() / self.dispersion.clone()).log1p() * self.dispersion.clone();
            let log_inverse_combinations = lbeta(dispersion.clone(), x.clone() + 1.0) + (x.clone() + dispersion).log();
            (log_inverse_combinations + x.times(&log_inverse_success)).plus(&log_inverse_zero).neg()
        })
    }
}

elementwise!(NegativeBinomial { mean, dispersion }, |[mean, dispersion], rng| {
    draw_poisson(draw(rand_distr::Gamma::new(dispersion, mean / dispersion), rng), rng)
}, mean: |[mean, _]| mean);
