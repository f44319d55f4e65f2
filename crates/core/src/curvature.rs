//! Curvature of the log posterior at a point, by central differences of gradients over all observations.
//!
//! H = −∇² log p(θ|x), in coordinates. A product H v costs two full gradients, H and its diagonal 2d.
//!
//! With gradients accurate to ε, coordinate j is moved by ε^{1/3} max(1, |θⱼ|) at most, and products are accurate to about ε^{2/3} of the largest
//! entry: ten digits in double precision, four in single. Of a quadratic log posterior they are as accurate as the gradients allow. Where
//! coordinates have another scale, the measured curvature shows it: a difference over too few posterior standard deviations along v (10⁻⁶ in double
//! precision, 10⁻² in single), over more than √N/10 of them (at least one), or with ends where the gradient is not finite, is taken again over
//! another length.

use std::ops::Range;

use sgmcmc_linalg::vector::dot;

use crate::data::Precision;
use crate::engine::Evaluator;
use crate::error::{Error, Result};

/// Computes H v into `out`.
///
/// # Errors
///
/// Returns an error if a length is not that of θ, and the model's errors.
pub fn hessian_vector(evaluator: &mut dyn Evaluator, theta: &[f64], v: &[f64], out: &mut [f64]) -> Result<()> {
    Differences::new(evaluator, theta).product(v, out)
}

/// Computes H, row by row, made symmetric.
///
/// # Errors
///
/// Returns the model's errors.
pub fn hessian(evaluator: &mut dyn Evaluator, theta: &[f64]) -> Result<Vec<f64>> {
    Differences::new(evaluator, theta).hessian()
}

/// Computes the diagonal of H.
///
/// # Errors
///
/// Returns the model's errors.
pub fn hessian_diagonal(evaluator: &mut dyn Evaluator, theta: &[f64]) -> Result<Vec<f64>> {
    let mut differences = Differences::new(evaluator, theta);
    let mut column = vec![0.0; theta.len()];
    (0..theta.len()).map(|j| differences.column(j, &mut column).map(|()| column[j])).collect()
}

/// How often a difference is taken again over another length.
const RETRIES: usize = 4;

/// Differences of full gradients around one point; counts the passes over the data.
#[derive(Debug)]
pub struct Differences<'a> {
    evaluator: &'a mut dyn Evaluator,
    theta: &'a [f64],
    /// ε^{1/3}.
    relative: f64,
    /// The lengths between which a difference may be, in posterior standard deviations.
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

    /// The number of passes over all observations so far.
    pub fn passes(&self) -> u64 {
        self.passes
    }

    /// Computes H, row by row, made symmetric.
    ///
    /// # Errors
    ///
    /// Returns the model's errors.
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

    /// Computes H v into `out`.
    ///
    /// # Errors
    ///
    /// Returns an error if a length is not that of θ, and the model's errors.
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

    /// Computes H eⱼ into `out`.
    fn column(&mut self, j: usize, out: &mut [f64]) -> Result<()> {
        let mut unit = vec![0.0; self.theta.len()];
        unit[j] = 1.0;
        self.product(&unit, out)
    }

    /// Computes (g(θ − length v) − g(θ + length v)) / (2 length) into `out`.
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
