//! Warm-up that adapts step size and mass: see [`WarmUp`].

use std::ops::{Bound, Range};

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{Error, Result, settings};
use sgmcmc_numerics::vector::{add_scaled, scale};

use super::covariance::Covariance;
use super::step::{DualAveraging, StepSizeAdaptation};
use crate::metric::MetricShape;
use crate::step_size::StepContext;

/// Warm-up of [`Hmc`](super::Hmc) and [`Mala`](super::Mala) as in Stan: adapts the step size and the mass.
///
/// The first iterations make no draws. They adapt the inverse mass M to the posterior covariance, or to its diagonal,
/// and the step size to a target acceptance rate. Then both are fixed, and the posterior is the exact law of the chain.
///
/// # Rule
///
/// Dual averaging (see [`DualAveraging`]) adapts the step size in all iterations. M is adapted in windows:
///
/// | iterations | length | adapts |
/// |---|---|---|
/// | initial buffer | 75 | the step size |
/// | windows | 25, 50, 100, …, each twice as long as the last | the step size, and M at the end of each window |
/// | final buffer | 50 | the step size |
///
/// A window is extended to the final buffer if the next one does not fit. A warm-up of less than 150 iterations has one
/// window of 75 %, after an initial buffer of 15 % and before a final buffer of 10 %.
///
/// At the end of a window of n iterations, M is the covariance Σ of the positions in this window, shrunk towards a
/// small multiple of the identity,
///
/// M = n/(n + 5) Σ + 10⁻³ · 5/(n + 5) I.
///
/// A search then doubles or halves the step size until the acceptance rate of one leapfrog step crosses 0.8, and dual
/// averaging starts again from there. The same search comes before the first iteration; it starts at the step size of
/// the run. If a coordinate did not move in a window, M stays as it is.
///
/// Before the end of the first window, M is the `covariance` of the algorithm. Step sizes of different parameters keep
/// their ratios until then. Afterwards M compensates for them: Σ is that of the coordinates θᵢ √(h/hᵢ), where h is the
/// common step size.
///
/// # Source
///
/// Stan reference manual, "Automatic parameter tuning"; Hoffman & Gelman (2014), algorithms 4 and 5. Stan does not
/// extend the first window, and leaves a shorter second one if the warm-up has between 151 and 224 iterations.
///
/// # Cost
///
/// Besides the proposals, some full gradients per window for the search, usually less than 10, d operations per
/// iteration for a diagonal M, and d²/2 for a dense M, which is factored at the end of a window (d³/3). A dense M takes
/// 3d² numbers of memory.
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `iterations` | – | number of iterations of the warm-up | ≥ 20 |
/// | `acceptance` | 0.8 | target acceptance rate; 0.57 is optimal for MALA in many dimensions | (0, 1) |
/// | `mass` | – | shape of M | |
///
/// The constant 10⁻³ has the unit of a variance: the rule is made for coordinates of scale 1. With n = 500 it
/// contributes 10⁻⁵, which is too much for a coordinate with a standard deviation far below 0.003: M is then larger
/// than the variance of this coordinate, and the step size becomes small for all others. Rescale such a parameter.
///
/// # When to use it
///
/// Diagonal for different scales, dense for correlations in up to some hundred dimensions. 1000 iterations are Stan's
/// default.
///
/// # Examples
///
/// A Gaussian with standard deviations 1 and 100:
///
/// ```
/// use sgmcmc::algorithms::{Hmc, WarmUp};
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|x: Tensor<1>| {
///     let (narrow, wide) = (x.clone().slice([0..1]), x.slice([1..2]) / 100.0);
///     (narrow.square() + wide.square()) * -0.5
/// });
/// let dynamics = Hmc { jitter: 0.5, warm_up: Some(WarmUp::diagonal(500)), ..Hmc::default() };
/// let fit = hmc(&model, &Dataset::none(), 0.01).dynamics(dynamics).seed(1).sample(&zeros([2]), 1000)?;
/// assert_eq!(fit.info().iterations, [1500]);
/// assert!(fit.summary().rows().iter().all(|row| row.ess_bulk > 300.0));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
///
/// Another acceptance rate:
///
/// ```
/// use sgmcmc::algorithms::{Mala, WarmUp};
///
/// let warm_up = WarmUp { acceptance: 0.57, ..WarmUp::dense(1000) };
/// let dynamics = Mala { warm_up: Some(warm_up), ..Mala::default() };
/// assert_ne!(dynamics, Mala::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUp {
    /// The number of iterations of the warm-up.
    pub iterations: u64,
    /// The target acceptance rate.
    pub acceptance: f64,
    /// The shape of the inverse mass.
    pub mass: MetricShape,
}

/// The shortest warm-up.
const SHORTEST: u64 = 20;
/// The length of the initial buffer.
const INITIAL_BUFFER: u64 = 75;
/// The length of the first window.
const FIRST_WINDOW: u64 = 25;
/// The length of the final buffer.
const FINAL_BUFFER: u64 = 50;
/// The variance towards which an estimate is shrunk.
const SHRINKAGE_TARGET: f64 = 1e-3;
/// The number of iterations that count as much as the shrinkage target.
const SHRINKAGE_WEIGHT: f64 = 5.0;

impl WarmUp {
    /// Creates a warm-up with a diagonal mass and target acceptance rate 0.8.
    pub fn diagonal(iterations: u64) -> Self {
        Self { iterations, acceptance: 0.8, mass: MetricShape::Diagonal }
    }

    /// Creates a warm-up with a dense mass and target acceptance rate 0.8.
    pub fn dense(iterations: u64) -> Self {
        Self { mass: MetricShape::Dense, ..Self::diagonal(iterations) }
    }

    /// Checks the settings of an algorithm that has dual averaging alone, a warm-up, or none of them.
    pub(super) fn check(adapt: Option<DualAveraging>, warm_up: Option<Self>) -> Result<()> {
        let Some(warm_up) = warm_up else { return adapt.map_or(Ok(()), |adapt| adapt.check()) };
        if adapt.is_some() {
            let expected = "the warm-up adapts the step size too; set `adapt` to `None`";
            return Err(Error::Setting { name: "`adapt`", value: "given together with `warm_up`".into(), expected });
        }
        let expected = "the mass needs at least 20 iterations; `DualAveraging` adapts only the step size";
        settings::at_least("the length of the warm-up", warm_up.iterations, SHORTEST, expected)?;
        let (range, expected) = ((Bound::Excluded(0.0), Bound::Excluded(1.0)), "it must be above 0 and below 1");
        settings::within("the acceptance rate aimed at", warm_up.acceptance, range, expected)?;
        Ok(())
    }

    /// Returns the size in bytes of the dense matrices of a chain: the sums of a window, the factor of the mass, and
    /// the next one while it is computed.
    pub(super) fn workspace(warm_up: Option<Self>, dim: usize) -> usize {
        warm_up.map_or(0, |warm_up| warm_up.mass.dense_bytes(dim, 3))
    }

    /// Returns the windows after which the mass is updated.
    fn windows(self) -> impl Iterator<Item = Range<u64>> {
        let (initial, first, last) = if self.iterations < INITIAL_BUFFER + FIRST_WINDOW + FINAL_BUFFER {
            let (initial, last) = (self.iterations * 15 / 100, self.iterations / 10);
            (initial, self.iterations - initial - last, last)
        } else {
            (INITIAL_BUFFER, FIRST_WINDOW, FINAL_BUFFER)
        };
        let stop = self.iterations - last;
        let (mut start, mut length) = (initial, first);
        std::iter::from_fn(move || {
            let next = length.saturating_mul(2);
            let end = start.saturating_add(length);
            let window = start..if end.saturating_add(next) > stop { stop } else { end };
            (start, length) = (window.end, next);
            (!window.is_empty()).then_some(window)
        })
    }
}

/// The adapted mass of a chain, and the state of its warm-up.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct MassAdaptation {
    /// The adapted inverse mass; `None` before the end of the first window.
    mass: Option<Covariance>,
    moments: WindowMoments,
    /// The iteration in which dual averaging started for the last time.
    started: u64,
    /// True if the step size with which dual averaging starts has been found.
    has_step_size: bool,
}

impl MassAdaptation {
    /// Returns the current inverse mass, which is `initial` before the end of the first window.
    ///
    /// # Errors
    ///
    /// Returns an error if it does not have `dim` rows. After the start this occurs only with a damaged checkpoint.
    pub(super) fn mass<'a>(&'a self, initial: &'a Covariance, dim: usize) -> Result<&'a Covariance> {
        let mass = self.mass.as_ref().unwrap_or(initial);
        mass.check_dim(dim)?;
        Ok(mass)
    }

    /// Returns the settings of dual averaging since its last start: those of the warm-up if there is one, or `adapt`.
    pub(super) fn dual_averaging(
        &self,
        adapt: Option<DualAveraging>,
        warm_up: Option<WarmUp>,
    ) -> Option<DualAveraging> {
        let remaining = |WarmUp { iterations, acceptance, .. }| DualAveraging {
            iterations: iterations.saturating_sub(self.started),
            acceptance,
        };
        warm_up.map(remaining).or(adapt)
    }

    /// Returns whether a step size has to be found before the next proposal.
    pub(super) fn needs_step_size(&self, warm_up: Option<WarmUp>, step_size: StepSizeAdaptation) -> bool {
        !self.has_step_size && step_size.is_adapting(self.dual_averaging(None, warm_up))
    }

    /// Starts dual averaging from `found`, the step size that has been found for the current mass.
    pub(super) fn start(&mut self, step_size: &mut StepSizeAdaptation, found: StepSizeAdaptation) {
        *step_size = found;
        step_size.restart();
        self.has_step_size = true;
    }

    /// Observes the position after a proposal of the warm-up. Updates the mass at the end of a window.
    pub(super) fn update(
        &mut self,
        warm_up: WarmUp,
        theta: &[f64],
        context: StepContext<'_>,
        step_size: &mut StepSizeAdaptation,
    ) {
        // Dual averaging has already seen this proposal.
        let seen = self.started.saturating_add(step_size.seen());
        let Some(window) = warm_up.windows().find(|window| window.start < seen && seen <= window.end) else { return };
        self.moments.add(warm_up.mass, theta, context);
        if seen < window.end {
            return;
        }
        if let Some(mass) = self.moments.take_covariance(warm_up.mass) {
            self.mass = Some(mass);
        }
        if warm_up.windows().last() == Some(window) {
            self.moments = WindowMoments::default();
        }
        step_size.restart();
        (self.started, self.has_step_size) = (seen, false);
    }
}

/// The mean and the centered sums of products of the positions in a window, by the algorithm of Welford (1962).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct WindowMoments {
    count: u64,
    mean: Vec<f64>,
    /// The sums of squares of the deviations, or the lower triangle of the sums of their products.
    sums: Vec<f64>,
    /// The deviation of the last position from the mean before it. It is a buffer.
    #[serde(skip)]
    deviation: Vec<f64>,
}

impl WindowMoments {
    /// Adds the position `theta`, in units of the step sizes relative to the common one.
    fn add(&mut self, shape: MetricShape, theta: &[f64], context: StepContext<'_>) {
        let dim = theta.len();
        let entries = if shape == MetricShape::Dense { dim * dim } else { dim };
        if self.mean.len() != dim || self.sums.len() != entries {
            *self = Self { mean: vec![0.0; dim], sums: vec![0.0; entries], ..Self::default() };
        }
        let Self { count, mean, sums, deviation } = self;
        deviation.resize(dim, 0.0);
        *count = count.saturating_add(1);
        let n = *count as f64;
        for block in context.blocks {
            let unit = (context.h / block.h).sqrt();
            for k in block.range.clone() {
                deviation[k] = unit * theta[k] - mean[k];
                mean[k] += deviation[k] / n;
            }
        }
        // The product of the deviations from the means before and after this position.
        let weight = (n - 1.0) / n;
        match shape {
            MetricShape::Diagonal => {
                sums.iter_mut().zip(&*deviation).for_each(|(sum, deviation)| *sum += weight * deviation * deviation);
            }
            MetricShape::Dense => {
                for (i, row) in sums.chunks_exact_mut(dim.max(1)).enumerate() {
                    add_scaled(&mut row[..=i], weight * deviation[i], &deviation[..=i]);
                }
            }
        }
    }

    /// Returns the covariance of the window, shrunk as in Stan, and clears the sums. Returns `None` if a variance is
    /// zero or not finite, or if the matrix is not positive definite.
    fn take_covariance(&mut self, shape: MetricShape) -> Option<Covariance> {
        let Self { count, mean, sums, .. } = self;
        let n = *count as f64;
        let stride = if shape == MetricShape::Dense { mean.len() + 1 } else { 1 };
        let is_valid = *count > 1 && sums.iter().step_by(stride).all(|sum| sum.is_finite() && *sum > 0.0);
        scale(sums, n / (n + SHRINKAGE_WEIGHT) / (n - 1.0));
        let least = SHRINKAGE_TARGET * SHRINKAGE_WEIGHT / (n + SHRINKAGE_WEIGHT);
        sums.iter_mut().step_by(stride).for_each(|variance| *variance += least);
        let covariance = match shape {
            MetricShape::Diagonal => Covariance::diagonal(sums),
            MetricShape::Dense => Covariance::dense(sums),
        };
        *count = 0;
        mean.fill(0.0);
        sums.fill(0.0);
        covariance.ok().filter(|_| is_valid)
    }
}

#[cfg(test)]
mod tests;
