//! The finite-set Stein discrepancy.

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;
use sgmcmc_numerics::Cholesky;

use super::{Discrepancy, Imq, Points};
use crate::error::{self, Error};
use crate::linear::moments;

/// The kernel k(x, v) of a finite-set Stein discrepancy.
///
/// # Examples
///
/// See [`fssd`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kernel {
    /// The inverse multiquadric kernel (c² + |x − v|²)^β.
    Imq(Imq),
    /// The Gaussian kernel exp(−|x − v|²/(2 width²)).
    Gauss {
        /// The width of the kernel.
        width: f64,
    },
}

impl Kernel {
    /// Returns k and the factor f of ∇_x k = f (x − v) at the squared distance `square`.
    fn at(self, square: f64) -> (f64, f64) {
        match self {
            Self::Imq(Imq { c, beta }) => {
                let base = c * c + square;
                let kernel = base.powf(beta);
                (kernel, 2.0 * beta * kernel / base)
            }
            Self::Gauss { width } => {
                let kernel = (-0.5 * square / (width * width)).exp();
                (kernel, -kernel / (width * width))
            }
        }
    }
}

/// Returns the squared finite-set Stein discrepancy at `locations`, in time linear in the number of draws.
///
/// `locations` is a row-major table with the columns of the draws. For J locations v_j and the features
///
/// ```text
/// ξ(x, v) = s(x) k(x, v) + ∇_x k(x, v)
/// ```
///
/// let τ(x) be the vector of all ξ(x, v_j), divided by √(dJ). The squared discrepancy is the squared norm of E τ(x)
/// (Jitkrittum, Xu, Szabó, Fukumizu & Gretton, "A linear-time kernel goodness-of-fit test", NeurIPS 2017, eqs. (1)-(2)).
/// It is estimated by |Σwτ|²/(Σw)² and, without bias, by (|Σwτ|² − Σw²|τ|²)/((Σw)² − Σw²).
///
/// # Errors
///
/// Returns an error if there are fewer than two draws or no locations, or if the locations are not rows of finite
/// numbers.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::ksd::{Kernel, Points, fssd};
///
/// // The scores of the standard normal distribution are −x. The features at v = 0 are ∓2 exp(−1/2).
/// let points = Points::new(&[1.0, -1.0], &[-1.0, 1.0], 1).unwrap();
/// let found = fssd(&points, Kernel::Gauss { width: 1.0 }, &[0.0]).unwrap();
/// assert!(found.v.abs() < 1e-15);
/// assert!((found.u + 4.0 * (-1.0_f64).exp()).abs() < 1e-12);
/// ```
pub fn fssd(points: &Points, kernel: Kernel, locations: &[f64]) -> Result<Discrepancy, Error> {
    let (n, d) = (points.len(), points.dimension);
    let count = error::rows("locations", locations, d)?;
    if count == 0 {
        return Err(Error::TooFew { what: "the set of locations", found: 0, least: 1 });
    }
    if n < 2 {
        return Err(Error::TooFew { what: "the sample", found: n, least: 2 });
    }
    let mut sums = vec![0.0; locations.len()];
    let (mut own, mut total, mut squares) = (0.0, 0.0, 0.0);
    for draw in 0..n {
        let (x, s) = (&points.draws[draw * d..(draw + 1) * d], &points.scores[draw * d..(draw + 1) * d]);
        let weight = points.weight(draw);
        total += weight;
        squares += weight * weight;
        for (location, sums) in locations.chunks_exact(d).zip(sums.chunks_exact_mut(d)) {
            let square = x.iter().zip(location).map(|(x, v)| (x - v).powi(2)).sum();
            let (value, factor) = kernel.at(square);
            for (((x, v), s), sum) in x.iter().zip(location).zip(s).zip(sums) {
                let feature = weight * (s * value + factor * (x - v));
                *sum += feature;
                own += feature * feature;
            }
        }
    }
    let scale = (d * count) as f64;
    let all = sums.iter().map(|sum| sum * sum).sum::<f64>();
    Ok(Discrepancy { v: all / scale / (total * total), u: (all - own) / scale / (total * total - squares) })
}

/// Draws `count` locations from the normal distribution with the mean and the covariance of the draws.
///
/// # Errors
///
/// Returns an error if the covariance of the draws is not positive definite.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::ksd::{Points, locations};
///
/// let points = Points::new(&[1.0, -1.0], &[-1.0, 1.0], 1).unwrap();
/// assert_eq!(locations(&points, 3, 1).unwrap().len(), 3);
/// ```
pub fn locations(points: &Points, count: usize, seed: u64) -> Result<Vec<f64>, Error> {
    let d = points.dimension;
    let (mean, covariance) = moments(&points.draws, d, points.weights.as_deref());
    let cholesky = Cholesky::new(&covariance, d)?;
    let factor = cholesky.factor();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut drawn = Vec::with_capacity(count * d);
    for _ in 0..count {
        let normal: Vec<f64> = (0..d).map(|_| rng.sample(StandardNormal)).collect();
        let along = |row: usize| (0..=row).map(|column| factor[row * d + column] * normal[column]).sum::<f64>();
        drawn.extend((0..d).map(|row| mean[row] + along(row)));
    }
    Ok(drawn)
}
