//! The noise of a gradient estimator at a point.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::GradientEstimator;
use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::layout::Layout;
use crate::minibatch::Minibatch;
use crate::rng::ChainRng;
use crate::settings;

/// The mean and the variance of a gradient estimator at one point, per coordinate.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::{GradientNoise, MinibatchGradient};
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array((0..100).map(f64::from).collect(), [100])?)?;
/// let mut evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let estimator = MinibatchGradient::new(WithoutReplacement::new(10));
/// let noise = GradientNoise::measure(&estimator, evaluator.as_mut(), &[40.0], 200, 1)?;
/// println!("{noise}");
/// assert_eq!(noise.exact(), [950.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GradientNoise {
    layout: Layout,
    draws: usize,
    exact: Vec<f64>,
    mean: Vec<f64>,
    variance: Vec<f64>,
}

impl GradientNoise {
    /// Measures the noise at `theta` from `draws` estimates, with the state of a chain that starts at `theta`.
    ///
    /// # Errors
    ///
    /// Returns an error if `draws` is less than 2, or the error of the estimator or the model.
    pub fn measure<G: GradientEstimator>(
        estimator: &G,
        evaluator: &mut dyn Evaluator,
        theta: &[f64],
        draws: usize,
        seed: u64,
    ) -> Result<Self> {
        let mut state = estimator.init(theta, evaluator)?;
        Self::measure_from(estimator, &mut state, evaluator, theta, draws, seed)
    }

    /// Measures the noise at `theta` from `draws` estimates, with the given state of the estimator. Its center or table
    /// may belong to another point than `theta`.
    ///
    /// # Errors
    ///
    /// Returns an error if `draws` is less than 2, or the error of the estimator or the model.
    pub fn measure_from<G: GradientEstimator>(
        estimator: &G,
        state: &mut G::State,
        evaluator: &mut dyn Evaluator,
        theta: &[f64],
        draws: usize,
        seed: u64,
    ) -> Result<Self> {
        settings::at_least("the number of draws", draws, 2, "a variance needs at least 2 draws")?;
        let dim = evaluator.dim();
        let mut exact = vec![0.0; dim];
        evaluator.posterior(theta, evaluator.all_rows(), &mut exact)?;
        let (mut mean, mut variance, mut estimate) = (vec![0.0; dim], vec![0.0; dim], vec![0.0; dim]);
        let mut rng = ChainRng::new(seed, 0);
        let mut batch = Minibatch::default();
        for draw in 1..=draws {
            estimator.draw(state, rng.minibatch(), &mut batch);
            estimator.estimate(state, theta, evaluator, &batch, &mut estimate)?;
            // Welford's update avoids cancellation if the mean is large.
            for ((mean, sum), value) in mean.iter_mut().zip(&mut variance).zip(&estimate) {
                let before = value - *mean;
                *mean += before / draw as f64;
                *sum += before * (value - *mean);
            }
        }
        variance.iter_mut().for_each(|sum| *sum /= (draws - 1) as f64);
        Ok(Self { layout: evaluator.layout().clone(), draws, exact, mean, variance })
    }

    /// Returns the layout of the coordinates.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the number of estimates.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// Returns the exact gradient.
    pub fn exact(&self) -> &[f64] {
        &self.exact
    }

    /// Returns the mean of the estimates.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Returns the variance of the estimates.
    pub fn variance(&self) -> &[f64] {
        &self.variance
    }

    /// Returns the trace of the covariance of the estimates.
    pub fn total_variance(&self) -> f64 {
        self.variance.iter().sum()
    }

    /// Returns |exact gradient| / standard deviation for each coordinate.
    pub fn signal_to_noise(&self) -> Vec<f64> {
        self.exact.iter().zip(&self.variance).map(|(exact, variance)| exact.abs() / variance.sqrt()).collect()
    }

    /// Returns the largest distance of the mean from the exact gradient, in standard errors.
    pub fn bias_in_standard_errors(&self) -> f64 {
        let errors = self.mean.iter().zip(&self.exact).zip(&self.variance).map(|((mean, exact), variance)| {
            let error = (variance / self.draws as f64).sqrt();
            // An estimator without noise may differ from the exact gradient by rounding.
            (mean - exact).abs() / error.max(1e-12 * exact.abs().max(1.0))
        });
        errors.fold(0.0, f64::max)
    }

    /// Returns the ratio of the variances of `plain` to those of this estimator.
    pub fn reduction_from(&self, plain: &Self) -> NoiseReduction {
        let elements = plain.variance.iter().zip(&self.variance).map(|(plain, this)| plain / this).collect();
        NoiseReduction { total: plain.total_variance() / self.total_variance(), elements }
    }
}

/// The factor by which one estimator has a smaller variance than another.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::{GradientNoise, MinibatchGradient};
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array((0..100).map(f64::from).collect(), [100])?)?;
/// let mut evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let small = MinibatchGradient::new(WithoutReplacement::new(5));
/// let large = MinibatchGradient::new(WithoutReplacement::new(50));
/// let small = GradientNoise::measure(&small, evaluator.as_mut(), &[40.0], 200, 1)?;
/// let large = GradientNoise::measure(&large, evaluator.as_mut(), &[40.0], 200, 1)?;
/// assert!(large.reduction_from(&small).total > 5.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseReduction {
    /// The ratio of the total variances.
    pub total: f64,
    /// The ratio of the variances of each coordinate.
    pub elements: Vec<f64>,
}

/// Writes a line per parameter: the number of coordinates, the root mean square of the gradient, the root mean square
/// of the standard deviations of the estimates, and the ratio of the two.
impl fmt::Display for GradientNoise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.layout.blocks().iter().map(|block| block.name.len()).max().unwrap_or(0).max("parameter".len());
        writeln!(
            f,
            "{:<width$} {:>8} {:>12} {:>12} {:>12}",
            "parameter", "elements", "|gradient|", "noise sd", "signal/noise"
        )?;
        let root_mean = |values: &mut dyn Iterator<Item = f64>, n: usize| (values.sum::<f64>() / n as f64).sqrt();
        for block in self.layout.blocks() {
            let n = block.range.len();
            let signal = root_mean(&mut self.exact[block.range.clone()].iter().map(|g| g * g), n);
            let noise = root_mean(&mut self.variance[block.range.clone()].iter().copied(), n);
            writeln!(f, "{:<width$} {n:>8} {signal:>12.4e} {noise:>12.4e} {:>12.3e}", block.name, signal / noise)?;
        }
        write!(f, "{} estimates", self.draws)
    }
}
