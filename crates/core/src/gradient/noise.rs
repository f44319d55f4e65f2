//! How noisy an estimator is at a point.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::GradientEstimator;
use crate::engine::Evaluator;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::minibatch::Minibatch;
use crate::rng::ChainRng;

/// The noise of a gradient estimator at one point, element by element.
///
/// ```
/// use burn_tensor::Tensor;
/// use sgmcmc_core::gradient::{GradientNoise, MinibatchGradient};
/// use sgmcmc_core::{Dataset, Model, WithoutReplacement, array, zeros};
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array((0..100).map(f64::from).collect(), [100])?)?;
/// let mut evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let estimator = MinibatchGradient::new(WithoutReplacement::new(10));
/// let noise = GradientNoise::measure(&estimator, evaluator.as_mut(), &[40.0], 200, 1)?;
/// println!("{noise}");
/// assert_eq!(noise.exact(), [950.0]);
/// # Ok::<(), sgmcmc_core::Error>(())
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
    /// Draws `draws` independent estimates at `theta`, with the estimator in the state it starts in there.
    ///
    /// # Errors
    ///
    /// If fewer than two draws are asked for, or as the estimator and the model do.
    pub fn measure<G: GradientEstimator>(
        estimator: &G,
        evaluator: &mut dyn Evaluator,
        theta: &[f64],
        draws: usize,
        seed: u64,
    ) -> Result<Self> {
        let mut state = estimator.init(theta, evaluator)?;
        Self::measure_from(estimator, &mut state, evaluator, theta, (draws, seed))
    }

    /// As [`measure`](Self::measure), with the estimator in `state` (its centre or table elsewhere than at `theta`).
    pub fn measure_from<G: GradientEstimator>(
        estimator: &G,
        state: &mut G::State,
        evaluator: &mut dyn Evaluator,
        theta: &[f64],
        (draws, seed): (usize, u64),
    ) -> Result<Self> {
        if draws < 2 {
            let expected = "a variance needs at least 2 draws";
            return Err(Error::Setting { name: "the number of draws", value: draws.to_string(), expected });
        }
        let dim = evaluator.dim();
        let mut exact = vec![0.0; dim];
        evaluator.posterior(theta, evaluator.all_rows(), &mut exact)?;
        let (mut mean, mut variance, mut estimate) = (vec![0.0; dim], vec![0.0; dim], vec![0.0; dim]);
        let mut rng = ChainRng::new(seed, 0);
        let mut batch = Minibatch::default();
        for draw in 1..=draws {
            estimator.draw(state, rng.minibatch(), &mut batch);
            estimator.estimate(state, theta, evaluator, &batch, &mut estimate)?;
            // Welford's update: no cancellation however large the mean is.
            for ((mean, sum), value) in mean.iter_mut().zip(&mut variance).zip(&estimate) {
                let before = value - *mean;
                *mean += before / draw as f64;
                *sum += before * (value - *mean);
            }
        }
        variance.iter_mut().for_each(|sum| *sum /= (draws - 1) as f64);
        Ok(Self { layout: evaluator.layout().clone(), draws, exact, mean, variance })
    }

    /// Names, shapes and places of the elements.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How many estimates were drawn.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// The exact gradient.
    pub fn exact(&self) -> &[f64] {
        &self.exact
    }

    /// The mean of the estimates.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The variance of the estimates.
    pub fn variance(&self) -> &[f64] {
        &self.variance
    }

    /// The trace of the estimates' covariance.
    pub fn total_variance(&self) -> f64 {
        self.variance.iter().sum()
    }

    /// |exact gradient| / standard deviation, per element.
    pub fn signal_to_noise(&self) -> Vec<f64> {
        self.exact.iter().zip(&self.variance).map(|(exact, variance)| exact.abs() / variance.sqrt()).collect()
    }

    /// The largest distance of the mean from the exact gradient, in standard errors.
    pub fn bias_in_standard_errors(&self) -> f64 {
        let errors = self.mean.iter().zip(&self.exact).zip(&self.variance).map(|((mean, exact), variance)| {
            let error = (variance / self.draws as f64).sqrt();
            // An estimator without noise may differ from the exact gradient by rounding.
            (mean - exact).abs() / error.max(1e-12 * exact.abs().max(1.0))
        });
        errors.fold(0.0, f64::max)
    }

    /// By how much this estimator is less noisy than `plain`.
    pub fn reduction_from(&self, plain: &Self) -> NoiseReduction {
        let elements = plain.variance.iter().zip(&self.variance).map(|(plain, this)| plain / this).collect();
        NoiseReduction { total: plain.total_variance() / self.total_variance(), elements }
    }
}

/// How many times smaller the variance of one estimator is than that of another.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseReduction {
    /// The ratio of the total variances.
    pub total: f64,
    /// The ratio for each element.
    pub elements: Vec<f64>,
}

/// A line per parameter: its number of elements, the root mean square of its gradient, the mean standard deviation of an
/// element's estimate, and their ratio.
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
