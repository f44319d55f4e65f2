//! The gamma distribution, by shape and rate.

use burn_tensor::Tensor;

use super::draw;
use super::observed::{Support, observed};
use super::param::{Combine, Param};
use super::support::within;

/// The gamma distribution, by shape and rate.
///
/// ```text
/// log p(x) = shape log rate + (shape − 1) log x − rate x − lgamma(shape),   x ≥ 0
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `shape` | shape, mean × rate | positive |
/// | `rate` | rate, the inverse of the scale | positive |
///
/// Support: x ≥ 0; −∞ below. At zero it is +∞ for shapes below one, log rate for shape one, −∞ above.
#[derive(Clone, Debug)]
pub struct Gamma<const D: usize> {
    shape: Param<D>,
    rate: Param<D>,
}

impl<const D: usize> Gamma<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(shape: impl Into<Param<D>>, rate: impl Into<Param<D>>) -> Self {
        Self { shape: shape.into().positive("Gamma", "shape"), rate: rate.into().positive("Gamma", "rate") }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        observed("Gamma", &value, Support::NotNegative);
        let outside = value.clone().lower_elem(0.0);
        let constant = self.shape.clone() * self.rate.log() - self.shape.lgamma();
        within(value, outside, 1.0, |x| {
            // Not as a function of rate · x: at x = 0 its gradient to the rate would be 0 · ∞.
            ((self.shape.clone() - 1.0).xlogy(x.clone()) - x.times(&self.rate)).plus(&constant)
        })
    }
}

elementwise!(Gamma { shape, rate }, |[shape, rate], rng| draw(rand_distr::Gamma::new(shape, rate.recip()), rng));
