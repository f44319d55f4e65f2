//! Prediction of the bias of a chain from the curvature and the gradient noise at its position.
//!
//! The law of an algorithm on a normal posterior (see [`law`](crate::law)) needs two numbers per direction: the
//! curvature hA and the gradient noise hV, whitened by the matrix of the algorithm. Both are measured at the position
//! of the chain: the noise from the terms of minibatches, the curvature by differences of gradients on a sample of the
//! observations. The prediction covers the direction of the largest curvature and the direction of the largest noise.

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Evaluator, GradientEstimator, NoiseCovariance, Oracle, Result, Rows};
use sgmcmc_numerics::vector::{dot, scale};

use crate::dynamics::{Dynamics, HasPosition};
use crate::law::Direction;
use crate::step_size::StepBlock;
use sgmcmc_fit::{Bias, DirectionBias, PredictedBias};

/// The number of observations and the step size of a prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionPlan {
    /// The number of observations in a product with the curvature.
    pub observations: usize,
    /// The weighted mean step size of the draws, divided by the step size of the last draw.
    pub step_scale: f64,
}

/// The step sizes and the temperature of the last step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastStep<'a> {
    pub(crate) blocks: &'a [StepBlock],
    pub(crate) temperature: f64,
}

/// The number of power iterations for the direction of the largest curvature.
const PRODUCTS: usize = 20;

/// The number of gradient evaluations of a prediction, each on [`PredictionPlan::observations`] observations.
pub(crate) const EVALUATIONS: usize = 2 * (PRODUCTS + 2);

/// The least number of minibatch terms in an estimate of the noise. Models with many dimensions use more.
const LEAST_TERMS: usize = 400;
/// The largest number of minibatch terms in an estimate of the noise.
const MOST_TERMS: usize = 4000;

/// The seed of the predictions. They do not use the RNG streams of the chain.
const SEED: u64 = 0x6269_6173;

/// Predicts the bias of a chain from its algorithm, state and oracle.
pub(crate) struct BiasPredictor<'a, D, S, G: GradientEstimator> {
    dynamics: &'a D,
    state: &'a mut S,
    oracle: &'a mut Oracle<G>,
    /// √h of each coordinate.
    root_steps: Vec<f64>,
    temperature: f64,
}

impl<'a, D, G> BiasPredictor<'a, D, D::State, G>
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
        for block in last.blocks {
            root_steps[block.range.clone()].fill((block.h * step_scale).sqrt());
        }
        Self { dynamics, state, oracle, root_steps, temperature: last.temperature }
    }

    /// Multiplies `v` by Fᵀ H^{1/2}, where H is the diagonal matrix of the step sizes.
    fn whiten(&mut self, v: &mut [f64]) -> Result<()> {
        v.iter_mut().zip(&self.root_steps).for_each(|(v, root)| *v *= root);
        self.dynamics.apply_root(self.state, v, true)
    }

    /// Multiplies `v` by H^{1/2} F.
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

    /// Returns the relative increase of the variance by gradient noise in the worst direction. This is the α of Welling
    /// & Teh for Langevin algorithms, and its counterpart by the law of the algorithm for others.
    pub(crate) fn noise_ratio(&mut self, terms: usize, seed: u64) -> Result<f64> {
        let principal = self.noise(terms, seed)?.leading_eigenpair();
        if principal.direction.is_empty() {
            return Ok(0.0);
        }
        let mut vector = principal.direction;
        self.dynamics.apply_root(self.state, &mut vector, false)?;
        let ratio_at = |noise: f64| {
            let direction = Direction { curvature: 0.0, noise, temperature: self.temperature, vector: &vector };
            self.dynamics.variance_ratio(self.state, &direction)
        };
        let ratio = ratio_at(principal.value).zip(ratio_at(0.0)).map(|(with, without)| with / without - 1.0);
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
        let stiffest = self.predict_along(&stiff, curvature, noise.along(&stiff))?;
        let noisy = noise.leading_eigenpair();
        let noisiest = if noisy.direction.is_empty() {
            // Without gradient noise all directions have the same noise.
            stiffest
        } else {
            let curvature = self.curvature_along(&theta, &noisy.direction, &sample.second)?;
            self.predict_along(&noisy.direction, curvature, noisy.value)?
        };
        let caveat = self.dynamics.unpredicted_bias().map(str::to_owned);
        Ok(match (stiffest, noisiest) {
            (Some(stiffest), Some(noisiest)) => Bias::Predicted(PredictedBias { stiffest, noisiest, caveat }),
            _ => Bias::NotExamined("the law of the algorithm on a normal posterior is not known".into()),
        })
    }

    /// Predicts the variance in the whitened direction `u`.
    fn predict_along(&mut self, u: &[f64], curvature: f64, noise: f64) -> Result<Option<DirectionBias>> {
        let mut vector = u.to_vec();
        self.dynamics.apply_root(self.state, &mut vector, false)?;
        let direction = Direction { curvature, noise, temperature: self.temperature, vector: &vector };
        let ratio = self.dynamics.variance_ratio(self.state, &direction);
        // Some file formats cannot represent infinity.
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

    /// Returns the whitened curvature in the direction `u`.
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

/// Scales `v` to norm one. Returns false if its norm is zero or not finite.
fn normalize(v: &mut [f64]) -> bool {
    let length = dot(v, v).sqrt();
    let possible = length.is_finite() && length > 0.0;
    if possible {
        scale(v, 1.0 / length);
    }
    possible
}

/// Two disjoint random samples of the observations: one to find a direction, one to measure along it. Small data sets
/// are used whole for both. A single sample would overestimate the largest curvature.
struct Sample {
    first: SampledRows,
    second: SampledRows,
}

/// Sampled observations, weighted so that their sum estimates the sum over all observations.
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
