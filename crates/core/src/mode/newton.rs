//! The Newton step at a point, and the gain in log posterior it promises: H p = g and gᵀH⁻¹g/2, H = −∇² log p(θ|x).
//!
//! H p = g is solved by preconditioned conjugate gradients on products H v, each a difference of two full gradients. The gain is
//! a sum over the iterations to which each adds a positive term, so that the last terms estimate the rest (Hestenes & Stiefel 1952; Strakoš & Tichý 2002).
//! Up to [`DENSE`] parameters H is formed and its Cholesky factor is the preconditioner: two iterations are enough, and the factor shows whether
//! H is positive definite. With more parameters an approximation of H⁻¹ is the preconditioner (Morales & Nocedal 2000).

use sgmcmc_linalg::{Cholesky, Initial, Lbfgs, vector::add_scaled, vector::dot};

use super::NEGLIGIBLE_GAIN;
use super::line::Point;
use crate::curvature::Differences;
use crate::data::Precision;
use crate::engine::Evaluator;
use crate::error::Result;

/// The largest number of parameters for which H is formed: 2d full gradients.
pub(super) const DENSE: usize = 100;
/// Most iterations of conjugate gradients: two full gradients each.
const ITERATIONS: usize = 100;
/// The share of the gain that the last iterations may add if the rest is to be negligible.
const SETTLED: f64 = 0.1;
/// The share of the squared residual that may be left where the preconditioner is not accurate: a direction that the iterations have not
/// resolved then adds no more than 0.005 to a gain of 10⁻⁹, unless its curvature is 10¹¹ times smaller than the preconditioner has it.
const SOLVED: f64 = 1e-4;
/// The shift of the scaled Hessian beyond which it is not positive definite, whatever the error of the differences.
const INDEFINITE: f64 = 1e-2;

/// The least eigenvalue of the Hessian, scaled to a diagonal of ones, at which gradients in single precision show the gain in all directions.
const SINGLE_EIGENVALUE: f64 = 1e-3;

/// A Newton step.
#[derive(Debug)]
pub(super) struct Newton {
    /// gᵀH⁻¹g/2; `None` if H is not positive definite or the solution is not accurate enough.
    pub(super) gain: Option<f64>,
    /// Whether the precision of the gradients is enough to exclude a larger gain.
    pub(super) verified: bool,
    /// A direction uphill: H⁻¹g where there is a gain.
    pub(super) direction: Vec<f64>,
    /// Passes over all observations.
    pub(super) passes: u64,
}

impl Newton {
    /// Solves for the step at `point`. `pairs` approximate H⁻¹ where H is too large to form. Gains far below `tolerance` need not be accurate.
    pub(super) fn at(evaluator: &mut dyn Evaluator, point: &Point, pairs: &mut Lbfgs, tolerance: f64) -> Self {
        let (double, d) = (evaluator.precision() == Precision::Double, point.theta.len());
        let mut differences = Differences::new(evaluator, &point.theta);
        let mut verified = double;
        let mut solution = if d <= DENSE {
            // A model that fails near the point leaves the step unknown.
            let factor = differences.hessian().ok().and_then(|hessian| Scaled::new(&hessian, d));
            factor.map(|factor| {
                verified |= factor.exceeds(SINGLE_EIGENVALUE);
                // The factor is accurate in double precision: what the first two iterations add shows the rest.
                let stop = Stop { delay: 1, residual: if double { f64::INFINITY } else { SOLVED }, tolerance };
                let solution = solve(&mut differences, &point.gradient, stop, |v| factor.solve(v));
                Solution { known: solution.known && factor.shift <= INDEFINITE, ..solution }
            })
        } else {
            let stop = Stop { delay: 4, residual: SOLVED, tolerance };
            Some(solve(&mut differences, &point.gradient, stop, |v| pairs.inverse_product(v)))
        };
        solution = solution.filter(|solution| solution.direction.iter().all(|p| p.is_finite()));
        let Solution { direction, total, known } =
            solution.unwrap_or_else(|| Solution::unknown(&point.gradient, pairs));
        Self { gain: known.then_some(0.5 * total), verified, direction, passes: differences.passes() }
    }
}

/// Computes the step at `theta`.
pub(super) fn promised_gain(evaluator: &mut dyn Evaluator, theta: &[f64]) -> Result<Newton> {
    let point = Point::at(evaluator, theta)?;
    let mut pairs = Lbfgs::new(theta.len(), 1, Initial::Fixed(1.0));
    let newton = Newton::at(evaluator, &point, &mut pairs, NEGLIGIBLE_GAIN);
    Ok(Newton { passes: newton.passes + 1, ..newton })
}

/// The matrix D⁻¹ H D⁻¹ + shift I, D² = |diag H|, and its Cholesky factor.
struct Scaled {
    matrix: Vec<f64>,
    factor: Cholesky,
    scales: Vec<f64>,
    shift: f64,
}

impl Scaled {
    /// Factors `hessian` with the least shift of 0, 10⁻¹², 10⁻¹¹, … that makes it positive definite; `None` if an entry is not finite.
    fn new(hessian: &[f64], d: usize) -> Option<Self> {
        if !hessian.iter().all(|h| h.is_finite()) {
            return None;
        }
        let scale = |h: &f64| if *h == 0.0 { 1.0 } else { h.abs().sqrt() };
        let scales: Vec<f64> = hessian.iter().step_by(d + 1).map(scale).collect();
        let mut matrix: Vec<f64> =
            hessian.iter().enumerate().map(|(k, h)| h / (scales[k / d] * scales[k % d])).collect();
        // By Gershgorin's theorem no eigenvalue is larger in magnitude.
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

    /// Whether all eigenvalues of D⁻¹ H D⁻¹ are above `bound`.
    fn exceeds(&self, bound: f64) -> bool {
        let mut matrix = self.matrix.clone();
        matrix.iter_mut().step_by(self.scales.len() + 1).for_each(|h| *h -= bound + self.shift);
        Cholesky::new(&matrix, self.scales.len()).is_ok()
    }

    /// v ← (H + shift D²)⁻¹ v.
    fn solve(&self, v: &mut [f64]) {
        v.iter_mut().zip(&self.scales).for_each(|(v, scale)| *v /= scale);
        self.factor.solve(v);
        v.iter_mut().zip(&self.scales).for_each(|(v, scale)| *v /= scale);
    }
}

/// An approximate solution of H p = g.
struct Solution {
    direction: Vec<f64>,
    /// gᵀp.
    total: f64,
    /// Whether `total` is gᵀH⁻¹g to about 10 %.
    known: bool,
}

impl Solution {
    /// The direction of the preconditioner alone.
    fn unknown(gradient: &[f64], pairs: &mut Lbfgs) -> Self {
        let mut direction = gradient.to_vec();
        pairs.inverse_product(&mut direction);
        Self { direction, total: 0.0, known: false }
    }
}

/// When conjugate gradients have solved.
#[derive(Clone, Copy)]
struct Stop {
    /// The last iterations, which may add no more than the share [`SETTLED`] of the gain.
    delay: usize,
    /// The share of the squared residual that may be left, in the norm of the preconditioner.
    residual: f64,
    /// The gain of which such a share is negligible as well.
    tolerance: f64,
}

/// Conjugate gradients for H p = g with `precondition` for v ← M⁻¹v.
fn solve(
    differences: &mut Differences<'_>,
    gradient: &[f64],
    stop: Stop,
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
            // H is not positive definite, or the rest is below the accuracy of the products.
            solution.known = curvature <= 0.0 && rho <= SOLVED * solution.total;
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
        let settled = terms.len() > stop.delay && last <= SETTLED * solution.total.max(2.0 * stop.tolerance);
        if settled && next <= stop.residual * first.max(2.0 * stop.tolerance) {
            solution.known = true;
            break;
        }
        along.iter_mut().zip(&preconditioned).for_each(|(along, z)| *along = z + next / rho * *along);
        rho = next;
    }
    solution
}
