//! Prediction of the bias of a chain from the curvature and the gradient noise where it is.
//!
//! The law of an algorithm on a normal posterior (see [`law`](crate::law)) needs two numbers per direction: the curvature hA and the gradient noise hV,
//! whitened by the matrix of the algorithm. Both are measured at the position of the chain: the noise from the terms of minibatches, the curvature by
//! differences of gradients on a sample of the observations. The prediction is made in the direction of the largest curvature and in that of the largest noise.

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc_core::rng::StreamRng;
use sgmcmc_core::{Evaluator, GradientEstimator, NoiseCovariance, Oracle, Result, Rows};
use sgmcmc_linalg::vector::{dot, scale};

use crate::dynamics::{Dynamics, Positioned};
use crate::fit::{Bias, DirectionBias, PredictedBias};
use crate::law::Direction;
use crate::step_size::Piece;

/// The effort and the step size of a prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionPlan {
    /// Observations whose gradients make a product with the curvature.
    pub observations: usize,
    /// Mean step size of the draws, weighted as they are, over the step size of the last one.
    pub step_scale: f64,
}

/// The step sizes and the temperature of the last step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastStep<'a> {
    pub(crate) pieces: &'a [Piece],
    pub(crate) temperature: f64,
}

/// Products with the curvature before the direction of the largest one is taken as found.
const PRODUCTS: usize = 20;

/// Gradient evaluations that a prediction makes on [`PredictionPlan::observations`] observations.
pub(crate) const EVALUATIONS: usize = 2 * (PRODUCTS + 2);

/// Terms of minibatches that the noise is measured from: at least this many, and more in many dimensions.
const LEAST_TERMS: usize = 400;
const MOST_TERMS: usize = 4000;

/// The seed of all randomness of a prediction, which is no part of the chain's own.
const SEED: u64 = 0x6269_6173;

/// A chain at rest: its algorithm, state and oracle.
pub(crate) struct Subject<'a, D, S, G: GradientEstimator> {
    pub(crate) dynamics: &'a D,
    pub(crate) state: &'a mut S,
    pub(crate) oracle: &'a mut Oracle<G>,
    /// √h of each coordinate.
    root_steps: Vec<f64>,
    temperature: f64,
}

impl<'a, D, G> Subject<'a, D, D::State, G>
where
    G: GradientEstimator,
    D: Dynamics<G>,
{
    pub(crate) fn new(
        dynamics: &'a D,
        state: &'a mut D::State,
        oracle: &'a mut Oracle<G>,
        last: LastStep<'_>,
        step_scale: f64,
    ) -> Self {
        let mut root_steps = vec![0.0; state.position().len()];
        for piece in last.pieces {
            root_steps[piece.range.clone()].fill((piece.h * step_scale).sqrt());
        }
        Self { dynamics, state, oracle, root_steps, temperature: last.temperature }
    }

    /// Multiplies by Fᵀ H^{1/2}, H the diagonal matrix of the step sizes.
    fn whiten(&mut self, v: &mut [f64]) -> Result<()> {
        v.iter_mut().zip(&self.root_steps).for_each(|(v, root)| *v *= root);
        self.dynamics.apply_root(self.state, v, true)
    }

    /// Multiplies by H^{1/2} F.
    fn color(&mut self, v: &mut [f64]) -> Result<()> {
        self.dynamics.apply_root(self.state, v, false)?;
        v.iter_mut().zip(&self.root_steps).for_each(|(v, root)| *v *= root);
        Ok(())
    }

    /// Measures the covariance of the gradient estimate in units of the step, from at least `terms` terms.
    fn noise(&mut self, terms: usize, seed: u64) -> Result<NoiseCovariance> {
        let theta = self.state.position().to_vec();
        let mut noise = self.oracle.noise_covariance(&theta, terms, seed)?;
        noise.transform(|row| self.whiten(row))?;
        Ok(noise)
    }

    /// Returns by how much the noise of the gradient widens the variance in the worst direction, relative to the variance without it: the α
    /// of Welling & Teh for Langevin algorithms, and its counterpart by the law of the algorithm for others.
    pub(crate) fn noise_ratio(&mut self, terms: usize, seed: u64) -> Result<f64> {
        let principal = self.noise(terms, seed)?.principal();
        if principal.direction.is_empty() {
            return Ok(0.0);
        }
        let mut vector = principal.direction;
        self.dynamics.apply_root(self.state, &mut vector, false)?;
        let at = |noise: f64| {
            let direction = Direction { curvature: 0.0, noise, temperature: self.temperature, vector: &vector };
            self.dynamics.variance_ratio(self.state, &direction)
        };
        let ratio = at(principal.value).zip(at(0.0)).map(|(with, without)| with / without - 1.0);
        Ok(ratio.unwrap_or(0.25 * principal.value / self.temperature))
    }

    /// Predicts the variances of the chain.
    pub(crate) fn predict(&mut self, plan: &PredictionPlan) -> Result<Bias> {
        if self.temperature <= 0.0 {
            return Ok(Bias::NotExamined("at temperature zero the chain climbs and does not sample".into()));
        }
        let theta = self.state.position().to_vec();
        let noise = self.noise((8 * theta.len()).clamp(LEAST_TERMS, MOST_TERMS), SEED)?;
        let sample = Sample::draw(self.oracle.evaluator().observations(), plan.observations);
        let stiff = self.stiffest(&theta, &sample)?;
        let curvature = self.curvature_along(&theta, &stiff, &sample.second)?;
        let stiffest = self.judge(&stiff, curvature, noise.along(&stiff))?;
        let noisy = noise.principal();
        let noisiest = if noisy.direction.is_empty() {
            // Without noise no direction is noisier than another.
            stiffest
        } else {
            let curvature = self.curvature_along(&theta, &noisy.direction, &sample.second)?;
            self.judge(&noisy.direction, curvature, noisy.value)?
        };
        let caveat = self.dynamics.unpredicted_bias().map(str::to_owned);
        Ok(match (stiffest, noisiest) {
            (Some(stiffest), Some(noisiest)) => Bias::Predicted(PredictedBias { stiffest, noisiest, caveat }),
            _ => Bias::NotExamined("the law of the algorithm on a normal posterior is not known".into()),
        })
    }

    fn judge(&mut self, u: &[f64], curvature: f64, noise: f64) -> Result<Option<DirectionBias>> {
        let mut vector = u.to_vec();
        self.dynamics.apply_root(self.state, &mut vector, false)?;
        let direction = Direction { curvature, noise, temperature: self.temperature, vector: &vector };
        let ratio = self.dynamics.variance_ratio(self.state, &direction);
        // Numbers that are not finite cannot be written to every file format.
        Ok(ratio.map(|ratio| DirectionBias { curvature, noise, variance_ratio: ratio.is_finite().then_some(ratio) }))
    }

    /// Finds the whitened direction of the largest curvature by power iteration.
    fn stiffest(&mut self, theta: &[f64], sample: &Sample) -> Result<Vec<f64>> {
        let mut rng = StreamRng::seed_from_u64(SEED);
        let mut u: Vec<f64> = theta.iter().map(|_| rng.sample(StandardNormal)).collect();
        normalize(&mut u);
        for _ in 0..PRODUCTS {
            let mut next = self.curvature_product(theta, &u, &sample.first)?;
            if !normalize(&mut next) {
                break;
            }
            u = next;
        }
        Ok(u)
    }

    fn curvature_along(&mut self, theta: &[f64], u: &[f64], rows: &SampledRows) -> Result<f64> {
        Ok(dot(u, &self.curvature_product(theta, u, rows)?))
    }

    /// Returns the whitened curvature times `u`, by a central difference over the length of one step of the chain.
    fn curvature_product(&mut self, theta: &[f64], u: &[f64], rows: &SampledRows) -> Result<Vec<f64>> {
        let mut along = u.to_vec();
        self.color(&mut along)?;
        let (mut product, mut gradient) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
        for side in [-0.5, 0.5] {
            let point: Vec<f64> = theta.iter().zip(&along).map(|(theta, along)| theta + side * along).collect();
            gradient.fill(0.0);
            rows.gradient(&point, self.oracle.evaluator(), &mut gradient)?;
            product.iter_mut().zip(&gradient).for_each(|(product, g)| *product -= 2.0 * side * g);
        }
        self.whiten(&mut product)?;
        Ok(product)
    }
}

/// Scales `v` to norm one; returns whether that is possible.
fn normalize(v: &mut [f64]) -> bool {
    let length = dot(v, v).sqrt();
    let possible = length.is_finite() && length > 0.0;
    if possible {
        scale(v, 1.0 / length);
    }
    possible
}

/// Two disjoint random samples of the observations, one to find a direction and one to measure along it; all observations twice if there are
/// few of them. A single sample would overestimate the largest curvature.
struct Sample {
    first: SampledRows,
    second: SampledRows,
}

/// Observations with the weight that makes their sum an estimate of the sum over all.
struct SampledRows {
    rows: Vec<usize>,
    weight: f64,
}

impl Sample {
    fn draw(observations: usize, size: usize) -> Self {
        if 2 * size >= observations {
            let all = || SampledRows { rows: (0..observations).collect(), weight: 1.0 };
            return Self { first: all(), second: all() };
        }
        let mut rng = StreamRng::seed_from_u64(SEED);
        let mut rows = rand::seq::index::sample(&mut rng, observations, 2 * size).into_vec();
        let weight = observations as f64 / size as f64;
        let second = rows.split_off(size);
        Self { first: SampledRows { rows, weight }, second: SampledRows { rows: second, weight } }
    }
}

impl SampledRows {
    fn gradient(&self, theta: &[f64], evaluator: &mut dyn Evaluator, out: &mut [f64]) -> Result<()> {
        evaluator.posterior(theta, Rows::list(&self.rows).scaled(self.weight), out).map(|_| ())
    }
}
