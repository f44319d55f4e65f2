//! Mode, curvature and gradient noise of a problem: all that the step sizes depend on.
//!
//! L-BFGS finds the mode and central differences the Hessian H there; whitened coordinates u have θ = mode + F u, F Fᵀ = H⁻¹. In them the
//! Laplace approximation is N(0, I). Curvature and noise are measured at draws of the posterior itself, as far as it is known before the first
//! run: draws of a multivariate t distribution around the mode, resampled by their importance weights.

use std::sync::Arc;

use rand::RngExt;
use rand_distr::{ChiSquared, StandardNormal};
use sgmcmc::linalg::Cholesky;
use sgmcmc::linalg::vector::add_scaled;
use sgmcmc::prelude::*;
use sgmcmc::{ChainRng, Mode, curvature};
use sgmcmc_testkit::linear::covariance;

use crate::Result;
use crate::eigen::Eigen;
use crate::posteriors::coordinates::{Affine, Coordinates};
use crate::posteriors::problem::Problem;

/// Draws of the t distribution.
const PROPOSALS: u64 = 4000;
/// Its degrees of freedom.
const FREEDOM: f64 = 5.0;
/// Resampled draws at which curvature and noise are measured.
const POINTS: usize = 16;
const SEED: u64 = 20;

/// What is known of a problem before the first run. All but the first four fields is in whitened coordinates.
#[derive(Debug)]
pub(crate) struct Tuning {
    pub(crate) problem: Arc<Problem>,
    pub(crate) mode: Mode,
    /// The inverse Hessian at the mode, in the coordinates of the model, row by row.
    pub(crate) covariance: Vec<f64>,
    pub(crate) whitened: Coordinates,
    /// The largest curvature over the mode, where it is one, and the resampled draws.
    pub(crate) curvature: f64,
    /// The largest variance of a coordinate, one for a normal posterior.
    pub(crate) width: f64,
    /// The mean of each reference parameter less its value at the mode.
    pub(crate) offsets: Vec<f64>,
    /// The derivatives of the reference parameters at the mode, a row per parameter.
    pub(crate) slopes: Vec<Vec<f64>>,
    pub(crate) batch: usize,
    /// The covariance of the gradients of single observations.
    scores: Vec<f64>,
    /// The covariance of their differences from those at the mode.
    differences: Vec<f64>,
    /// Resampled draws.
    points: Vec<Vec<f64>>,
}

/// The noise of an estimator in whitened coordinates, along the directions in which it is independent.
#[derive(Clone, Debug)]
pub(crate) struct Noise {
    pub(crate) along: Eigen,
    /// Its variance along each coordinate.
    pub(crate) diagonal: Vec<f64>,
}

impl Noise {
    fn of(covariance: &[f64], d: usize) -> Self {
        let mut along = Eigen::of(covariance, d);
        along.values.iter_mut().for_each(|value| *value = value.max(0.0));
        Self { along, diagonal: covariance.iter().step_by(d + 1).copied().collect() }
    }

    pub(crate) fn mean(&self) -> f64 {
        self.diagonal.iter().sum::<f64>() / self.diagonal.len() as f64
    }
}

impl Tuning {
    /// Finds the mode of `problem` and measures curvature and noise around it.
    pub(crate) fn of(problem: &Arc<Problem>) -> Result<Self> {
        let mut evaluator = problem.evaluator()?;
        let mode = LbfgsSearch::default().run(evaluator.as_mut(), &problem.start)?;
        let d = mode.theta.len();
        let factor = Cholesky::new(&curvature::hessian(evaluator.as_mut(), &mode.theta)?, d)
            .map_err(|error| format!("{}: the Hessian at the mode: {error}", problem.name))?;
        // H = L Lᵀ, so that F = L⁻ᵀ; its columns are solutions of Lᵀ f = e.
        let mut matrix = vec![0.0; d * d];
        for column in 0..d {
            let mut unit: Vec<f64> = (0..d).map(|i| f64::from(u8::from(i == column))).collect();
            factor.solve_upper(&mut unit);
            unit.iter().enumerate().for_each(|(row, entry)| matrix[row * d + column] = *entry);
        }
        let mut inverse = vec![0.0; d * d];
        factor.inverse(&mut inverse);
        let affine = Arc::new(Affine { centre: mode.theta.clone(), matrix });
        let whitened = Coordinates::whitened(problem, &affine);
        let mut tuning = Self {
            problem: problem.clone(),
            slopes: slopes(problem, &whitened, d)?,
            mode,
            covariance: inverse,
            whitened,
            curvature: 0.0,
            width: 1.0,
            offsets: Vec::new(),
            // A tenth of the observations, at least four.
            batch: (problem.observations / 10).max(4),
            scores: vec![0.0; d * d],
            differences: vec![0.0; d * d],
            points: Vec::new(),
        };
        tuning.resample(d)?;
        tuning.look_around(d)?;
        Ok(tuning)
    }

    /// Draws from the posterior by importance sampling: width, means, and a few draws.
    fn resample(&mut self, d: usize) -> Result<()> {
        let mut evaluator = self.whitened.evaluator()?;
        let mut rng = ChainRng::new(SEED, 0);
        let mut draws = Vec::new();
        for _ in 0..PROPOSALS {
            let z: Vec<f64> = (0..d).map(|_| rng.noise().sample(StandardNormal)).collect();
            let spread: f64 = rng.noise().sample(ChiSquared::new(FREEDOM)?);
            let u: Vec<f64> = z.iter().map(|z| z * (FREEDOM / spread).sqrt()).collect();
            let square: f64 = u.iter().map(|u| u * u).sum();
            let proposal = -0.5 * (FREEDOM + d as f64) * (1.0 + square / FREEDOM).ln();
            let density = evaluator.log_density(&u, evaluator.all_rows())? - self.mode.log_posterior;
            let log_weight = density - proposal;
            draws.push((u, if log_weight.is_nan() { f64::NEG_INFINITY } else { log_weight }));
        }
        let largest = draws.iter().map(|draw| draw.1).fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = draws.iter().map(|draw| (draw.1 - largest).exp()).collect();
        let total: f64 = weights.iter().sum();
        let mean = |of: &dyn Fn(&[f64]) -> f64| {
            draws.iter().zip(&weights).map(|((u, _), weight)| weight * of(u)).sum::<f64>() / total
        };
        for k in 0..d {
            let centre = mean(&|u| u[k]);
            self.width = self.width.max(mean(&|u| (u[k] - centre).powi(2)));
        }
        let report = |u: &[f64]| self.problem.report(&self.whitened.to_model(u));
        let mut offsets = report(&vec![0.0; d])?.into_iter().map(|value| -value).collect::<Vec<_>>();
        for ((u, _), weight) in draws.iter().zip(&weights) {
            offsets.iter_mut().zip(report(u)?).for_each(|(offset, value)| *offset += weight / total * value);
        }
        self.offsets = offsets;
        // At evenly spread quantiles of the weights; several draws may be the same.
        let mut cumulative = 0.0;
        for ((u, _), weight) in draws.iter().zip(&weights) {
            cumulative += weight / total * POINTS as f64;
            while self.points.len() < POINTS && cumulative > self.points.len() as f64 + 0.5 {
                self.points.push(u.clone());
            }
        }
        Ok(())
    }

    /// Measures curvature and noise at the mode and at the resampled draws.
    fn look_around(&mut self, d: usize) -> Result<()> {
        let mut evaluator = self.whitened.evaluator()?;
        let n = evaluator.observations();
        let all = evaluator.all_rows();
        let (mut centre, mut here) = (vec![0.0; n * d], vec![0.0; n * d]);
        evaluator.per_datum(&vec![0.0; d], all, &mut centre)?;
        self.curvature = Eigen::of(&curvature::hessian(evaluator.as_mut(), &vec![0.0; d])?, d).largest();
        let share = 1.0 / self.points.len() as f64;
        for u in &self.points {
            let hessian = curvature::hessian(evaluator.as_mut(), u)?;
            self.curvature = self.curvature.max(Eigen::of(&hessian, d).largest());
            evaluator.per_datum(u, all, &mut here)?;
            add_scaled(&mut self.scores, share, &covariance(&here, d));
            here.iter_mut().zip(&centre).for_each(|(here, centre)| *here -= centre);
            add_scaled(&mut self.differences, share, &covariance(&here, d));
        }
        Ok(())
    }

    /// The number of coordinates.
    pub(crate) fn dim(&self) -> usize {
        self.mode.theta.len()
    }

    /// The noise of plain minibatch gradients.
    pub(crate) fn scores(&self, batch: usize) -> Noise {
        self.noise(&self.scores, batch, 1.0)
    }

    /// The noise of control variates centered at the mode, for a chain at a posterior draw.
    pub(crate) fn differences(&self, batch: usize) -> Noise {
        self.noise(&self.differences, batch, 1.0)
    }

    /// The noise of control variates centered at another posterior draw: an upper bound for SVRG and SAGA.
    pub(crate) fn doubled_differences(&self, batch: usize) -> Noise {
        self.noise(&self.differences, batch, 2.0)
    }

    /// N(N − n)/n times the covariance of what single observations contribute: minibatches are drawn without replacement.
    fn noise(&self, covariance: &[f64], batch: usize, factor: f64) -> Noise {
        let n = self.problem.observations as f64;
        let scale = factor * n * (n - batch as f64) / batch as f64;
        Noise::of(&covariance.iter().map(|entry| scale * entry).collect::<Vec<_>>(), self.dim())
    }

    /// Starts of `chains` chains: the first resampled draws.
    pub(crate) fn starts(&self, chains: usize) -> &[Vec<f64>] {
        &self.points[..chains]
    }
}

/// The derivatives of the reference parameters at the mode, by central differences.
fn slopes(problem: &Problem, whitened: &Coordinates, d: usize) -> Result<Vec<Vec<f64>>> {
    const REACH: f64 = 1e-4;
    let mut slopes = vec![vec![0.0; d]; problem.parameters.len()];
    for k in 0..d {
        let at = |side: f64| {
            let u: Vec<f64> = (0..d).map(|j| if j == k { side } else { 0.0 }).collect();
            problem.report(&whitened.to_model(&u))
        };
        for ((row, above), below) in slopes.iter_mut().zip(at(REACH)?).zip(at(-REACH)?) {
            row[k] = (above - below) / (2.0 * REACH);
        }
    }
    Ok(slopes)
}
