//! The Hessian of the log posterior at a point, by central differences of gradients over all observations.
//!
//! H = −∇² log p(θ|x) in coordinates. A product H v costs two full gradients. H and its diagonal cost 2d full
//! gradients.
//!
//! With gradients of accuracy ε, coordinate j moves by at most ε^{1/3} max(1, |θⱼ|), and products have an accuracy of
//! about ε^{2/3} relative to the largest entry: ten digits in double precision, and four in single precision. For a
//! quadratic log posterior they are as accurate as the gradients.
//!
//! The first difference shows the scale of the coordinates. It is repeated with another length if it spans too few
//! posterior standard deviations along v (10⁻⁶ in double precision, 10⁻² in single), if it spans more than √N/10 of
//! them (at least one), or if the gradient is not finite at one of its ends.

use std::ops::Range;

use sgmcmc_numerics::vector::dot;

use crate::data::Precision;
use crate::error::{Error, Result};
use crate::evaluator::Evaluator;

/// Writes the product H v at `theta` into `out`.
///
/// # Errors
///
/// Returns an error if the lengths of `theta`, `v` and `out` differ, or the error of the model.
///
/// # Examples
///
/// ```
/// use sgmcmc::curvature::hessian_vector;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -2.0);
/// let mut evaluator = model.with(&Dataset::none()).evaluator(&zeros([2]))?;
/// let mut product = [0.0, 0.0];
/// hessian_vector(evaluator.as_mut(), &[1.0, 2.0], &[1.0, -1.0], &mut product)?;
/// assert!((product[0] - 4.0).abs() < 1e-6 && (product[1] + 4.0).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn hessian_vector(evaluator: &mut dyn Evaluator, theta: &[f64], v: &[f64], out: &mut [f64]) -> Result<()> {
    Differences::new(evaluator, theta).product(v, out)
}

/// Returns the Hessian H at `theta`, a symmetric matrix in row-major order.
///
/// # Errors
///
/// Returns the error of the model.
///
/// # Examples
///
/// ```
/// use sgmcmc::curvature::hessian;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -2.0);
/// let mut evaluator = model.with(&Dataset::none()).evaluator(&zeros([2]))?;
/// let hessian = hessian(evaluator.as_mut(), &[1.0, 2.0])?;
/// assert!((hessian[0] - 4.0).abs() < 1e-6 && hessian[1].abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn hessian(evaluator: &mut dyn Evaluator, theta: &[f64]) -> Result<Vec<f64>> {
    Differences::new(evaluator, theta).hessian()
}

/// Returns the diagonal of the Hessian H at `theta`.
///
/// # Errors
///
/// Returns the error of the model.
///
/// # Examples
///
/// ```
/// use sgmcmc::curvature::hessian_diagonal;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -2.0);
/// let mut evaluator = model.with(&Dataset::none()).evaluator(&zeros([2]))?;
/// let diagonal = hessian_diagonal(evaluator.as_mut(), &[1.0, 2.0])?;
/// assert!(diagonal.iter().all(|entry| (entry - 4.0).abs() < 1e-6));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn hessian_diagonal(evaluator: &mut dyn Evaluator, theta: &[f64]) -> Result<Vec<f64>> {
    let mut differences = Differences::new(evaluator, theta);
    let mut column = vec![0.0; theta.len()];
    (0..theta.len()).map(|j| differences.column(j, &mut column).map(|()| column[j])).collect()
}

/// The maximum number of repetitions of a difference with another length.
const RETRIES: usize = 4;

/// Central differences of full gradients around one point, with a count of the passes over the data.
///
/// # Examples
///
/// ```
/// use sgmcmc::curvature::Differences;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -2.0);
/// let mut evaluator = model.with(&Dataset::none()).evaluator(&zeros([2]))?;
/// let mut differences = Differences::new(evaluator.as_mut(), &[1.0, 2.0]);
/// let hessian = differences.hessian()?;
/// assert!((hessian[3] - 4.0).abs() < 1e-6);
/// assert!(differences.passes() >= 4);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct Differences<'a> {
    evaluator: &'a mut dyn Evaluator,
    theta: &'a [f64],
    /// The relative length ε^{1/3} of a difference.
    relative: f64,
    /// The range of valid lengths of a difference, in posterior standard deviations.
    deviations: Range<f64>,
    point: Vec<f64>,
    gradient: Vec<f64>,
    passes: u64,
}

impl<'a> Differences<'a> {
    /// Creates differences around `theta`.
    pub fn new(evaluator: &'a mut dyn Evaluator, theta: &'a [f64]) -> Self {
        let (accuracy, shortest) = match evaluator.precision() {
            Precision::Single => (f64::from(f32::EPSILON), 1e-2),
            Precision::Double => (f64::EPSILON, 1e-6),
        };
        let longest = (0.1 * (evaluator.observations() as f64).sqrt()).max(1.0);
        let (point, gradient) = (theta.to_vec(), vec![0.0; theta.len()]);
        let (relative, deviations) = (accuracy.cbrt(), shortest..longest);
        Self { evaluator, theta, relative, deviations, point, gradient, passes: 0 }
    }

    /// Returns the number of passes over all observations so far.
    pub fn passes(&self) -> u64 {
        self.passes
    }

    /// Returns the Hessian H, a symmetric matrix in row-major order.
    ///
    /// # Errors
    ///
    /// Returns the error of the model.
    pub fn hessian(&mut self) -> Result<Vec<f64>> {
        let d = self.theta.len();
        let mut rows = vec![0.0; d * d];
        for (j, row) in rows.chunks_exact_mut(d.max(1)).enumerate() {
            self.column(j, row)?;
        }
        for i in 0..d {
            for j in 0..i {
                let mean = 0.5 * (rows[i * d + j] + rows[j * d + i]);
                rows[i * d + j] = mean;
                rows[j * d + i] = mean;
            }
        }
        Ok(rows)
    }

    /// Writes the product H v into `out`.
    ///
    /// # Errors
    ///
    /// Returns an error if the length of `v` or `out` is not the number of coordinates, or the error of the model.
    pub fn product(&mut self, v: &[f64], out: &mut [f64]) -> Result<()> {
        for found in [v.len(), out.len()] {
            if found != self.theta.len() {
                let what = "a vector to multiply by a Hessian";
                return Err(Error::Length { what, expected: self.theta.len(), found });
            }
        }
        let scale = |(theta, v): (&f64, &f64)| theta.abs().max(1.0) / v.abs();
        let mut length = self.relative * self.theta.iter().zip(v).map(scale).fold(f64::INFINITY, f64::min);
        if length.is_infinite() {
            out.fill(0.0);
            return Ok(());
        }
        for _ in 0..RETRIES {
            self.difference(v, length, out)?;
            let curvature = dot(v, out).abs();
            let deviations = length * curvature.sqrt();
            if !deviations.is_finite() {
                length *= 0.01;
            } else if deviations > self.deviations.end {
                length = 0.1 * self.deviations.end / curvature.sqrt();
            } else if curvature > 0.0 && deviations < self.deviations.start {
                length = 10.0 * self.deviations.start / curvature.sqrt();
            } else {
                return Ok(());
            }
        }
        self.difference(v, length, out)
    }

    /// Writes column j of H into `out`.
    fn column(&mut self, j: usize, out: &mut [f64]) -> Result<()> {
        let mut unit = vec![0.0; self.theta.len()];
        unit[j] = 1.0;
        self.product(&unit, out)
    }

    /// Writes (g(θ − length v) − g(θ + length v)) / (2 length) into `out`.
    fn difference(&mut self, v: &[f64], length: f64, out: &mut [f64]) -> Result<()> {
        out.fill(0.0);
        for side in [-length, length] {
            for ((point, theta), v) in self.point.iter_mut().zip(self.theta).zip(v) {
                *point = theta + side * v;
            }
            self.gradient.fill(0.0);
            self.passes += 1;
            self.evaluator.posterior(&self.point, self.evaluator.all_rows(), &mut self.gradient)?;
            out.iter_mut().zip(&self.gradient).for_each(|(out, g)| *out -= g / (2.0 * side));
        }
        Ok(())
    }
}
