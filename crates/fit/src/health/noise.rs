//! The noise of minibatch gradients at the draws, with and without control variates.
//!
//! The noise is the variance of the gradient estimate per coordinate. Its effect on the draws depends on the algorithm
//! and its step size, see [`PredictedBias`](crate::PredictedBias).

use std::fmt;

use sgmcmc_gradient::{
    ControlVariate, GradientEstimator, GradientNoise, MinibatchGradient, Result, Target, WithoutReplacement,
};

use crate::Fit;

/// The number of draws at which the noise is measured.
const POINTS: usize = 8;

/// The number of gradient estimates per draw.
const ESTIMATES: usize = 64;

/// The noise of one estimator.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimatorNoise {
    /// The sum of the variances of all coordinates.
    pub variance: f64,
}

/// The gradient of one parameter and its noise. All numbers are root mean squares over the coordinates and a few draws.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterNoise {
    /// The name of the parameter.
    pub name: String,
    /// The exact gradient.
    pub gradient: f64,
    /// The noise of the plain minibatch estimate.
    pub plain: f64,
    /// The noise of the estimate with control variates.
    pub controlled: f64,
}

/// The noise of minibatch gradients at one draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoisePoint {
    /// The iteration of the draw.
    pub iteration: u64,
    /// The sum of the variances of all coordinates of the plain minibatch estimate.
    pub plain: f64,
    /// The same of the estimate with control variates.
    pub controlled: f64,
}

/// The noise of minibatch gradients at a few draws of a fit. [`Fit::gradient_noise`] measures it.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseReport {
    /// The number of observations per estimate.
    pub minibatch: usize,
    /// The noise of the plain minibatch estimate.
    pub plain: EstimatorNoise,
    /// The noise of the estimate with control variates. The center is the mode of the fit, or the draw closest to the
    /// mean.
    pub controlled: EstimatorNoise,
    /// The noise of each parameter.
    pub blocks: Vec<ParameterNoise>,
    /// The noise at each draw, in the order of the iterations.
    pub points: Vec<NoisePoint>,
    /// True if the run used control variates or another variance-reduced estimator.
    pub run_is_controlled: bool,
}

impl Fit {
    /// Measures the noise of gradients from `minibatch` observations at a few draws, with and without control variates.
    ///
    /// # Errors
    ///
    /// Returns an error if `like` has other names or shapes than the fit, if the minibatch is larger than the data, or
    /// if the model fails.
    pub fn gradient_noise<T: Target>(&self, target: &T, like: &T::Params, minibatch: usize) -> Result<NoiseReport> {
        let parameters = self.only_parameters(&target.layout(like)?)?;
        let mut evaluator = target.evaluator(like)?;
        let layout = evaluator.layout().clone();
        let center = match &parameters.mode {
            Some(mode) => mode.theta.clone(),
            None => layout.coordinates(&parameters.draw_near_mean()?)?,
        };
        let scheme = WithoutReplacement::new(minibatch);
        let (plain, controlled) = (MinibatchGradient::new(scheme), ControlVariate::new(scheme).with_center(center));
        let rows: Vec<&[f64]> = parameters.chains.iter().flat_map(|chain| chain.rows()).collect();
        let iterations: Vec<u64> = parameters.chains.iter().flat_map(|chain| chain.iterations()).copied().collect();
        let stride = rows.len().div_ceil(POINTS).max(1);
        let (mut signal, mut noises) = (vec![0.0; layout.dim()], [vec![0.0; layout.dim()], vec![0.0; layout.dim()]]);
        let count = rows.iter().step_by(stride).count().max(1) as f64;
        let mut points = Vec::new();
        for (seed, (row, iteration)) in rows.iter().zip(iterations).step_by(stride).enumerate() {
            let theta = layout.coordinates(row)?;
            let measured = [
                measure(&plain, evaluator.as_mut(), &theta, seed as u64)?,
                measure(&controlled, evaluator.as_mut(), &theta, seed as u64)?,
            ];
            signal.iter_mut().zip(measured[0].exact()).for_each(|(sum, g)| *sum += g * g / count);
            for (sum, noise) in noises.iter_mut().zip(&measured) {
                sum.iter_mut().zip(noise.variance()).for_each(|(sum, variance)| *sum += variance / count);
            }
            let [plain, controlled] = measured.map(|noise| noise.variance().iter().sum());
            points.push(NoisePoint { iteration, plain, controlled });
        }
        points.sort_by_key(|point| point.iteration);
        let [plain, controlled] = &noises;
        let noise = |variance: &[f64]| EstimatorNoise { variance: variance.iter().sum() };
        let root = |squares: &[f64]| (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt();
        let block = |block: &sgmcmc_gradient::Block| ParameterNoise {
            name: block.name.clone(),
            gradient: root(&signal[block.range.clone()]),
            plain: root(&plain[block.range.clone()]),
            controlled: root(&controlled[block.range.clone()]),
        };
        Ok(NoiseReport {
            minibatch,
            plain: noise(plain),
            controlled: noise(controlled),
            blocks: layout.blocks().iter().map(block).collect(),
            points,
            run_is_controlled: self.info.has_reduced_variance(),
        })
    }

    /// Returns the draw closest to the posterior mean. Unlike the mean, it always satisfies its constraints.
    fn draw_near_mean(&self) -> Result<Vec<f64>> {
        let mean = self.mean_values();
        let distance = |row: &&[f64]| row.iter().zip(&mean).map(|(x, m)| (x - m).powi(2)).sum::<f64>();
        let nearest =
            self.chains.iter().flat_map(|chain| chain.rows()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map(<[f64]>::to_vec).ok_or(sgmcmc_gradient::Error::Setting {
            name: "the number of draws",
            value: "0".into(),
            expected: "gradient noise is measured at draws",
        })
    }
}

/// Measures the noise of `estimator` at `theta`.
fn measure<G: GradientEstimator>(
    estimator: &G,
    evaluator: &mut dyn sgmcmc_gradient::Evaluator,
    theta: &[f64],
    seed: u64,
) -> Result<GradientNoise> {
    GradientNoise::measure(estimator, evaluator, theta, ESTIMATES, seed)
}

impl fmt::Display for NoiseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width =
            self.blocks.iter().map(|block| block.name.chars().count()).max().unwrap_or(0).max("parameter".len());
        writeln!(f, "gradients from {} observations, at draws (root mean squares):", self.minibatch)?;
        writeln!(
            f,
            "  {:<width$} {:>11} {:>11} {:>12} {:>11} {:>12}",
            "parameter", "gradient", "noise", "signal/noise", "noise (cv)", "signal/noise"
        )?;
        for ParameterNoise { name, gradient, plain, controlled } in &self.blocks {
            let (rough, smooth) = (gradient / plain, gradient / controlled);
            writeln!(
                f,
                "  {name:<width$} {gradient:>11.3e} {plain:>11.3e} {rough:>12.3} {controlled:>11.3e} {smooth:>12.3}"
            )?;
        }
        let ratio = self.plain.variance / self.controlled.variance;
        write!(f, "  control variates divide the variance by {ratio:.1}")
    }
}
