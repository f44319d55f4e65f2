//! The negative binomial distribution, by mean and dispersion, as Stan's `neg_binomial_2`.

use burn_tensor::Tensor;

use super::draw;
use super::observed::{Support, observed};
use super::param::{Combine, Param};
use super::poisson::draw_poisson;
use super::support::within;
use crate::special::lbeta;

/// The negative binomial distribution, by mean and dispersion, as Stan's `neg_binomial_2`.
///
/// ```text
/// log p(x) = log C(x + dispersion − 1, x) + x log(mean/(mean + dispersion)) − dispersion log(1 + mean/dispersion)
/// x = 0, 1, …
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `mean` | mean | positive |
/// | `dispersion` | mean²/(variance − mean); the Poisson distribution is its limit at ∞ | positive |
///
/// Support: whole numbers from 0; −∞ below. In SciPy's `nbinom` n = dispersion, p = dispersion/(dispersion + mean).
#[derive(Clone, Debug)]
pub struct NegativeBinomial<const D: usize> {
    mean: Param<D>,
    dispersion: Param<D>,
}

impl<const D: usize> NegativeBinomial<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(mean: impl Into<Param<D>>, dispersion: impl Into<Param<D>>) -> Self {
        Self {
            mean: mean.into().positive("NegativeBinomial", "mean"),
            dispersion: dispersion.into().positive("NegativeBinomial", "dispersion"),
        }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        observed("NegativeBinomial", &value, Support::Counts(f64::INFINITY));
        let outside = value.clone().lower_elem(0.0);
        within(value, outside, 0.0, |x| {
            let dispersion = self.dispersion.like(&x);
            let share = (self.dispersion.clone() / self.mean.clone()).log1p();
            let none = (self.mean.clone() / self.dispersion.clone()).log1p() * self.dispersion.clone();
            let choices = lbeta(dispersion.clone(), x.clone() + 1.0) + (x.clone() + dispersion).log();
            (choices + x.times(&share)).plus(&none).neg()
        })
    }
}

elementwise!(NegativeBinomial { mean, dispersion }, |[mean, dispersion], rng| {
    draw_poisson(draw(rand_distr::Gamma::new(dispersion, mean / dispersion), rng), rng)
});
