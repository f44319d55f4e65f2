//! The Newton step H p = g at a point and its predicted gain gᵀH⁻¹g/2 in log posterior, with H = −∇² log p(θ|x).
//!
//! H p = g is solved by preconditioned conjugate gradients on products H v, each a difference of two full gradients.
//! The gain is a sum over the iterations with positive terms, so that the last terms estimate the remainder (Hestenes &
//! Stiefel 1952; Strakoš & Tichý 2002). For up to [`DENSE`] parameters, H is formed and its Cholesky factor is the
//! preconditioner. Two iterations are then enough, and the factorization shows whether H is positive definite. For more
//! parameters, an approximation of H⁻¹ is the preconditioner (Morales & Nocedal 2000).

use sgmcmc_numerics::{Cholesky, InitialScale, Lbfgs, vector::add_scaled, vector::dot};

use super::NEGLIGIBLE_GAIN;
use super::line::Point;
use crate::curvature::Differences;
use crate::data::Precision;
use crate::error::Result;
use crate::evaluator::Evaluator;

/// The largest number of parameters for which H is formed, which takes 2d full gradients.
pub(super) const DENSE: usize = 100;
/// The maximum number of iterations of conjugate gradients, with two full gradients each.
const ITERATIONS: usize = 100;
/// The remainder of the gain is negligible if the last iterations contribute at most this share.
const LAST_TERMS: f64 = 0.1;
/// The maximum share of the remaining squared residual if the preconditioner is not accurate. An unresolved direction
/// then adds at most 0.005 to a gain of 10⁻⁹, unless its curvature is 10¹¹ times smaller than that of the
/// preconditioner.
const RESIDUAL: f64 = 1e-4;
/// The largest shift of the scaled Hessian that errors of the differences can explain. A Hessian that needs a
/// larger one is not positive definite.
const INDEFINITE: f64 = 1e-2;

/// The smallest eigenvalue of the Hessian, scaled to a unit diagonal, for which gradients in single precision resolve
/// all directions.
const SINGLE_EIGENVALUE: f64 = 1e-3;

/// A Newton step.
#[derive(Debug)]
pub(super) struct Newton {
    /// The predicted gain gᵀH⁻¹g/2. `None` if H is not positive definite or the solution is not accurate enough.
    pub(super) gain: Option<f64>,
    /// True if the precision of the gradients excludes a larger gain.
    pub(super) verified: bool,
    /// A direction of ascent. It is H⁻¹g if the gain is known.
    pub(super) direction: Vec<f64>,
    /// The number of passes over all observations.
    pub(super) passes: u64,
}

impl Newton {
    /// Computes the step at `point`. `pairs` approximates H⁻¹ if H is too large to form. Gains far below `tolerance`
    /// may be inaccurate.
    pub(super) fn new(evaluator: &mut dyn Evaluator, point: &Point, pairs: &mut Lbfgs, tolerance: f64) -> Self {
        let (double, d) = (evaluator.precision() == Precision::Double, point.theta.len());
        let mut differences = Differences::new(evaluator, &point.theta);
        let mut verified = double;
        let mut solution = if d <= DENSE {
            // If the model fails near the point, the step is unknown.
            let factor = differences.hessian().ok().and_then(|hessian| ScaledHessian::new(&hessian, d));
            factor.map(|factor| {
                verified |= factor.exceeds(SINGLE_EIGENVALUE);
                // In double precision the factor is accurate, so that the terms of two iterations estimate the
                // remainder.
                let stop = Criterion { delay: 1, residual: if double { f64::INFINITY } else { RESIDUAL }, tolerance };
                let solution = solve(&mut differences, &point.gradient, stop, |v| factor.solve(v));
                Solution { known: solution.known && factor.shift <= INDEFINITE, ..solution }
            })
        } else {
            let stop = Criterion { delay: 4, residual: RESIDUAL, tolerance };
            Some(solve(&mut differences, &point.gradient, stop, |v| pairs.inverse_product(v)))
        };
        solution = solution.filter(|solution| solution.direction.iter().all(|p| p.is_finite()));
        let Solution { direction, total, known } =
            solution.unwrap_or_else(|| Solution::unknown(&point.gradient, pairs));
        Self { gain: known.then_some(0.5 * total), verified, direction, passes: differences.passes() }
    }
}

/// Computes the Newton step at `theta`.
pub(super) fn step_at(evaluator: &mut dyn Evaluator, theta: &[f64]) -> Result<Newton> {
    let point = Point::new(evaluator, theta)?;
    let mut pairs = Lbfgs::new(theta.len(), 1, InitialScale::Fixed(1.0));
    let newton = Newton::new(evaluator, &point, &mut pairs, NEGLIGIBLE_GAIN);
    Ok(Newton { passes: newton.passes + 1, ..newton })
}

/// The matrix D⁻¹ H D⁻¹ + shift I with D² = |diag H|, and its Cholesky factor.
struct ScaledHessian {
    matrix: Vec<f64>,
    factor: Cholesky,
    scales: Vec<f64>,
    shift: f64,
}

impl ScaledHessian {
    /// Factors `hessian` with the smallest shift of 0, 10⁻¹², 10⁻¹¹, … that makes it positive definite. Returns `None`
    /// if an entry is not finite.
    fn new(hessian: &[f64], d: usize) -> Option<Self> {
        if !hessian.iter().all(|h| h.is_finite()) {
            return None;
        }
        let scale = |h: &f64| if *h == 0.0 { 1.0 } else { h.abs().sqrt() };
        let scales: Vec<f64> = hessian.iter().step_by(d + 1).map(scale).collect();
        let mut matrix: Vec<f64> =
            hessian.iter().enumerate().map(|(k, h)| h / (scales[k / d] * scales[k % d])).collect();
        // By Gershgorin's theorem this is an upper bound of the magnitude of all eigenvalues.
        let largest = matrix.chunks_exact(d).map(|row| row.iter().map(|h| h.abs()).sum()).fold(1.0, f64::max);
        let (mut shift, mut next) = (0.0, 1e-12);
        loop {
            match Cholesky::new(&matrix, d) {
                Ok(factor) => return Some(Self { matrix, factor, scales, shift }),
                Err(_) if shift > 10.0 * largest => return None,
                Err(_) => {
                    matrix.iter_mut().step_by(d + 1).for_each(|h| *h += next - shift);
                    (shift, next) = (next, 10.0 * next);
                }
            }
        }
    }

    /// Returns `true` if all eigenvalues of D⁻¹ H D⁻¹ are above `bound`.
    fn exceeds(&self, bound: f64) -> bool {
        let mut matrix = self.matrix.clone();
        matrix.iter_mut().step_by(self.scales.len() + 1).for_each(|h| *h -= bound + self.shift);
        Cholesky::new(&matrix, self.scales.len()).is_ok()
    }

    /// Computes v ← (H + shift D²)⁻¹ v.
    fn solve(&self, v: &mut [f64]) {
        v.iter_mut().zip(&self.scales).for_each(|(v, scale)| *v /= scale);
        self.factor.solve(v);
        v.iter_mut().zip(&self.scales).for_each(|(v, scale)| *v /= scale);
    }
}

/// An approximate solution of H p = g.
struct Solution {
    direction: Vec<f64>,
    /// The product gᵀp.
    total: f64,
    /// True if `total` is gᵀH⁻¹g to about 10 %.
    known: bool,
}

impl Solution {
    /// Returns the direction of the preconditioner, with an unknown gain.
    fn unknown(gradient: &[f64], pairs: &mut Lbfgs) -> Self {
        let mut direction = gradient.to_vec();
        pairs.inverse_product(&mut direction);
        Self { direction, total: 0.0, known: false }
    }
}

/// The convergence criterion of conjugate gradients.
#[derive(Clone, Copy)]
struct Criterion {
    /// The number of last iterations that may add at most the share [`LAST_TERMS`] of the gain.
    delay: usize,
    /// The maximum share of the remaining squared residual, in the norm of the preconditioner.
    residual: f64,
    /// The gain of which these shares are negligible as well.
    tolerance: f64,
}

/// Solves H p = g by conjugate gradients, with `precondition` for v ← M⁻¹v.
fn solve(
    differences: &mut Differences<'_>,
    gradient: &[f64],
    stop: Criterion,
    mut precondition: impl FnMut(&mut [f64]),
) -> Solution {
    let d = gradient.len();
    let mut solution = Solution { direction: vec![0.0; d], total: 0.0, known: false };
    let (mut residual, mut product, mut terms) = (gradient.to_vec(), vec![0.0; d], Vec::new());
    let mut preconditioned = residual.clone();
    precondition(&mut preconditioned);
    let mut along = preconditioned.clone();
    let mut rho = dot(&residual, &preconditioned);
    let first = rho;
    for _ in 0..ITERATIONS {
        if rho == 0.0 {
            solution.known = true;
            break;
        }
        let curvature = match differences.product(&along, &mut product) {
            Ok(()) => dot(&along, &product),
            Err(_) => f64::NAN,
        };
        if curvature.is_nan() || curvature <= 0.0 {
            // H is not positive definite, or the residual is below the accuracy of the products.
            solution.known = curvature <= 0.0 && rho <= RESIDUAL * solution.total;
            if terms.is_empty() {
                solution.direction = along;
            }
            break;
        }
        let step = rho / curvature;
        add_scaled(&mut solution.direction, step, &along);
        add_scaled(&mut residual, -step, &product);
        solution.total += step * rho;
        terms.push(step * rho);
        preconditioned.copy_from_slice(&residual);
        precondition(&mut preconditioned);
        let next = dot(&residual, &preconditioned);
        let last: f64 = terms.iter().rev().take(stop.delay).sum();
        let converged = terms.len() > stop.delay && last <= LAST_TERMS * solution.total.max(2.0 * stop.tolerance);
        if converged && next <= stop.residual * first.max(2.0 * stop.tolerance) {
            solution.known = true;
            break;
        }
        along.iter_mut().zip(&preconditioned).for_each(|(along, z)| *along = z + next / rho * *along);
        rho = next;
    }
    solution
}
