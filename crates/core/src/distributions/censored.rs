//! Censored distributions.

use burn_tensor::Tensor;
use rand::Rng;

use super::observed::{is_recording, without_recording};
use super::param::{Param, from_host, host};
use super::{Cumulative, Distribution, Domain};
use crate::special::broadcast;

/// A distribution whose values are recorded only between limits: a value beyond a limit is recorded as the limit.
///
/// ```text
/// log p(x) = log q(x),            low < x < high
/// log p(x) = log F(low),          x ≤ low
/// log p(x) = log(1 − F(high)),    x ≥ high
/// q, F: density and distribution function of the other distribution
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `distribution` | the other distribution, such as [`Weibull`](super::Weibull) | [`Cumulative`] | |
/// | `low` | limit of left censoring ([`left`](Self::left)) | number or `Tensor<D>` | below `high`; −∞: not censored |
/// | `high` | limit of right censoring ([`right`](Self::right)) | number or `Tensor<D>` | above `low`; ∞: not censored |
///
/// Support: the support of the other distribution. Values at the limits have probabilities, values between them have
/// densities.
///
/// In survival data, each observation has its own limit: the time at which it was lost from view, and ∞ if the event was
/// observed ([`Dataset::allow_non_finite`](crate::Dataset::allow_non_finite)). For data that are known only up to an interval, use [`Cumulative::log_interval`].
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Censoring_(statistics)).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::{Censored, Exponential};
///
/// // The first event was observed at time 2, the second one had not happened at time 3.
/// let time = sgmcmc::array(vec![2.0, 3.0], [2])?;
/// let limit = sgmcmc::array(vec![f64::INFINITY, 3.0], [2])?;
/// let lifetime = Censored::new(Exponential::new(0.5)).right(limit);
/// let log_prob: Vec<f64> = lifetime.log_prob(time).into_data().iter::<f64>().collect();
/// assert!((log_prob[0] - (0.5_f64.ln() - 1.0)).abs() < 1e-6);
/// assert!((log_prob[1] + 1.5).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct Censored<const D: usize> {
    distribution: Box<dyn Cumulative<D>>,
    low: Option<Param<D>>,
    high: Option<Param<D>>,
}

impl<const D: usize> Censored<D> {
    /// Creates a distribution without limits.
    pub fn new(distribution: impl Cumulative<D> + 'static) -> Self {
        Self { distribution: Box::new(distribution), low: None, high: None }
    }

    /// Sets the limit below which values are recorded as the limit.
    ///
    /// # Panics
    ///
    /// Panics if `low` is NaN. Tensors are not checked.
    #[must_use]
    pub fn left(self, low: impl Into<Param<D>>) -> Self {
        Self { low: Some(low.into().checked(|x| !x.is_nan(), "Censored", "low", "a number")), ..self }
    }

    /// Sets the limit above which values are recorded as the limit.
    ///
    /// # Panics
    ///
    /// Panics if `high` is NaN. Tensors are not checked.
    #[must_use]
    pub fn right(self, high: impl Into<Param<D>>) -> Self {
        Self { high: Some(high.into().checked(|x| !x.is_nan(), "Censored", "high", "a number")), ..self }
    }

    /// Returns the log density of each element of `value`, or its log probability where it is censored.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        self.record_uncensored(&value);
        let mut log_prob = without_recording(|| self.distribution.log_prob(value.clone()));
        for (limit, left) in [(&self.low, true), (&self.high, false)] {
            let Some(limit) = limit else { continue };
            let (value, limit) = broadcast(value.clone(), limit.like(&value));
            let censored = if left {
                value.clone().lower_equal(limit.clone())
            } else {
                value.clone().greater_equal(limit.clone())
            };
            // Where the value is not censored, the limit may be infinite.
            let at = value.mask_where(censored.clone(), limit);
            let beyond = if left { self.distribution.log_cdf(at) } else { self.distribution.log_survival(at) };
            let (of_value, beyond) = broadcast(log_prob, beyond);
            let censored = censored.expand(of_value.dims());
            log_prob = of_value.mask_where(censored, beyond);
        }
        log_prob
    }

    /// Records the values between the limits, as the other distribution does.
    ///
    /// The density at the others does not matter. They are replaced by NaN, which is in every support.
    fn record_uncensored(&self, value: &Tensor<D>) {
        if is_recording() {
            let mut values = value.clone();
            for (limit, left) in [(&self.low, true), (&self.high, false)] {
                let Some(limit) = limit else { continue };
                let (compared, limit) = broadcast(value.clone(), limit.like(value));
                let censored = if left { compared.lower_equal(limit) } else { compared.greater_equal(limit) };
                values = values.expand(censored.dims()).mask_fill(censored, f64::NAN);
            }
            let _ = self.distribution.log_prob(values);
        }
    }

    /// Returns independent draws in an `f64` tensor of the given shape on the default device.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; D], mut rng: &mut R) -> Tensor<D> {
        let mut values = host(&self.distribution.sample(shape, &mut rng));
        let limits = |limit: &Option<Param<D>>, none: f64| limit.clone().unwrap_or(Param::Number(none)).values(shape);
        let (low, high) = (limits(&self.low, f64::NEG_INFINITY), limits(&self.high, f64::INFINITY));
        for (value, (low, high)) in values.iter_mut().zip(low.into_iter().zip(high)) {
            if *value < low {
                *value = low;
            } else if *value > high {
                *value = high;
            }
        }
        from_host(values, shape)
    }
}

impl<const D: usize> Distribution<D> for Censored<D> {
    fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        Self::log_prob(self, value)
    }

    fn sample(&self, shape: [usize; D], rng: &mut dyn Rng) -> Tensor<D> {
        Self::sample(self, shape, rng)
    }

    fn support(&self) -> Domain {
        self.distribution.support()
    }
}

generative!(Censored);
