//! Mode, curvature and gradient noise of a problem: all that the step sizes depend on.
//!
//! L-BFGS finds the mode and central differences the Hessian H there; whitened coordinates u have θ = mode + F u, F Fᵀ = H⁻¹. Curvature
//! and noise are measured in them at the mode and at a few draws of the Laplace approximation, which is N(0, I) there.

use std::sync::Arc;

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc::linalg::Cholesky;
use sgmcmc::prelude::*;
use sgmcmc::{ChainRng, Mode, curvature};
use sgmcmc_testkit::linear::covariance;

use crate::Result;
use crate::eigen::Eigen;
use crate::posteriors::coordinates::{Affine, Coordinates};
use crate::posteriors::problem::Problem;

/// Draws of the Laplace approximation at which curvature and noise are measured.
const POINTS: u64 = 16;
const SEED: u64 = 20;

/// What is known of a problem before the first run.
#[derive(Debug)]
pub(crate) struct Tuning {
    pub(crate) problem: Arc<Problem>,
    pub(crate) mode: Mode,
    /// The inverse Hessian at the mode, in the coordinates of the model, row by row.
    pub(crate) covariance: Vec<f64>,
    pub(crate) whitened: Coordinates,
    /// The largest curvature in whitened coordinates, over the mode and the draws; one at the mode.
    pub(crate) curvature: f64,
    /// The covariance of the gradients of single observations.
    scores: Vec<f64>,
    /// The covariance of their differences from those at the mode.
    differences: Vec<f64>,
    /// The derivatives of the reference parameters by the whitened coordinates at the mode, a row per parameter.
    pub(crate) slopes: Vec<Vec<f64>>,
    pub(crate) batch: usize,
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
            scores: vec![0.0; d * d],
            differences: vec![0.0; d * d],
            batch: 0,
        };
        tuning.look_around(d)?;
        tuning.batch = tuning.minibatch();
        Ok(tuning)
    }

    /// Measures curvature and noise at the mode and at draws of the Laplace approximation.
    fn look_around(&mut self, d: usize) -> Result<()> {
        let mut evaluator = self.whitened.evaluator()?;
        let n = evaluator.observations();
        let all = evaluator.all_rows();
        let (mut centre, mut here) = (vec![0.0; n * d], vec![0.0; n * d]);
        evaluator.per_datum(&vec![0.0; d], all, &mut centre)?;
        self.curvature = Eigen::of(&curvature::hessian(evaluator.as_mut(), &vec![0.0; d])?, d).largest();
        for u in laplace_draws(d, POINTS) {
            let hessian = curvature::hessian(evaluator.as_mut(), &u)?;
            self.curvature = self.curvature.max(Eigen::of(&hessian, d).largest());
            evaluator.per_datum(&u, all, &mut here)?;
            add_mean(&mut self.scores, &covariance(&here, d));
            here.iter_mut().zip(&centre).for_each(|(here, centre)| *here -= centre);
            add_mean(&mut self.differences, &covariance(&here, d));
        }
        Ok(())
    }

    /// A tenth of the observations, at least four; more, where the noise of control variates would exceed the curvature.
    fn minibatch(&self) -> usize {
        let n = self.problem.observations;
        let most = (n / 2).max(1);
        let mut batch = (n / 10).max(4).min(most);
        while batch < most && self.differences(batch).along.largest() > 1.0 {
            batch = (2 * batch).min(most);
        }
        batch
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

    /// Starts of `chains` chains in whitened coordinates: draws of the Laplace approximation.
    pub(crate) fn starts(&self, chains: usize) -> Vec<Vec<f64>> {
        laplace_draws(self.dim(), POINTS + chains as u64).split_off(POINTS as usize)
    }
}

/// Standard normal vectors, each from a stream of its own.
fn laplace_draws(d: usize, count: u64) -> Vec<Vec<f64>> {
    let draw = |k: u64| {
        let mut rng = ChainRng::new(SEED, k);
        (0..d).map(|_| rng.noise().sample(StandardNormal)).collect()
    };
    (0..count).map(draw).collect()
}

fn add_mean(sum: &mut [f64], added: &[f64]) {
    sum.iter_mut().zip(added).for_each(|(sum, added)| *sum += added / POINTS as f64);
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
