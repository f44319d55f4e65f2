//! Scores of arms: see [`SteinScorer`].

use rand::SeedableRng;
use rayon::prelude::*;
use sgmcmc_diagnostics::ksd::{Imq, Points, imq};
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Evaluator, Result, Rows, settings};
use sgmcmc_numerics::Cholesky;
use sgmcmc_numerics::vector::{add_scaled, scale};

use crate::chain::GradientChain;

/// Scores the draws of chains by their kernel Stein discrepancy from the posterior.
///
/// # Rule
///
/// The score is the U-statistic of the squared discrepancy with the inverse multiquadric kernel (d + |x − y|²)^{−1/2} in
/// coordinates x = L⁻¹θ, where L Lᵀ is the covariance of the draws of the arms that would go on, pooled with equal weight,
/// and d the number of coordinates. The covariance of all arms would contain those with far too large steps. It is found
/// in a few passes: the first has the two thirds of the arms that are least spread, the next ones the best of the pass
/// before. The covariance is diagonal if there are more than `dense` coordinates, or too few draws.
///
/// The gradients ∇ log p(θ|x) are computed on all observations if N ≤ 2 `observations`. Otherwise they are control variate
/// estimates ∇ₛ(θ) − ∇ₛ(c) + ∇(c) with `observations` observations s, a new sample for each draw and the same for all arms,
/// and c the median of the draws. Independent noise of the gradients does not bias a U-statistic.
///
/// # Source
///
/// Gorham & Mackey, "Measuring sample quality with kernels" (ICML 2017).
///
/// # Cost
///
/// Per draw N gradients of single observations, or 2 `observations`, and N per round for ∇(c).
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `observations` | 1000 | number of observations in the gradient of each draw | ≥ 1 |
/// | `dense` | 50 | largest number of coordinates with a dense covariance | |
/// | `seed` | 1 | seed of the choice of observations | |
///
/// # Examples
///
/// See [`SuccessiveHalving`](super::SuccessiveHalving).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteinScorer {
    /// The number of observations in the gradient of each draw.
    pub observations: usize,
    /// The largest number of coordinates with a dense covariance.
    pub dense: usize,
    /// The seed of the choice of observations.
    pub seed: u64,
}

impl Default for SteinScorer {
    fn default() -> Self {
        Self { observations: 1000, dense: 50, seed: 1 }
    }
}

/// The draws of an arm with weights and gradients of the log density, row by row.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) dim: usize,
    pub(super) draws: Vec<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) gradients: Vec<f64>,
}

/// The center of control variates, with the gradient of the likelihood of all observations.
#[derive(Clone, Debug)]
pub(super) struct Center {
    theta: Vec<f64>,
    gradient: Vec<f64>,
}

impl Center {
    /// Evaluates the gradient at the median of each coordinate over all `draws`, which have rows of the length of θ.
    pub(super) fn new(draws: &[Vec<f64>], evaluator: &mut dyn Evaluator) -> Result<Self> {
        let dim = evaluator.dim();
        let theta: Vec<f64> = (0..dim).map(|k| median(draws.iter().flat_map(|draws| column(draws, dim, k)))).collect();
        let mut gradient = vec![0.0; dim];
        evaluator.likelihood(&theta, evaluator.all_rows(), &mut gradient)?;
        Ok(Self { theta, gradient })
    }
}

/// Returns column `k` of a row-major table with `dim` columns.
fn column(table: &[f64], dim: usize, k: usize) -> impl Iterator<Item = f64> + '_ {
    table.iter().skip(k).step_by(dim.max(1)).copied()
}

/// Returns the upper median, or 0 of no numbers.
fn median(x: impl Iterator<Item = f64>) -> f64 {
    let mut x: Vec<f64> = x.collect();
    if x.is_empty() {
        return 0.0;
    }
    let middle = x.len() / 2;
    *x.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The number of passes that look for the covariance.
const PASSES: usize = 4;

impl SteinScorer {
    /// Checks the settings.
    pub(super) fn check(&self) -> Result<()> {
        let expected = "a gradient needs at least 1 observation";
        settings::at_least("the observations of a score", self.observations, 1, expected)?;
        Ok(())
    }

    /// Returns whether gradients are computed on all `observations` observations.
    pub(super) fn uses_all(&self, observations: usize) -> bool {
        observations <= self.observations.saturating_mul(2)
    }

    /// Returns the cost of the gradient at one draw.
    pub(super) fn cost_of_draw(&self, observations: usize) -> u64 {
        if self.uses_all(observations) { observations.max(1) as u64 } else { 2 * self.observations as u64 }
    }

    /// Returns the cost of the center of a round.
    pub(super) fn cost_of_center(&self, observations: usize) -> u64 {
        if self.uses_all(observations) { 0 } else { observations as u64 }
    }

    /// Returns the gradient of the log density at each of `draws`, at the temperature of `chain`.
    ///
    /// # Errors
    ///
    /// Returns the error of the model, and an error at temperature zero.
    pub(super) fn gradients(
        &self,
        chain: &mut dyn GradientChain,
        draws: &[f64],
        center: Option<&Center>,
    ) -> Result<Vec<f64>> {
        let temperature = settings::positive("the temperature of a scored chain", chain.info().temperature)?;
        let dim = chain.position().len();
        let mut gradients = vec![0.0; draws.len()];
        for (index, (theta, gradient)) in draws.chunks_exact(dim).zip(gradients.chunks_exact_mut(dim)).enumerate() {
            match center {
                Some(center) => self.estimate(index as u64, theta, center, chain.evaluator(), gradient)?,
                None => {
                    let evaluator = chain.evaluator();
                    evaluator.posterior(theta, evaluator.all_rows(), gradient)?;
                }
            }
            // The values have density p(θ|x)^{1/T}; the log-Jacobian of the coordinates is not divided by T.
            if chain.layout().is_constrained() {
                chain.layout().log_jacobian(theta, temperature - 1.0, gradient)?;
            }
            scale(gradient, temperature.recip());
        }
        Ok(gradients)
    }

    /// Adds the control variate estimate of the gradient at `theta` to `out`. The observations depend on `index` only.
    fn estimate(
        &self,
        index: u64,
        theta: &[f64],
        center: &Center,
        evaluator: &mut dyn Evaluator,
        out: &mut [f64],
    ) -> Result<()> {
        let all = evaluator.observations();
        let mut rng = StreamRng::seed_from_u64(self.seed.wrapping_add(index));
        let rows = rand::seq::index::sample(&mut rng, all, self.observations.min(all)).into_vec();
        let rows = Rows::list(&rows).scaled(all as f64 / rows.len() as f64);
        evaluator.posterior(theta, rows, out)?;
        let mut there = vec![0.0; theta.len()];
        evaluator.likelihood(&center.theta, rows, &mut there)?;
        add_scaled(out, -1.0, &there);
        add_scaled(out, 1.0, &center.gradient);
        Ok(())
    }

    /// Returns the score of each sample, of which the best `kept` would go on. The score is infinite if the sample has
    /// a number that is not finite.
    pub(super) fn scores(&self, samples: &[&Sample], kept: usize) -> Vec<f64> {
        let order = |keys: &[f64]| {
            let mut order: Vec<usize> = (0..keys.len()).filter(|k| keys[*k].is_finite()).collect();
            order.sort_by(|a, b| keys[*a].total_cmp(&keys[*b]).then(a.cmp(b)));
            order
        };
        let pool_of = |mut order: Vec<usize>, size: usize| {
            order.truncate(size);
            order.sort_unstable();
            order
        };
        let mut pool = pool_of(order(&spreads(samples)), (2 * samples.len()).div_ceil(3));
        let mut scores = vec![f64::INFINITY; samples.len()];
        for _ in 0..PASSES {
            let whitening = Whitening::new(&pool.iter().map(|k| samples[*k]).collect::<Vec<_>>(), self.dense);
            // The indexed iterator keeps the order.
            scores = samples.par_iter().map(|sample| whitening.score(sample)).collect();
            let next = pool_of(order(&scores), kept.max(2));
            if next.is_empty() || next == pool {
                break;
            }
            pool = next;
        }
        scores
    }
}

/// Returns the sum over coordinates of the logarithm of the mean square distance from the median of all draws, which does
/// not depend on the units of the coordinates.
fn spreads(samples: &[&Sample]) -> Vec<f64> {
    let dim = samples.first().map_or(0, |sample| sample.dim);
    let mut spreads = vec![0.0; samples.len()];
    for k in 0..dim {
        let middle = median(samples.iter().flat_map(|sample| column(&sample.draws, dim, k)));
        for (spread, sample) in spreads.iter_mut().zip(samples) {
            let squares: f64 = column(&sample.draws, dim, k).map(|x| (x - middle).powi(2)).sum();
            *spread += (squares / sample.weights.len() as f64).max(f64::MIN_POSITIVE).ln();
        }
    }
    spreads
}

/// The matrix L of the coordinates x = L⁻¹θ.
enum Whitening {
    Dense(Cholesky),
    Diagonal(Vec<f64>),
}

impl Whitening {
    /// Creates the root of the pooled covariance of `samples`.
    fn new(samples: &[&Sample], dense: usize) -> Self {
        let dim = samples.first().map_or(0, |sample| sample.dim);
        let draws = || {
            samples.iter().flat_map(|sample| {
                let total: f64 = sample.weights.iter().sum::<f64>() * samples.len() as f64;
                sample.draws.chunks_exact(dim.max(1)).zip(&sample.weights).map(move |(x, weight)| (x, weight / total))
            })
        };
        let mut mean = vec![0.0; dim];
        draws().for_each(|(x, weight)| add_scaled(&mut mean, weight, x));
        let centered = |x: &[f64]| -> Vec<f64> { x.iter().zip(&mean).map(|(x, mean)| x - mean).collect() };
        let count: usize = samples.iter().map(|sample| sample.weights.len()).sum();
        if dim <= dense && count > 4 * dim {
            let mut covariance = vec![0.0; dim * dim];
            for (x, weight) in draws() {
                let x = centered(x);
                covariance.chunks_exact_mut(dim.max(1)).zip(&x).for_each(|(row, xi)| add_scaled(row, weight * xi, &x));
            }
            if let Ok(cholesky) = Cholesky::new(&covariance, dim) {
                return Self::Dense(cholesky);
            }
        }
        let mut variances = vec![0.0; dim];
        for (x, weight) in draws() {
            variances.iter_mut().zip(centered(x)).for_each(|(variance, x)| *variance += weight * x * x);
        }
        // A coordinate without a variance keeps its unit.
        let usable = |variance: &f64| variance.is_normal() && *variance > 0.0;
        Self::Diagonal(variances.iter().map(|variance| if usable(variance) { variance.sqrt() } else { 1.0 }).collect())
    }

    /// Replaces the draw `x` by L⁻¹x and its gradient `g` by Lᵀg.
    fn apply(&self, x: &mut [f64], g: &mut [f64]) {
        match self {
            Self::Dense(cholesky) => {
                let gradient = g.to_vec();
                cholesky.solve_lower(x);
                cholesky.transpose_product(&gradient, g);
            }
            Self::Diagonal(scales) => {
                x.iter_mut().zip(scales).for_each(|(x, scale)| *x /= scale);
                g.iter_mut().zip(scales).for_each(|(g, scale)| *g *= scale);
            }
        }
    }

    /// Returns the score of `sample`.
    fn score(&self, sample: &Sample) -> f64 {
        let Sample { dim, mut draws, weights, mut gradients } = sample.clone();
        draws
            .chunks_exact_mut(dim.max(1))
            .zip(gradients.chunks_exact_mut(dim.max(1)))
            .for_each(|(x, g)| self.apply(x, g));
        let kernel = Imq { c: (dim.max(1) as f64).sqrt(), ..Imq::default() };
        let discrepancy = Points::new(&draws, &gradients, dim)
            .and_then(|points| points.weights(&weights))
            .and_then(|points| imq(&points, kernel));
        discrepancy.map_or(f64::INFINITY, |found| if found.u.is_finite() { found.u } else { f64::INFINITY })
    }
}
