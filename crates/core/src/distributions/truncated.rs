//! Truncated distributions.

use burn_tensor::Tensor;
use rand::Rng;

use super::observed::{Support, record, without_recording};
use super::param::{Combine, Param};
use super::support::minus_infinity;
use super::{Cumulative, Distribution, Domain};

/// A distribution restricted to an interval: draws outside the interval do not exist.
///
/// ```text
/// log p(x) = log q(x) − log(F(high) − F(low)),   low ≤ x ≤ high
/// q, F: density and distribution function of the other distribution
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `distribution` | the other distribution, such as [`Normal`](super::Normal) | [`Cumulative`] | |
/// | `low` | lower bound ([`above`](Self::above)) | number or `Tensor<D>` | below `high` |
/// | `high` | upper bound ([`below`](Self::below)) | number or `Tensor<D>` | above `low` |
///
/// Support: the part of the support of the other distribution between the bounds; the log density is −∞ outside. Gradients
/// flow to the bounds as well.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Truncated_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::{Normal, Truncated};
///
/// let x = sgmcmc::array(vec![1.0, -1.0], [2])?;
/// let half = Truncated::new(Normal::new(0.0, 1.0)).above(0.0);
/// let log_prob: Vec<f64> = half.log_prob(x).into_data().iter::<f64>().collect();
/// // log 2 − ½ log 2π − ½, and a value below the bound.
/// assert!((log_prob[0] + 0.7257914).abs() < 1e-6);
/// assert_eq!(log_prob[1], f64::NEG_INFINITY);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct Truncated<const D: usize> {
    distribution: Box<dyn Cumulative<D>>,
    low: Option<Param<D>>,
    high: Option<Param<D>>,
}

impl<const D: usize> Truncated<D> {
    /// Creates a distribution without bounds.
    pub fn new(distribution: impl Cumulative<D> + 'static) -> Self {
        Self { distribution: Box::new(distribution), low: None, high: None }
    }

    /// Sets the lower bound.
    ///
    /// # Panics
    ///
    /// Panics if `low` is a number that is not finite, or that is not below the upper bound. Tensors are not checked.
    #[must_use]
    pub fn above(self, low: impl Into<Param<D>>) -> Self {
        Self { low: Some(low.into().finite("Truncated", "low")), ..self }.checked()
    }

    /// Sets the upper bound.
    ///
    /// # Panics
    ///
    /// Panics if `high` is a number that is not finite, or that is not above the lower bound. Tensors are not checked.
    #[must_use]
    pub fn below(self, high: impl Into<Param<D>>) -> Self {
        Self { high: Some(high.into().finite("Truncated", "high")), ..self }.checked()
    }

    fn checked(self) -> Self {
        if let (Some(Param::Number(low)), Some(Param::Number(high))) = (&self.low, &self.high)
            && low >= high
        {
            panic!("Truncated: high must be above low = {low}, not {high}");
        }
        self
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        if let Some([low, high]) = self.numbers() {
            record("Truncated", &value, Support::Interval(low, high));
        }
        let below = self.low.as_ref().map(|low| value.clone().minus(low).lower_elem(0.0));
        let above = self.high.as_ref().map(|high| value.clone().minus(high).greater_elem(0.0));
        let mut inside = value;
        // Values outside are moved to the bound, where the density is finite.
        for (bound, outside) in [(&self.low, &below), (&self.high, &above)] {
            if let (Some(bound), Some(outside)) = (bound, outside) {
                let dims = outside.dims();
                let bound = bound.like(&inside).expand(dims);
                inside = inside.expand(dims).mask_where(outside.clone(), bound);
            }
        }
        let like = inside.clone();
        let mut log_prob = without_recording(|| self.distribution.log_prob(inside));
        if let Some(log_mass) = self.log_mass(&like) {
            log_prob = log_prob - log_mass;
        }
        for outside in [below, above].into_iter().flatten() {
            log_prob = minus_infinity(log_prob, outside);
        }
        log_prob
    }

    /// Returns the bounds if they are numbers. A bound that is not set is infinite.
    fn numbers(&self) -> Option<[f64; 2]> {
        let number = |bound: &Option<Param<D>>, none: f64| match bound {
            None => Some(none),
            Some(Param::Number(number)) => Some(*number),
            Some(Param::Tensor(_)) => None,
        };
        Some([number(&self.low, f64::NEG_INFINITY)?, number(&self.high, f64::INFINITY)?])
    }

    /// Returns the log probability of the interval, or `None` if there are no bounds.
    fn log_mass(&self, like: &Tensor<D>) -> Option<Tensor<D>> {
        match (&self.low, &self.high) {
            (None, None) => None,
            (Some(low), None) => Some(self.distribution.log_survival(low.like(like))),
            (None, Some(high)) => Some(self.distribution.log_cdf(high.like(like))),
            (Some(low), Some(high)) => Some(self.distribution.log_interval(low.like(like), high.like(like))),
        }
    }

    /// Returns independent draws in an `f64` tensor of the given shape on the default device.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; D], mut rng: &mut R) -> Tensor<D> {
        let bound = |bound: &Option<Param<D>>, none: f64| bound.clone().unwrap_or(Param::Number(none));
        let (low, high) = (bound(&self.low, f64::NEG_INFINITY), bound(&self.high, f64::INFINITY));
        self.distribution.sample_between(&low, &high, shape, &mut rng)
    }
}

impl<const D: usize> Distribution<D> for Truncated<D> {
    fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        Self::log_prob(self, value)
    }

    fn sample(&self, shape: [usize; D], rng: &mut dyn Rng) -> Tensor<D> {
        Self::sample(self, shape, rng)
    }

    fn support(&self) -> Domain {
        self.numbers().map_or(Domain::Dependent, |[low, high]| self.distribution.support().restricted(low, high))
    }
}

generative!(Truncated);
