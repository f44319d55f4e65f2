//! The curvature and the gradient noise of a replication around its mode, which determine the step sizes.

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc::gradient::Evaluator;
use sgmcmc::mode::LbfgsSearch;
use sgmcmc::mode::Mode;
use sgmcmc::numerics::Cholesky;
use sgmcmc::rng::ChainRng;
use sgmcmc::{Layout, curvature};
use sgmcmc_testkit::linear::{covariance, transpose};

use crate::Result;
use sgmcmc::numerics::SymmetricEigen;

/// The number of draws of the Laplace approximation at which curvature and noise are measured, in addition to the mode.
const POINTS: usize = 6;

/// The mode, the curvature and the noise of a posterior, in the coordinates of the model.
pub(super) struct Tuning {
    pub(super) mode: Mode,
    pub(super) layout: Layout,
    observations: usize,
    /// The Hessians at the mode and at the draws.
    hessians: Vec<Vec<f64>>,
    /// The Cholesky factor of the Hessian at the mode.
    factor: Cholesky,
    /// The covariance of the gradients of single observations, averaged over the draws.
    scores: Vec<f64>,
    /// The covariance of the differences between these gradients and those at the mode, averaged over the draws.
    differences: Vec<f64>,
}

/// The curvature and the noise in coordinates that are divided by the square root of their scales.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaled {
    /// The smallest curvature at the mode.
    pub(super) smallest: f64,
    /// The largest curvature at the mode and at the draws.
    pub(super) largest: f64,
    /// The noise of plain minibatches.
    pub(super) plain: Noise,
    /// The noise of control variates.
    pub(super) controlled: Noise,
}

/// The largest and the mean variance of the gradient noise over all directions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noise {
    pub(super) largest: f64,
    pub(super) mean: f64,
}

impl Tuning {
    /// Finds the mode and measures the curvature and the noise around it.
    pub(super) fn new(mut evaluator: Box<dyn Evaluator>, start: &[f64], rng: &mut ChainRng) -> Result<Self> {
        let mode = LbfgsSearch::default().run(evaluator.as_mut(), start)?;
        let (layout, d, observations) = (evaluator.layout().clone(), evaluator.dim(), evaluator.observations());
        let all = evaluator.all_rows();
        let at_mode = curvature::hessian(evaluator.as_mut(), &mode.theta)?;
        let factor = Cholesky::new(&at_mode, d)?;
        let (mut center, mut here) = (vec![0.0; observations * d], vec![0.0; observations * d]);
        evaluator.gradient_per_observation(&mode.theta, all, &mut center)?;
        let (mut hessians, mut scores, mut differences) = (vec![at_mode], vec![0.0; d * d], vec![0.0; d * d]);
        let add = |sum: &mut [f64], added: &[f64]| {
            sum.iter_mut().zip(added).for_each(|(sum, added)| *sum += added / POINTS as f64);
        };
        for _ in 0..POINTS {
            let mut theta: Vec<f64> = (0..d).map(|_| rng.noise().sample(StandardNormal)).collect();
            factor.solve_upper(&mut theta);
            theta.iter_mut().zip(&mode.theta).for_each(|(theta, mode)| *theta += mode);
            hessians.push(curvature::hessian(evaluator.as_mut(), &theta)?);
            evaluator.gradient_per_observation(&theta, all, &mut here)?;
            add(&mut scores, &covariance(&here, d));
            here.iter_mut().zip(&center).for_each(|(here, center)| *here -= center);
            add(&mut differences, &covariance(&here, d));
        }
        Ok(Self { mode, layout, observations, hessians, factor, scores, differences })
    }

    fn dim(&self) -> usize {
        self.mode.theta.len()
    }

    /// Returns a scale for each parameter: the inverse of the largest curvature of its coordinates at the mode.
    pub(super) fn by_parameter(&self) -> Vec<(String, f64)> {
        let d = self.dim();
        let largest = |range: std::ops::Range<usize>| {
            let entries = range.clone().flat_map(|i| range.clone().map(move |j| (i, j)));
            let block: Vec<f64> = entries.map(|(i, j)| self.hessians[0][i * d + j]).collect();
            SymmetricEigen::new(&block, range.len()).largest()
        };
        self.layout.blocks().iter().map(|block| (block.name.clone(), 1.0 / largest(block.range.clone()))).collect()
    }

    /// Returns the scales of all coordinates.
    pub(super) fn coordinate_scales(&self, scales: &[(String, f64)]) -> Vec<f64> {
        let blocks = self.layout.blocks().iter().zip(scales);
        blocks.flat_map(|(block, (_, scale))| std::iter::repeat_n(*scale, block.range.len())).collect()
    }

    /// Returns the inverse of the largest curvature at the mode.
    pub(super) fn common_scale(&self) -> f64 {
        1.0 / SymmetricEigen::new(&self.hessians[0], self.dim()).largest()
    }

    /// Returns the entries of the matrix of pSGLD at the mode, 1/(λ + √V), where V is the variance of the mean gradient
    /// of a minibatch.
    pub(super) fn root_mean_squares(&self, batch: usize, lambda: f64) -> Vec<f64> {
        let (d, n) = (self.dim(), self.observations as f64);
        let factor = self.noise_factor(batch);
        let entry = |v: &f64| 1.0 / (lambda + (factor * v).sqrt() / n);
        self.scores.iter().step_by(d + 1).map(entry).collect()
    }

    /// Returns the factor N(N − n)/n of the noise of minibatches without replacement.
    fn noise_factor(&self, batch: usize) -> f64 {
        let n = self.observations as f64;
        n * (n - batch as f64) / batch as f64
    }

    /// Returns the largest noise variance of plain minibatches in coordinates in which the Hessian at the mode is the
    /// identity.
    pub(super) fn whitened_noise(&self, batch: usize) -> f64 {
        let d = self.dim();
        // Compute L⁻¹ C L⁻ᵀ by solving for the rows of the symmetric C twice, with a transposition after each time.
        let mut matrix = self.scores.clone();
        for _ in 0..2 {
            matrix.chunks_exact_mut(d).for_each(|row| self.factor.solve_lower(row));
            matrix = transpose(&matrix, d);
        }
        self.noise_factor(batch) * SymmetricEigen::new(&matrix, d).largest()
    }

    /// Returns the curvature and the noise of minibatches of size `batch` in coordinates divided by the square root of
    /// `scales`.
    pub(super) fn scaled(&self, scales: &[f64], batch: usize) -> Scaled {
        let d = self.dim();
        let eigen = |matrix: &[f64]| {
            let entry = |k: usize| matrix[k] * (scales[k / d] * scales[k % d]).sqrt();
            SymmetricEigen::new(&(0..d * d).map(entry).collect::<Vec<_>>(), d)
        };
        let noise = |matrix: &[f64]| {
            let along = eigen(matrix);
            let factor = self.noise_factor(batch);
            Noise { largest: factor * along.largest(), mean: factor * along.values.iter().sum::<f64>() / d as f64 }
        };
        let at_mode = eigen(&self.hessians[0]);
        Scaled {
            smallest: at_mode.values.iter().copied().fold(f64::INFINITY, f64::min),
            largest: self.hessians.iter().map(|hessian| eigen(hessian).largest()).fold(0.0, f64::max),
            plain: noise(&self.scores),
            controlled: noise(&self.differences),
        }
    }
}
