//! The normal approximation of the posterior that tuning whitens by: see [`NormalApproximation`].

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc_gradient::curvature::Differences;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Evaluator, Result};
use sgmcmc_numerics::SymmetricEigen;
use sgmcmc_numerics::vector::dot;

use super::choice::CurvatureRange;
use super::matrix::{self, regularized_inverse, scaled_identity, symmetrize};
use crate::langevin::PreconditionedSgld;
use crate::metropolis::{Covariance, MassRoot};

/// The largest number of coordinates with a dense covariance.
pub(super) const DENSE: usize = 300;
/// The largest number of improvements of a dense covariance.
const IMPROVEMENTS: usize = 6;
/// The whitened curvature below which a direction is flat. Every improvement multiplies the standard deviation along it
/// by up to seven, so that the curvature of a proper posterior does not stay below it.
const FLAT: f64 = 0.05;
/// The number of improvements in a row after which a direction without curvature counts as flat. In a funnel the curvature
/// is small now and then.
const FLAT_IN_A_ROW: usize = 4;
/// The number of pairs of random points that estimate the mean force.
const FORCE_POINTS: usize = 16;
/// The largest shift of the center in one improvement, in standard deviations.
const LARGEST_SHIFT: f64 = 1.0;
/// The range of the eigenvalues of the whitened curvature at which the improvement ends.
const ACCURATE: std::ops::Range<f64> = 0.7..1.4;
/// The largest shift of the center at which the improvement ends, in standard deviations.
const CENTERED: f64 = 0.3;
/// The range to which the eigenvalues of the whitened curvature are clipped in one improvement.
const CLIP: std::ops::RangeInclusive<f64> = 0.02..=50.0;
/// The seed of the random points.
const SEED: u64 = 0x0073_6361_6c65;
/// The number of random products with the Hessian that estimate its diagonal.
const PROBES: usize = 30;

/// A normal approximation N(c, M) of the posterior in coordinates.
///
/// # Rule
///
/// The start is the Laplace approximation: the mode and the inverse Hessian. It is then improved with gradients at a
/// distance of one standard deviation. With M = S Sᵀ and the whitened gradient g̃(u) = Sᵀ g(c + S u), the whitened
/// curvature is B = −½ [g̃(eⱼ) − g̃(−eⱼ)]ⱼ and the mean force is f = E[g̃(u)], u ~ N(0, I), from pairs of opposite random
/// points. The update M ← S B⁻¹ Sᵀ and c ← c + S B⁻¹ f is repeated until B is close to the identity and f to zero. Its
/// fixed point is close to the normal distribution of the smallest Kullback–Leibler divergence from the posterior.
///
/// The secants over a standard deviation see through kinks of the density, such as those of a Laplace prior, at which
/// the Hessian does not exist.
///
/// With more than 300 coordinates M is diagonal and comes from the Hessian at the mode.
#[derive(Clone, Debug)]
pub struct NormalApproximation {
    pub(super) center: Vec<f64>,
    pub(super) covariance: Covariance,
    /// The entries of M in row-major order, or its diagonal.
    entries: Vec<f64>,
    /// The range of the eigenvalues of the whitened curvature.
    pub(super) curvature: CurvatureRange,
    /// True if the improvement converged.
    pub(super) converged: bool,
    /// The number of full gradients.
    pub(super) passes: u64,
    /// The whitened direction of the smallest curvature, if that is nearly zero.
    flat: Option<Vec<f64>>,
}

impl NormalApproximation {
    /// Approximates the posterior around `mode`.
    ///
    /// # Errors
    ///
    /// Returns an error if the curvature at the mode is not finite or zero in some direction, or the error of the
    /// model.
    pub fn new(evaluator: &mut dyn Evaluator, mode: &[f64]) -> Result<Self> {
        if mode.len() > DENSE { Self::diagonal(evaluator, mode) } else { Self::dense(evaluator, mode) }
    }

    /// Returns the center c.
    pub fn center(&self) -> &[f64] {
        &self.center
    }

    /// Returns the covariance M, for algorithms.
    pub fn covariance(&self) -> &Covariance {
        &self.covariance
    }

    /// Returns the variance of each coordinate, the diagonal of M.
    pub fn variances(&self) -> Vec<f64> {
        let d = self.center.len();
        if self.is_dense() { self.entries.iter().step_by(d + 1).copied().collect() } else { self.entries.clone() }
    }

    /// Returns SGLD with the matrix M.
    pub(super) fn preconditioned(&self) -> Result<PreconditionedSgld> {
        if self.is_dense() {
            PreconditionedSgld::dense(&self.entries, self.center.len())
        } else {
            Ok(PreconditionedSgld::diagonal(self.entries.clone()))
        }
    }

    /// Returns the direction along which the posterior is flat at a distance of many standard deviations, in
    /// coordinates, if there is one.
    pub(super) fn flat_direction(&self) -> Option<Vec<f64>> {
        let mut direction = self.flat.clone()?;
        self.covariance.apply_root(&mut direction, false);
        Some(direction)
    }

    /// Returns true if M is dense.
    pub(super) fn is_dense(&self) -> bool {
        self.entries.len() > self.center.len() || self.center.len() == 1
    }

    /// Returns c + S u.
    pub(super) fn point(&self, u: &[f64]) -> Vec<f64> {
        let mut moved = vec![0.0; u.len()];
        (&self.covariance).multiply(u, &mut moved);
        moved.iter_mut().zip(&self.center).for_each(|(x, center)| *x += center);
        moved
    }

    /// Replaces a gradient g by Sᵀ g.
    pub(super) fn whiten_gradient(&self, g: &mut [f64]) {
        self.covariance.apply_root(g, true);
    }

    /// Writes M g into `out`.
    pub(super) fn scale_gradient(&self, g: &[f64], out: &mut [f64]) {
        let mut half = vec![0.0; g.len()];
        (&self.covariance).multiply_transposed(g, &mut half);
        (&self.covariance).multiply(&half, out);
    }

    /// Returns u with c + S u = `theta`.
    pub(super) fn whiten(&self, theta: &[f64]) -> Vec<f64> {
        let mut u: Vec<f64> = theta.iter().zip(&self.center).map(|(theta, center)| theta - center).collect();
        self.covariance.solve_root(&mut u);
        u
    }

    /// Returns the approximation with center c + S `shift` and covariance S `inner` Sᵀ, where `inner` is a matrix in
    /// whitened coordinates or its diagonal.
    ///
    /// # Errors
    ///
    /// Returns an error if the new covariance is not positive definite.
    pub(super) fn transformed(&self, shift: &[f64], inner: &[f64]) -> Result<Self> {
        let (center, d) = (self.point(shift), self.center.len());
        if !self.is_dense() {
            let diagonal = |k: usize| if inner.len() == d { inner[k] } else { inner[k * (d + 1)] };
            let entries: Vec<f64> =
                self.entries.iter().enumerate().map(|(k, variance)| variance * diagonal(k)).collect();
            let covariance = Covariance::diagonal(&entries)?;
            return Ok(Self { center, covariance, entries, ..self.clone() });
        }
        // S inner Sᵀ, column by column of S inner.
        let (mut half, mut entries) = (vec![0.0; d * d], vec![0.0; d * d]);
        let mut root = &self.covariance;
        for (row, out) in inner.chunks_exact(d).zip(half.chunks_exact_mut(d)) {
            // Row k of (S innerᵀ)ᵀ.
            root.multiply(row, out);
        }
        let mut column = vec![0.0; d];
        for j in 0..d {
            let from: Vec<f64> = (0..d).map(|k| half[k * d + j]).collect();
            root.multiply(&from, &mut column);
            (0..d).for_each(|i| entries[i * d + j] = column[i]);
        }
        symmetrize(&mut entries, d);
        let covariance = Covariance::dense(&entries)?;
        Ok(Self { center, covariance, entries, ..self.clone() })
    }

    fn dense(evaluator: &mut dyn Evaluator, mode: &[f64]) -> Result<Self> {
        let d = mode.len();
        let mut differences = Differences::new(evaluator, mode);
        let hessian = differences.hessian()?;
        let passes = differences.passes();
        let entries = regularized_inverse(&hessian, d)?;
        let covariance = Covariance::dense(&entries)?;
        let (center, curvature) = (mode.to_vec(), CurvatureRange { smallest: f64::NAN, largest: f64::NAN });
        let mut best = Self { center, covariance, entries, curvature, converged: false, passes, flat: None };
        // The last approximation with a defined density within one standard deviation.
        let mut defined: Option<Self> = None;
        let mut flat_in_a_row = 0;
        for _ in 0..IMPROVEMENTS {
            let Some(secants) = best.secants(evaluator)? else {
                // The density is not defined at a distance of one standard deviation: return to where it was, with half of
                // the standard deviations.
                let passes = best.passes;
                best = defined.as_ref().unwrap_or(&best).transformed(&vec![0.0; d], &scaled_identity(0.25, d))?;
                best.passes = passes;
                defined = defined.map(|_| best.clone());
                continue;
            };
            defined = Some(best.clone());
            let eigen = SymmetricEigen::new(&secants.curvature, d);
            best.curvature = CurvatureRange { smallest: eigen.smallest(), largest: eigen.largest() };
            let flattest = eigen.values.iter().zip(&eigen.vectors).min_by(|a, b| a.0.total_cmp(b.0));
            let flattest = flattest.filter(|(value, _)| **value < FLAT).map(|(_, vector)| vector.clone());
            flat_in_a_row = if flattest.is_some() { flat_in_a_row + 1 } else { 0 };
            best.flat = flattest.filter(|_| flat_in_a_row >= FLAT_IN_A_ROW);
            let clipped = eigen.map(|value| 1.0 / value.clamp(*CLIP.start(), *CLIP.end()));
            let mut shift: Vec<f64> = clipped.chunks_exact(d).map(|row| dot(row, &secants.force)).collect();
            let largest = shift.iter().fold(0.0, |largest: f64, shift| largest.max(shift.abs()));
            let scale = (LARGEST_SHIFT / largest).min(1.0);
            shift.iter_mut().for_each(|shift| *shift *= scale);
            let centered = shift.iter().all(|shift| shift.abs() <= CENTERED);
            best.converged = centered && eigen.smallest() >= ACCURATE.start && eigen.largest() <= ACCURATE.end;
            if best.converged {
                break;
            }
            best = best.transformed(&shift, &clipped)?;
        }
        let at_center = evaluator.log_density(&best.center, evaluator.all_rows());
        Ok(match defined {
            Some(defined) if !at_center.is_ok_and(f64::is_finite) => defined,
            _ => best,
        })
    }

    /// Returns the identity in whitened coordinates, dense or as a diagonal.
    pub(super) fn unit_covariance(&self) -> Vec<f64> {
        let d = self.center.len();
        if self.is_dense() { scaled_identity(1.0, d) } else { vec![1.0; d] }
    }

    /// Evaluates the whitened curvature and force at a distance of one standard deviation from the center. Returns
    /// `None` if a gradient is not finite.
    fn secants(&mut self, evaluator: &mut dyn Evaluator) -> Result<Option<Secants>> {
        let d = self.center.len();
        let mut gradient = vec![0.0; d];
        let mut at = |approximation: &Self, u: &[f64]| -> Result<Vec<f64>> {
            gradient.fill(0.0);
            let value = evaluator.posterior(&approximation.point(u), evaluator.all_rows(), &mut gradient)?;
            if !value.is_finite() {
                // A gradient may be finite where the density is not.
                gradient.fill(f64::NAN);
            }
            let mut whitened = gradient.clone();
            approximation.whiten_gradient(&mut whitened);
            Ok(whitened)
        };
        let (mut curvature, mut force, mut u) = (vec![0.0; d * d], vec![0.0; d], vec![0.0; d]);
        for j in 0..d {
            u[j] = 1.0;
            let above = at(self, &u)?;
            u[j] = -1.0;
            let below = at(self, &u)?;
            u[j] = 0.0;
            (0..d).for_each(|k| curvature[k * d + j] = 0.5 * (below[k] - above[k]));
        }
        // The same points in every improvement, so that they converge.
        let mut rng = StreamRng::seed_from_u64(SEED);
        for _ in 0..FORCE_POINTS {
            let mut u: Vec<f64> = (0..d).map(|_| rng.sample(StandardNormal)).collect();
            let above = at(self, &u)?;
            u.iter_mut().for_each(|u| *u = -*u);
            let below = at(self, &u)?;
            let pairs = above.iter().zip(&below);
            force.iter_mut().zip(pairs).for_each(|(force, (a, b))| *force += 0.5 * (a + b) / FORCE_POINTS as f64);
        }
        self.passes += 2 * (d + FORCE_POINTS) as u64;
        symmetrize(&mut curvature, d);
        let finite = force.iter().chain(&curvature).all(|value| value.is_finite());
        Ok(finite.then_some(Secants { curvature, force }))
    }

    fn diagonal(evaluator: &mut dyn Evaluator, mode: &[f64]) -> Result<Self> {
        let d = mode.len();
        let mut rng = StreamRng::seed_from_u64(SEED);
        let mut differences = Differences::new(evaluator, mode);
        let (mut sum, mut product) = (vec![0.0; d], vec![0.0; d]);
        for _ in 0..PROBES {
            let z: Vec<f64> = (0..d).map(|_| if rng.random::<bool>() { 1.0 } else { -1.0 }).collect();
            differences.product(&z, &mut product)?;
            sum.iter_mut().zip(z.iter().zip(&product)).for_each(|(sum, (z, product))| *sum += z * product);
        }
        let largest = sum.iter().copied().fold(0.0, f64::max) / PROBES as f64;
        if !(largest.is_finite() && largest > 0.0) {
            return Err(matrix::no_curvature());
        }
        // Estimates that are negative or far too small are noise of the probes.
        let entries: Vec<f64> = sum.iter().map(|sum| 1.0 / (sum / PROBES as f64).max(1e-6 * largest)).collect();
        let covariance = Covariance::diagonal(&entries)?;
        let mut u: Vec<f64> = (0..d).map(|_| if rng.random::<bool>() { 1.0 } else { -1.0 }).collect();
        let mut stiffest = 0.0;
        for _ in 0..20 {
            let length = dot(&u, &u).sqrt();
            if length <= 0.0 || !length.is_finite() {
                break;
            }
            u.iter_mut().for_each(|u| *u /= length);
            let mut v = u.clone();
            covariance.apply_root(&mut v, false);
            differences.product(&v, &mut product)?;
            covariance.apply_root(&mut product, true);
            stiffest = dot(&u, &product);
            u.copy_from_slice(&product);
        }
        let passes = differences.passes();
        // The slowest direction is not known. Pilot chains measure its time.
        let curvature = CurvatureRange { smallest: f64::NAN, largest: stiffest.max(1.0) };
        Ok(Self { center: mode.to_vec(), covariance, entries, curvature, converged: false, passes, flat: None })
    }
}

/// The whitened curvature and force at a distance of one standard deviation.
struct Secants {
    curvature: Vec<f64>,
    force: Vec<f64>,
}
