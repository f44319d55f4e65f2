//! The four posteriors, written by hand, and the truth about them.

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::algorithms::{Hmc, WarmUp};
use sgmcmc::diagnostics::distance::kl_divergence;
use sgmcmc::gradient::{Analytic, AnalyticModel, FullGradient, Target};
use sgmcmc::numerics::Cholesky;
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;

use crate::Result;

/// The number of draws of a truth.
const REFERENCE: usize = 3000;

/// A posterior, and the truth about it.
pub(super) struct Problem {
    pub(super) title: String,
    pub(super) target: Analytic,
    pub(super) observations: usize,
    pub(super) dim: usize,
    pub(super) start: Vec<f64>,
    pub(super) truth: Truth,
    /// The divergence of the draws of NUTS, which are the truth, from draws by another method. `None` without NUTS.
    pub(super) nuts: Option<f64>,
    /// The step sizes that SGLD and SGHMC are tuned over.
    pub(super) step_sizes: Vec<f64>,
}

/// The posterior that draws are compared with.
pub(super) enum Truth {
    /// Draws, row-major.
    Draws(Vec<f64>),
    /// A normal distribution.
    Normal {
        mean: Vec<f64>,
        /// The Cholesky factor of the covariance.
        root: Cholesky,
    },
}

/// The number of nearest neighbors of the estimate of a divergence from draws.
const NEIGHBORS: usize = 10;

impl Truth {
    /// Returns the divergence of draws of `dim` coordinates from the truth.
    ///
    /// Estimates by nearest neighbors have a bias that grows with the dimension. From a normal distribution, the divergence is that
    /// of the normal distribution with the mean and the covariance of the draws.
    pub(super) fn divergence(&self, draws: &[f64], dim: usize) -> Result<f64> {
        match self {
            Self::Draws(reference) => Ok(kl_divergence(draws, reference, dim, NEIGHBORS)?),
            Self::Normal { mean, root } => normal_divergence(draws, mean, root),
        }
    }
}

/// Returns the divergence of the normal distribution with the moments of `draws` from a normal distribution.
fn normal_divergence(draws: &[f64], mean: &[f64], root: &Cholesky) -> Result<f64> {
    let (d, n) = (mean.len(), (draws.len() / mean.len()) as f64);
    // In coordinates in which the truth is standard normal.
    let mut standard: Vec<f64> = Vec::with_capacity(draws.len());
    for row in draws.chunks_exact(d) {
        let mut z: Vec<f64> = row.iter().zip(mean).map(|(x, mean)| x - mean).collect();
        root.solve_lower(&mut z);
        standard.extend(z);
    }
    let center: Vec<f64> = (0..d).map(|k| standard.iter().skip(k).step_by(d).sum::<f64>() / n).collect();
    let mut covariance = vec![0.0; d * d];
    for row in standard.chunks_exact(d) {
        for i in 0..d {
            (0..d).for_each(|j| covariance[i * d + j] += (row[i] - center[i]) * (row[j] - center[j]) / (n - 1.0));
        }
    }
    let trace: f64 = (0..d).map(|k| covariance[k * d + k]).sum();
    let shift: f64 = center.iter().map(|x| x * x).sum();
    Ok(0.5 * (trace + shift - d as f64 - Cholesky::new(&covariance, d)?.log_determinant()))
}

/// The location of a bivariate t distribution with three degrees of freedom and a flat prior.
#[derive(Clone)]
struct StudentLocation(Vec<[f64; 2]>);

const NU: f64 = 3.0;
/// The inverse of the scale matrix [1 0.5; 0.5 1].
const PRECISION: [f64; 3] = [4.0 / 3.0, -2.0 / 3.0, 4.0 / 3.0];

impl AnalyticModel for StudentLocation {
    fn observations(&self) -> usize {
        self.0.len()
    }

    fn dim(&self) -> usize {
        2
    }

    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let delta = [self.0[row][0] - theta[0], self.0[row][1] - theta[1]];
        let scaled =
            [PRECISION[0] * delta[0] + PRECISION[1] * delta[1], PRECISION[1] * delta[0] + PRECISION[2] * delta[1]];
        let square = delta[0] * scaled[0] + delta[1] * scaled[1];
        let factor = weight * (NU + 2.0) / (NU + square);
        grad[0] += factor * scaled[0];
        grad[1] += factor * scaled[1];
        -0.5 * (NU + 2.0) * (square / NU).ln_1p()
    }
}

/// The two centers of a mixture of bivariate normal distributions with covariance I and equal weights.
#[derive(Clone)]
struct Centers(Vec<[f64; 2]>);

/// The variance of the prior of each center coordinate.
const PRIOR_VARIANCE: f64 = 10.0;

impl AnalyticModel for Centers {
    fn observations(&self) -> usize {
        self.0.len()
    }

    fn dim(&self) -> usize {
        4
    }

    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let x = self.0[row];
        let delta = [x[0] - theta[0], x[1] - theta[1], x[0] - theta[2], x[1] - theta[3]];
        let first = -0.5 * (delta[0] * delta[0] + delta[1] * delta[1]);
        let second = -0.5 * (delta[2] * delta[2] + delta[3] * delta[3]);
        let share = 1.0 / (1.0 + (second - first).exp());
        grad[0] += weight * share * delta[0];
        grad[1] += weight * share * delta[1];
        grad[2] += weight * (1.0 - share) * delta[2];
        grad[3] += weight * (1.0 - share) * delta[3];
        let largest = first.max(second);
        largest + ((first - largest).exp() + (second - largest).exp()).ln()
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        normal_prior(theta, PRIOR_VARIANCE, grad)
    }
}

/// The warped Gaussian: x ~ N(θ₁ + θ₂², 5²), θ ~ N(0, I).
#[derive(Clone)]
struct Warped(Vec<f64>);

const NOISE: f64 = 5.0;

impl AnalyticModel for Warped {
    fn observations(&self) -> usize {
        self.0.len()
    }

    fn dim(&self) -> usize {
        2
    }

    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let residual = (self.0[row] - theta[0] - theta[1] * theta[1]) / (NOISE * NOISE);
        grad[0] += weight * residual;
        grad[1] += weight * residual * 2.0 * theta[1];
        -0.5 * residual * residual * NOISE * NOISE
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        normal_prior(theta, 1.0, grad)
    }
}

/// The mean of a normal distribution with neighboring correlations of 0.5 and a flat prior.
#[derive(Clone)]
struct GaussianMean {
    x: Vec<f64>,
    /// The inverse of the covariance of an observation, row-major.
    precision: Vec<f64>,
    dim: usize,
}

impl AnalyticModel for GaussianMean {
    fn observations(&self) -> usize {
        self.x.len() / self.dim
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let d = self.dim;
        let x = &self.x[row * d..(row + 1) * d];
        let mut value = 0.0;
        for (i, grad) in grad.iter_mut().enumerate() {
            // The inverse of a covariance with entries ρ^|i − j| is tridiagonal.
            let near = i.saturating_sub(1)..(i + 2).min(d);
            let slope: f64 = near.map(|j| self.precision[i * d + j] * (x[j] - theta[j])).sum();
            *grad += weight * slope;
            value -= 0.5 * (x[i] - theta[i]) * slope;
        }
        value
    }
}

fn normal_prior(theta: &[f64], variance: f64, grad: &mut [f64]) -> f64 {
    grad.iter_mut().zip(theta).for_each(|(grad, theta)| *grad -= theta / variance);
    -0.5 * theta.iter().map(|theta| theta * theta).sum::<f64>() / variance
}

fn normals(count: usize, rng: &mut StreamRng) -> Vec<f64> {
    (0..count).map(|_| rng.sample(StandardNormal)).collect()
}

/// Figure 2.4.1: the location of a t distribution.
pub(super) fn student(n: usize) -> Result<Problem> {
    let mut rng = StreamRng::seed_from_u64(241);
    let row = |_| {
        let z = normals(2, &mut rng);
        let chi: f64 = normals(3, &mut rng).iter().map(|z| z * z).sum();
        let scale = (NU / chi).sqrt();
        [scale * z[0], scale * (0.5 * z[0] + 0.75_f64.sqrt() * z[1])]
    };
    let model = StudentLocation((0..n).map(row).collect());
    let range = 8.0 / (n as f64).sqrt();
    let grid = on_grid(&model, [[-range, range], [-range, range]])?;
    let start = vec![0.0; 2];
    let reference = Reference::new(&model, &start, grid, nuts)?;
    let step_sizes = powers(1.0 / n as f64, &[0.003, 0.01, 0.03, 0.1]);
    Ok(problem("t location", model, start, reference, step_sizes))
}

/// Figure 2.4.2: the centers of a mixture. Their distance is such that the log posterior is about 2.5 lower between the
/// modes, as far as a fourth-order expansion says.
pub(super) fn mixture(n: usize) -> Result<Problem> {
    let mut rng = StreamRng::seed_from_u64(242);
    let half = 0.5 * (160.0 / n as f64).powf(0.25);
    let row = |_| {
        let z = normals(2, &mut rng);
        let side = if rng.random::<bool>() { half } else { -half };
        [z[0] + side, z[1]]
    };
    let model = Centers((0..n).map(row).collect());
    let start = vec![half, 0.0, -half, 0.0];
    let kernel = Hmc { steps: 15, jitter: 0.5, warm_up: Some(WarmUp::diagonal(500)), ..Hmc::default() };
    let run = Builder::new(Analytic::new(model.clone()), kernel, FullGradient, 1e-4).seed(7).chains(2).thin(4);
    let fit = run.sample(&start, REFERENCE / 2)?;
    // The posterior is symmetric: exchanging the centers of half of the draws makes the references exact in this respect.
    let mut symmetric = |draws: &mut dyn Iterator<Item = &[f64]>| {
        let mut all = Vec::new();
        for row in draws {
            let order = if rng.random::<bool>() { [0, 1, 2, 3] } else { [2, 3, 0, 1] };
            all.extend(order.map(|k| row[k]));
        }
        all
    };
    let other = symmetric(&mut fit.chains().iter().flat_map(|chain| chain.rows()));
    let sample =
        |model: &Centers, start: &[f64]| Ok(nuts(model, start)?.map(|draws| symmetric(&mut draws.chunks_exact(4))));
    let reference = Reference::new(&model, &start, other, sample)?;
    let step_sizes = powers(1.0 / n as f64, &[0.01, 0.03, 0.1, 0.3]);
    Ok(problem("mixture", model, start, reference, step_sizes))
}

/// Figure 2.4.3: the warped Gaussian.
pub(super) fn warped(n: usize) -> Result<Problem> {
    let mut rng = StreamRng::seed_from_u64(243);
    let model = Warped(normals(n, &mut rng).into_iter().map(|z| 0.5 + NOISE * z).collect());
    let grid = on_grid(&model, [[-8.0, 3.0], [-3.5, 3.5]])?;
    let start = vec![0.0, 0.5];
    let reference = Reference::new(&model, &start, grid, nuts)?;
    let step_sizes = powers(NOISE * NOISE / n as f64, &[0.003, 0.01, 0.03, 0.1]);
    Ok(problem("warped Gaussian", model, start, reference, step_sizes))
}

/// Figure 2.4.4: the mean of a normal distribution.
pub(super) fn gaussian(n: usize, dim: usize) -> Result<Problem> {
    let mut rng = StreamRng::seed_from_u64(244 + dim as u64);
    let covariance: Vec<f64> = (0..dim * dim).map(|k| 0.5_f64.powi((k / dim).abs_diff(k % dim) as i32)).collect();
    let root = Cholesky::new(&covariance, dim)?;
    let mut precision = vec![0.0; dim * dim];
    root.inverse(&mut precision);
    let mut draw = |_| {
        let mut x = vec![0.0; dim];
        root.product(&normals(dim, &mut rng), &mut x);
        x
    };
    let x: Vec<f64> = (0..n).flat_map(&mut draw).collect();
    let mean: Vec<f64> = (0..dim).map(|k| x.iter().skip(k).step_by(dim).sum::<f64>() / n as f64).collect();
    let of_mean: Vec<f64> = covariance.iter().map(|entry| entry / n as f64).collect();
    let truth = Truth::Normal { mean: mean.clone(), root: Cholesky::new(&of_mean, dim)? };
    let step_sizes = powers(1.0 / n as f64, &[0.003, 0.01, 0.03, 0.1]);
    let model = GaussianMean { x, precision, dim };
    Ok(problem(&format!("Gaussian, d = {dim}"), model, mean, Reference { truth, nuts: None }, step_sizes))
}

fn problem(
    title: &str,
    model: impl AnalyticModel,
    start: Vec<f64>,
    reference: Reference,
    step_sizes: Vec<f64>,
) -> Problem {
    let (observations, dim) = (model.observations(), model.dim());
    let Reference { truth, nuts } = reference;
    Problem { title: title.into(), target: Analytic::new(model), observations, dim, start, truth, nuts, step_sizes }
}

/// A truth, and how far it is from another estimate of it.
struct Reference {
    truth: Truth,
    nuts: Option<f64>,
}

impl Reference {
    /// Takes the draws of `sample` as the truth, and `other` without NUTS.
    fn new<M: AnalyticModel>(
        model: &M,
        start: &[f64],
        other: Vec<f64>,
        mut sample: impl FnMut(&M, &[f64]) -> Result<Option<Vec<f64>>>,
    ) -> Result<Self> {
        Ok(match sample(model, start)? {
            Some(draws) => {
                let nuts = Some(kl_divergence(&draws, &other, start.len(), NEIGHBORS)?);
                Self { truth: Truth::Draws(draws), nuts }
            }
            None => Self { truth: Truth::Draws(other), nuts: None },
        })
    }
}

/// Returns thinned draws of NUTS.
#[cfg(feature = "nuts")]
fn nuts<M: AnalyticModel + Clone>(model: &M, start: &[f64]) -> Result<Option<Vec<f64>>> {
    let thin = 4;
    let sampler = sgmcmc::algorithms::Nuts { seed: 7, ..sgmcmc::algorithms::Nuts::default() };
    let fit = sampler.sample(&Analytic::new(model.clone()), &start.to_vec(), thin * REFERENCE / sampler.chains)?;
    Ok(Some(fit.chains().iter().flat_map(|chain| chain.rows().step_by(thin)).flatten().copied().collect()))
}

/// Returns `None`, because the feature `nuts` is disabled.
#[cfg(not(feature = "nuts"))]
fn nuts<M>(_model: &M, _start: &[f64]) -> Result<Option<Vec<f64>>> {
    Ok(None)
}

/// Returns `unit` times each factor.
fn powers(unit: f64, factors: &[f64]) -> Vec<f64> {
    factors.iter().map(|factor| unit * factor).collect()
}

/// Draws from a posterior in two dimensions, evaluated on a grid. Within a cell draws are uniform.
fn on_grid(model: &(impl AnalyticModel + Clone), range: [[f64; 2]; 2]) -> Result<Vec<f64>> {
    let cells = 300;
    let width = range.map(|[low, high]| (high - low) / f64::from(cells));
    let mut evaluator = Analytic::new(model.clone()).evaluator(&vec![0.0; 2])?;
    let rows = evaluator.all_rows();
    let mut logs = Vec::new();
    for i in 0..cells {
        for j in 0..cells {
            let theta = [range[0][0] + (f64::from(i) + 0.5) * width[0], range[1][0] + (f64::from(j) + 0.5) * width[1]];
            logs.push(evaluator.log_density(&theta, rows)?);
        }
    }
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sums = Vec::with_capacity(logs.len());
    let mut total = 0.0;
    for log in logs {
        total += (log - largest).exp();
        sums.push(total);
    }
    let mut rng = StreamRng::seed_from_u64(1);
    let mut draws = Vec::with_capacity(2 * REFERENCE);
    for _ in 0..REFERENCE {
        let wanted = rng.random::<f64>() * total;
        let cell = sums.partition_point(|sum| *sum < wanted);
        let corner = [cell / cells as usize, cell % cells as usize];
        draws.extend([0, 1].map(|k| range[k][0] + (corner[k] as f64 + rng.random::<f64>()) * width[k]));
    }
    Ok(draws)
}
