//! Normal approximations of the likelihood of a shard.

use rand::{RngExt, SeedableRng};
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Error, Evaluator, Result};

/// The matrix of a [`ShardApproximation`].
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::dsgld::ApproximationShape;
///
/// assert_ne!(ApproximationShape::Dense, ApproximationShape::Diagonal);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApproximationShape {
    /// The whole matrix: d² numbers and 2d gradients of the shard.
    Dense,
    /// The diagonal: d numbers and 64 gradients of the shard, with random signs.
    Diagonal,
}

/// An approximation of the log-likelihood of a shard by the quadratic function ηᵀθ − ½ θᵀΛθ.
///
/// # Examples
///
/// A normal likelihood is equal to its approximation:
///
/// ```
/// use sgmcmc::distributed::dsgld::{ApproximationShape, ShardApproximation};
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array(vec![1.0, 2.0, 6.0], [3])?)?;
/// let mut evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let shard = ShardApproximation::from_evaluator(evaluator.as_mut(), &[0.5], ApproximationShape::Dense)?;
/// let mut gradient = [0.0];
/// shard.add_gradient(&[2.0], 1.0, &mut gradient);
/// assert!((gradient[0] - 3.0).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ShardApproximation {
    shape: ApproximationShape,
    dim: usize,
    /// η, followed by Λ or its diagonal.
    numbers: Vec<f64>,
}

/// The number of pairs of gradients for a diagonal.
const PROBES: usize = 32;
/// The relative step of a difference of gradients.
const DIFFERENCE: f64 = 1e-4;
/// The seed of the random signs.
const SEED: u64 = 0x5eed;

impl ShardApproximation {
    /// Approximates the log-likelihood of a shard around `center`, by its gradient and its curvature there.
    ///
    /// All shards need the same center, for instance the mode that a [data-parallel](crate::data_parallel) search finds.
    ///
    /// # Errors
    ///
    /// Returns the error of the model.
    pub fn from_evaluator(evaluator: &mut dyn Evaluator, center: &[f64], shape: ApproximationShape) -> Result<Self> {
        let dim = center.len();
        let mut numbers = vec![0.0; dim + Self::entries(shape, dim)];
        let (linear, matrix) = numbers.split_at_mut(dim);
        gradient(evaluator, center, linear)?;
        let far: Vec<f64> = center.iter().map(|x| DIFFERENCE * x.abs().max(1.0)).collect();
        let (mut above, mut below) = (vec![0.0; dim], vec![0.0; dim]);
        let mut difference = |steps: &[f64]| -> Result<Vec<f64>> {
            let point = |sign: f64| center.iter().zip(steps).map(|(x, step)| x + sign * step).collect::<Vec<_>>();
            gradient(evaluator, &point(1.0), &mut above)?;
            gradient(evaluator, &point(-1.0), &mut below)?;
            Ok(below.iter().zip(&above).map(|(below, above)| 0.5 * (below - above)).collect())
        };
        match shape {
            ApproximationShape::Dense => {
                for column in 0..dim {
                    let mut steps = vec![0.0; dim];
                    steps[column] = far[column];
                    for (row, value) in difference(&steps)?.into_iter().enumerate() {
                        // Both entries of a pair receive half, so that the matrix is symmetric.
                        matrix[row * dim + column] += 0.5 * value / far[column];
                        matrix[column * dim + row] += 0.5 * value / far[column];
                    }
                }
            }
            ApproximationShape::Diagonal => {
                let mut rng = StreamRng::seed_from_u64(SEED);
                for _ in 0..PROBES {
                    let signed = |far: &f64| if rng.random::<bool>() { *far } else { -far };
                    let steps: Vec<f64> = far.iter().map(signed).collect();
                    let changes = difference(&steps)?;
                    for ((entry, change), step) in matrix.iter_mut().zip(changes).zip(&steps) {
                        *entry += change / step / PROBES as f64;
                    }
                }
            }
        }
        let mut this = Self { shape, dim, numbers };
        // ∇ log-likelihood ≈ g − Λ(θ − center), so that η = g + Λ center.
        let mut shift = vec![0.0; dim];
        this.subtract_product(center, -1.0, &mut shift);
        this.numbers[..dim].iter_mut().zip(&shift).for_each(|(linear, shift)| *linear += shift);
        Ok(this)
    }

    /// Creates the approximation by a normal density with the mean and the precision matrix of the draws of a shard, without
    /// its prior.
    ///
    /// # Errors
    ///
    /// Returns an error if `precision` does not have d² numbers, or d for a diagonal.
    pub fn from_moments(mean: &[f64], precision: &[f64], shape: ApproximationShape) -> Result<Self> {
        let (dim, expected) = (mean.len(), Self::entries(shape, mean.len()));
        if precision.len() != expected {
            let what = "the precision matrix of a shard";
            return Err(Error::Length { what, expected, found: precision.len() });
        }
        let mut numbers = vec![0.0; dim];
        numbers.extend_from_slice(precision);
        let mut this = Self { shape, dim, numbers };
        let mut linear = vec![0.0; dim];
        this.subtract_product(mean, -1.0, &mut linear);
        this.numbers[..dim].copy_from_slice(&linear);
        Ok(this)
    }

    fn entries(shape: ApproximationShape, dim: usize) -> usize {
        match shape {
            ApproximationShape::Dense => dim * dim,
            ApproximationShape::Diagonal => dim,
        }
    }

    /// Returns the number of coordinates.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Returns η and Λ, to add those of several shards.
    pub(super) fn numbers_mut(&mut self) -> &mut [f64] {
        &mut self.numbers
    }

    /// Adds `scale` times the gradient η − Λθ to `gradient`, and returns `scale` times the value.
    pub fn add_gradient(&self, theta: &[f64], scale: f64, gradient: &mut [f64]) -> f64 {
        let linear = &self.numbers[..self.dim];
        let mut value = 0.0;
        for ((g, linear), theta) in gradient.iter_mut().zip(linear).zip(theta) {
            *g += scale * linear;
            value += scale * linear * theta;
        }
        value + 0.5 * self.subtract_product(theta, scale, gradient)
    }

    /// Subtracts `scale` Λθ from `out`. Returns −`scale` θᵀΛθ.
    fn subtract_product(&self, theta: &[f64], scale: f64, out: &mut [f64]) -> f64 {
        let matrix = &self.numbers[self.dim..];
        let mut product = 0.0;
        for (row, (out, x)) in out.iter_mut().zip(theta).enumerate() {
            let along: f64 = match self.shape {
                ApproximationShape::Dense => {
                    matrix[row * self.dim..(row + 1) * self.dim].iter().zip(theta).map(|(m, x)| m * x).sum()
                }
                ApproximationShape::Diagonal => matrix[row] * x,
            };
            *out -= scale * along;
            product -= scale * along * x;
        }
        product
    }
}

/// Writes the gradient of the log-likelihood of the shard into `out`.
fn gradient(evaluator: &mut dyn Evaluator, theta: &[f64], out: &mut [f64]) -> Result<()> {
    out.fill(0.0);
    evaluator.likelihood(theta, evaluator.all_rows(), out).map(|_| ())
}
