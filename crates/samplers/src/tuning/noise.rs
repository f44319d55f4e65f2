//! The gradient noise of control variates in whitened coordinates, and the probabilities that reduce it.

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{ControlVariate, Evaluator, GradientEstimator, NoiseCovariance, Result, Rows, Weighted};
use sgmcmc_numerics::SymmetricEigen;
use sgmcmc_numerics::vector::dot;

use super::approximation::NormalApproximation;
use super::matrix::mirror_lower;
use crate::metropolis::MassRoot;

/// The number of pairs of opposite points at which the influence of every observation is evaluated.
const INFLUENCE_PAIRS: usize = 3;
/// The distance of these points, in standard deviations. It exceeds one so that the tails of the posterior count.
const SPREAD: f64 = 1.5;
/// The largest number of random projections that estimate the norm of a whitened gradient.
const PROJECTIONS: usize = 8;
/// The share of uniform sampling in the probabilities. It bounds the weight of every observation.
const UNIFORM: f64 = 0.2;
/// The number of entries of one block of gradients.
const BLOCK_ENTRIES: usize = 1 << 18;

/// The number of points at which the noise is measured.
const NOISE_POINTS: usize = 16;
/// The number of observations of the minibatches that measure it.
const MEASURED_SIZE: usize = 64;

/// The gradient noise of a control variate with weighted minibatches.
#[derive(Clone, Debug)]
pub(super) struct Noise {
    /// The sampling weights of the observations.
    pub(super) weights: Vec<f64>,
    /// The largest eigenvalue of the whitened covariance of an estimate from one observation, κ. An estimate from n
    /// observations has κ/n.
    pub(super) kappa: f64,
    /// The same for uniform sampling, if the noise has the same shape in all directions.
    pub(super) kappa_uniform: f64,
    /// The kurtosis of the terms of single observations in the noisiest direction.
    pub(super) kurtosis: f64,
    /// The number of gradients of single observations.
    pub(super) cost: u64,
}

impl Noise {
    /// Measures the noise around the center of `approximation`.
    ///
    /// # Errors
    ///
    /// Returns the error of the model, for instance if the likelihood returns only its sum over observations.
    pub(super) fn measure(
        evaluator: &mut dyn Evaluator,
        approximation: &NormalApproximation,
        seed: u64,
    ) -> Result<Self> {
        let mut rng = StreamRng::seed_from_u64(seed ^ 0x006e_6f69_7365);
        let observations = evaluator.observations();
        let Influences { weights, reduction } = influences(evaluator, approximation, &mut rng)?;
        let size = MEASURED_SIZE.min(observations);
        let weighted =
            ControlVariate::new(Weighted::new(size, weights.clone())?).with_center(approximation.center.clone());
        let points: Vec<Vec<f64>> = (0..NOISE_POINTS).map(|_| draw(approximation, 1.0, &mut rng)).collect();
        let NoisiestDirection { kappa, direction, cost } = measure(&weighted, evaluator, approximation, &points, seed)?;
        let kurtosis = kurtosis(&weighted, evaluator, approximation, &points, &direction, seed)?;
        let passes = (2 * INFLUENCE_PAIRS as u64 + 3) * observations as u64;
        Ok(Self { weights, kappa, kappa_uniform: kappa * reduction, kurtosis, cost: passes + cost })
    }
}

/// Draws a point c + S u with u ~ N(0, `spread`² I).
pub(super) fn draw(approximation: &NormalApproximation, spread: f64, rng: &mut StreamRng) -> Vec<f64> {
    let u: Vec<f64> = approximation.center.iter().map(|_| spread * rng.sample::<f64, _>(StandardNormal)).collect();
    approximation.point(&u)
}

/// Returns sampling weights in proportion to the influence of each observation: the norm of its whitened term
/// ∇ᵢ(θ) − ∇ᵢ(c) at points θ of the approximation, averaged in quadrature, plus a uniform share.
///
/// Minibatches with these probabilities have nearly the smallest noise. Rare features make the difference: with uniform
/// sampling, an observation that alone determines a coefficient is drawn once in N/n steps with the weight N/n.
fn influences(
    evaluator: &mut dyn Evaluator,
    approximation: &NormalApproximation,
    rng: &mut StreamRng,
) -> Result<Influences> {
    let (observations, d) = (evaluator.observations(), approximation.center.len());
    let projections = projections(approximation, rng);
    // The influence of an observation may be large on one side of the center only.
    let points: Vec<Vec<f64>> = (0..INFLUENCE_PAIRS)
        .flat_map(|_| {
            let point = draw(approximation, SPREAD, rng);
            let opposite = point.iter().zip(&approximation.center).map(|(x, center)| 2.0 * center - x).collect();
            [point, opposite]
        })
        .collect();
    let mut squares = vec![0.0; observations];
    let block = (BLOCK_ENTRIES / d.max(1)).max(1);
    let (mut at_center, mut at_point) = (vec![0.0; block * d], vec![0.0; block * d]);
    for first in (0..observations).step_by(block) {
        let end = observations.min(first + block);
        let (rows, length) = (Rows::range(first..end), (end - first) * d);
        evaluator.gradient_per_observation(&approximation.center, rows, &mut at_center[..length])?;
        for point in &points {
            evaluator.gradient_per_observation(point, rows, &mut at_point[..length])?;
            let terms = at_point[..length].chunks_exact_mut(d).zip(at_center[..length].chunks_exact(d));
            for ((term, center), square) in terms.zip(&mut squares[first..end]) {
                term.iter_mut().zip(center).for_each(|(term, center)| *term -= center);
                *square += projections.iter().map(|projection| dot(projection, term).powi(2)).sum::<f64>();
            }
        }
    }
    let norms: Vec<f64> = squares.iter().map(|square| square.sqrt()).collect();
    let mean = norms.iter().sum::<f64>() / observations as f64;
    if !(mean.is_finite() && mean > 0.0) {
        // The terms do not depend on θ, or the likelihood is not finite somewhere: sample uniformly.
        return Ok(Influences { weights: vec![1.0; observations], reduction: 1.0 });
    }
    let weights: Vec<f64> = norms.iter().map(|norm| (1.0 - UNIFORM) * norm / mean + UNIFORM).collect();
    let weighted: f64 = squares.iter().zip(&weights).map(|(square, weight)| square / weight).sum();
    let reduction = squares.iter().sum::<f64>() / weighted;
    Ok(Influences { weights, reduction })
}

/// The sampling weights of the observations, with mean one.
struct Influences {
    weights: Vec<f64>,
    /// The total variance of an estimate with uniform sampling, divided by that with these weights.
    reduction: f64,
}

/// Returns vectors P with Σ (pᵀb)² ≈ ‖Sᵀb‖²: the columns of S, or random combinations of them.
fn projections(approximation: &NormalApproximation, rng: &mut StreamRng) -> Vec<Vec<f64>> {
    let d = approximation.center.len();
    let mut root = &approximation.covariance;
    let count = d.min(PROJECTIONS);
    let scale = 1.0 / (count as f64).sqrt();
    (0..count)
        .map(|k| {
            let z: Vec<f64> = if d <= PROJECTIONS {
                (0..d).map(|j| f64::from(u8::from(j == k))).collect()
            } else {
                (0..d).map(|_| scale * rng.sample::<f64, _>(StandardNormal)).collect()
            };
            let mut projection = vec![0.0; d];
            root.multiply(&z, &mut projection);
            projection
        })
        .collect()
}

/// The direction of the largest noise.
struct NoisiestDirection {
    /// n times the largest eigenvalue of the mean whitened noise covariance.
    kappa: f64,
    /// The eigenvector.
    direction: Vec<f64>,
    /// The number of gradients of single observations.
    cost: u64,
}

/// Returns the direction of the largest noise of `estimator` at `points`.
fn measure<G: GradientEstimator>(
    estimator: &G,
    evaluator: &mut dyn Evaluator,
    approximation: &NormalApproximation,
    points: &[Vec<f64>],
    seed: u64,
) -> Result<NoisiestDirection> {
    let d = approximation.center.len();
    let state = estimator.init(&approximation.center, evaluator)?;
    // A dense covariance of d dimensions needs several times d terms.
    let dense_terms = if approximation.is_dense() { (10 * d).div_ceil(points.len()) } else { 0 };
    let terms = dense_terms.max(4 * MEASURED_SIZE);
    let share = MEASURED_SIZE.min(evaluator.observations()) as f64 / points.len() as f64;
    let mut covariance = if approximation.is_dense() { vec![0.0; d * d] } else { vec![0.0; d] };
    let mut found = NoisiestDirection { kappa: 0.0, direction: Vec::new(), cost: 2 * (terms * points.len()) as u64 };
    for (index, point) in points.iter().enumerate() {
        let seed = seed.wrapping_add(index as u64);
        let mut noise = NoiseCovariance::measure(estimator, &state, evaluator, point, terms, seed)?;
        noise.transform(|row| {
            approximation.whiten_gradient(row);
            Ok(())
        })?;
        if approximation.is_dense() {
            noise.add_lower(share, &mut covariance);
        } else {
            let pair = noise.leading_eigenpair();
            found.kappa += share * pair.value;
            found.direction = pair.direction;
        }
    }
    if approximation.is_dense() {
        mirror_lower(&mut covariance, d);
        let eigen = SymmetricEigen::new(&covariance, d);
        let largest = eigen.values.iter().zip(&eigen.vectors).max_by(|a, b| a.0.total_cmp(b.0));
        if let Some((value, vector)) = largest {
            (found.kappa, found.direction) = (*value, vector.clone());
        }
    }
    Ok(found)
}

/// Returns the kurtosis of the weighted terms of single observations along the whitened `direction`.
fn kurtosis<G: GradientEstimator>(
    estimator: &G,
    evaluator: &mut dyn Evaluator,
    approximation: &NormalApproximation,
    points: &[Vec<f64>],
    direction: &[f64],
    seed: u64,
) -> Result<f64> {
    if direction.is_empty() {
        return Ok(3.0);
    }
    let mut along = vec![0.0; direction.len()];
    (&approximation.covariance).multiply(direction, &mut along);
    let state = estimator.init(&approximation.center, evaluator)?;
    let (mut second, mut fourth, mut count) = (0.0, 0.0, 0.0);
    for (index, point) in points.iter().enumerate() {
        let seed = seed.wrapping_add(1000 + index as u64);
        let mut noise = NoiseCovariance::measure(estimator, &state, evaluator, point, 8 * MEASURED_SIZE, seed)?;
        noise.transform(|row| {
            let term = dot(row, &along).powi(2);
            second += term;
            fourth += term * term;
            count += 1.0;
            Ok(())
        })?;
    }
    Ok(if second > 0.0 { fourth * count / (second * second) } else { 3.0 })
}
