//! The mode, the curvature and the gradient noise of a problem, which determine the step sizes.
//!
//! L-BFGS finds the mode, and central differences give the Hessian H at the mode. In whitened coordinates u with θ =
//! mode + F u, F Fᵀ = H⁻¹, the Laplace approximation is N(0, I). Curvature and noise are measured at approximate draws
//! of the posterior: draws of a multivariate t distribution around the mode, resampled by their importance weights.

use std::sync::Arc;

use rand::RngExt;
use rand_distr::{ChiSquared, StandardNormal};
use sgmcmc::curvature;
use sgmcmc::mode::LbfgsSearch;
use sgmcmc::mode::Mode;
use sgmcmc::numerics::Cholesky;
use sgmcmc::numerics::vector::add_scaled;
use sgmcmc::rng::ChainRng;
use sgmcmc_testkit::linear::covariance;

use crate::Result;
use crate::suites::posteriors::coordinates::{Affine, Coordinates};
use crate::suites::posteriors::problem::Problem;
use sgmcmc::numerics::SymmetricEigen;

/// The number of draws of the t distribution.
const PROPOSALS: u64 = 4000;
/// The degrees of freedom of the t distribution.
const FREEDOM: f64 = 5.0;
/// The number of resampled draws at which curvature and noise are measured.
const POINTS: usize = 16;
const SEED: u64 = 20;

/// The measurements of a problem before the first run. All fields except the first four are in whitened coordinates.
#[derive(Debug)]
pub(crate) struct Tuning {
    pub(crate) problem: Arc<Problem>,
    pub(crate) mode: Mode,
    /// The inverse Hessian at the mode, in the coordinates of the model, row by row.
    pub(crate) covariance: Vec<f64>,
    pub(crate) whitened: Coordinates,
    /// The largest curvature at the mode, where it is one, and at the resampled draws.
    pub(crate) curvature: f64,
    /// The largest variance of a coordinate, one for a normal posterior.
    pub(crate) width: f64,
    /// The mean of each reference parameter minus its value at the mode.
    pub(crate) offsets: Vec<f64>,
    /// The derivatives of the reference parameters at the mode, one row per parameter.
    pub(crate) slopes: Vec<Vec<f64>>,
    pub(crate) batch: usize,
    /// The covariance of the gradients of single observations.
    scores: Vec<f64>,
    /// The covariance of the differences between these gradients and those at the mode.
    differences: Vec<f64>,
    /// The resampled draws.
    points: Vec<Vec<f64>>,
}

/// The noise of a gradient estimator in whitened coordinates, along its principal directions.
#[derive(Clone, Debug)]
pub(crate) struct Noise {
    pub(crate) along: SymmetricEigen,
    /// The variance of each coordinate.
    pub(crate) diagonal: Vec<f64>,
}

impl Noise {
    /// Decomposes the covariance of the noise.
    fn from_covariance(covariance: &[f64], d: usize) -> Self {
        let mut along = SymmetricEigen::new(covariance, d);
        along.values.iter_mut().for_each(|value| *value = value.max(0.0));
        Self { along, diagonal: covariance.iter().step_by(d + 1).copied().collect() }
    }

    /// Returns the mean variance of a coordinate.
    pub(crate) fn mean(&self) -> f64 {
        self.diagonal.iter().sum::<f64>() / self.diagonal.len() as f64
    }
}

impl Tuning {
    /// Finds the mode of `problem` and measures curvature and noise around it.
    pub(crate) fn new(problem: &Arc<Problem>) -> Result<Self> {
        let mut evaluator = problem.evaluator()?;
        let mode = LbfgsSearch::default().run(evaluator.as_mut(), &problem.start)?;
        let d = mode.theta.len();
        let factor = Cholesky::new(&curvature::hessian(evaluator.as_mut(), &mode.theta)?, d)
            .map_err(|error| format!("{}: the Hessian at the mode: {error}", problem.name))?;
        // H = L Lᵀ, so F = L⁻ᵀ. Its columns are the solutions of Lᵀ f = e.
        let mut matrix = vec![0.0; d * d];
        for column in 0..d {
            let mut unit: Vec<f64> = (0..d).map(|i| f64::from(u8::from(i == column))).collect();
            factor.solve_upper(&mut unit);
            unit.iter().enumerate().for_each(|(row, entry)| matrix[row * d + column] = *entry);
        }
        let mut inverse = vec![0.0; d * d];
        factor.inverse(&mut inverse);
        let affine = Arc::new(Affine { center: mode.theta.clone(), matrix });
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
        tuning.measure(d)?;
        Ok(tuning)
    }

    /// Estimates the width and the means of the posterior by importance sampling, and resamples draws.
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
        let mean = |statistic: &dyn Fn(&[f64]) -> f64| {
            draws.iter().zip(&weights).map(|((u, _), weight)| weight * statistic(u)).sum::<f64>() / total
        };
        for k in 0..d {
            let center = mean(&|u| u[k]);
            self.width = self.width.max(mean(&|u| (u[k] - center).powi(2)));
        }
        let report = |u: &[f64]| self.problem.report(&self.whitened.to_model(u));
        let mut offsets = report(&vec![0.0; d])?.into_iter().map(|value| -value).collect::<Vec<_>>();
        for ((u, _), weight) in draws.iter().zip(&weights) {
            offsets.iter_mut().zip(report(u)?).for_each(|(offset, value)| *offset += weight / total * value);
        }
        self.offsets = offsets;
        // Systematic resampling; a draw may occur several times.
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
    fn measure(&mut self, d: usize) -> Result<()> {
        let mut evaluator = self.whitened.evaluator()?;
        let n = evaluator.observations();
        let all = evaluator.all_rows();
        let (mut center, mut here) = (vec![0.0; n * d], vec![0.0; n * d]);
        evaluator.gradient_per_observation(&vec![0.0; d], all, &mut center)?;
        self.curvature = SymmetricEigen::new(&curvature::hessian(evaluator.as_mut(), &vec![0.0; d])?, d).largest();
        let weight = 1.0 / self.points.len() as f64;
        for u in &self.points {
            let hessian = curvature::hessian(evaluator.as_mut(), u)?;
            self.curvature = self.curvature.max(SymmetricEigen::new(&hessian, d).largest());
            evaluator.gradient_per_observation(u, all, &mut here)?;
            add_scaled(&mut self.scores, weight, &covariance(&here, d));
            here.iter_mut().zip(&center).for_each(|(here, center)| *here -= center);
            add_scaled(&mut self.differences, weight, &covariance(&here, d));
        }
        Ok(())
    }

    /// Returns the number of coordinates.
    pub(crate) fn dim(&self) -> usize {
        self.mode.theta.len()
    }

    /// Returns the noise of plain minibatch gradients.
    pub(crate) fn scores(&self, batch: usize) -> Noise {
        self.noise(&self.scores, batch, 1.0)
    }

    /// Returns the noise of control variates centered at the mode, at a draw of the posterior.
    pub(crate) fn differences(&self, batch: usize) -> Noise {
        self.noise(&self.differences, batch, 1.0)
    }

    /// Returns the noise of control variates centered at another draw of the posterior, an upper bound for SVRG and
    /// SAGA.
    pub(crate) fn doubled_differences(&self, batch: usize) -> Noise {
        self.noise(&self.differences, batch, 2.0)
    }

    /// Returns the noise of minibatches without replacement: N(N − n)/n times the covariance of the contributions of
    /// single observations.
    fn noise(&self, covariance: &[f64], batch: usize, factor: f64) -> Noise {
        let n = self.problem.observations as f64;
        let scale = factor * n * (n - batch as f64) / batch as f64;
        Noise::from_covariance(&covariance.iter().map(|entry| scale * entry).collect::<Vec<_>>(), self.dim())
    }

    /// Returns the starts of `chains` chains, the first resampled draws.
    pub(crate) fn starts(&self, chains: usize) -> &[Vec<f64>] {
        &self.points[..chains]
    }
}

/// Returns the derivatives of the reference parameters at the mode, by central differences.
fn slopes(problem: &Problem, whitened: &Coordinates, d: usize) -> Result<Vec<Vec<f64>>> {
    const STEP: f64 = 1e-4;
    let mut slopes = vec![vec![0.0; d]; problem.parameters.len()];
    for k in 0..d {
        let at = |side: f64| {
            let u: Vec<f64> = (0..d).map(|j| if j == k { side } else { 0.0 }).collect();
            problem.report(&whitened.to_model(&u))
        };
        for ((row, above), below) in slopes.iter_mut().zip(at(STEP)?).zip(at(-STEP)?) {
            row[k] = (above - below) / (2.0 * STEP);
        }
    }
    Ok(slopes)
}
