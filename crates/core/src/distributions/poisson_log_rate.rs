//! The Poisson distribution, parameterized by the logarithm of its rate.

use burn_tensor::Tensor;

use super::observed::{Support, record};
use super::param::{Combine, Param};
use super::poisson::draw_poisson;
use super::support::within;
use crate::special::{HALF_LOG_TWO_PI, stirling};

/// The Poisson distribution, parameterized by the logarithm of its rate.
///
/// ```text
/// log p(x) = x log_rate − exp(log_rate) − lgamma(x + 1),   x = 0, 1, …
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `log_rate` | logarithm of the mean | number or `Tensor<D>` | any real |
///
/// Support: whole numbers from 0; the log probability is −∞ below. This is the likelihood of Poisson regression.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Poisson_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::PoissonLogRate;
///
/// let x = sgmcmc::array(vec![2.0], [1])?;
/// let log_prob: Vec<f64> = PoissonLogRate::new(0.0).log_prob(x).into_data().iter::<f64>().collect();
/// // −1 − log 2!
/// assert!((log_prob[0] + 1.6931472).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PoissonLogRate<const D: usize> {
    log_rate: Param<D>,
}

impl<const D: usize> PoissonLogRate<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `log_rate` is a number that is not finite. Tensors are not checked.
    pub fn new(log_rate: impl Into<Param<D>>) -> Self {
        Self { log_rate: log_rate.into().finite("PoissonLogRate", "log_rate") }
    }

    /// Returns the log probability of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        record("PoissonLogRate", &value, Support::Counts(f64::INFINITY));
        let outside = value.clone().lower_elem(0.0);
        within(value, outside, 0.0, |x| {
            let (s, correction) = stirling(x.clone() + 1.0);
            let log_s = s.clone().log();
            let leading = x * log_s.clone().neg().plus(&self.log_rate) + s.minus(&self.log_rate.exp());
            leading - (log_s * 0.5 + correction + HALF_LOG_TWO_PI)
        })
    }
}

elementwise!(PoissonLogRate { log_rate }, |[log_rate], rng| draw_poisson(log_rate.exp(), rng), mean: |[log_rate]| log_rate.exp());
