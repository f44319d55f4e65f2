//! The finite-set Stein discrepancy: the Stein witness looked at in a few places, in time linear in the draws.
//!
//! With J locations v_j and features ξ(x, v) = s(x) k(x, v) + ∇_x k(x, v), τ(x) is all ξ(x, v_j) joined, over √(dJ), and the squared discrepancy is |E τ(x)|²
//! (Jitkrittum, Xu, Szabó, Fukumizu & Gretton, "A linear-time kernel goodness-of-fit test", NeurIPS 2017, eqs. (1)-(2)). Its estimates are |Σwτ|²/(Σw)² and, unbiased,
//! (|Σwτ|² − Σw²|τ|²)/((Σw)² − Σw²).

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Discrepancy, Imq, Points};
use crate::error::{self, Error};
use crate::linear;

/// The kernel of a finite-set discrepancy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kernel {
    /// (c² + |x − v|²)^β.
    Imq(Imq),
    /// exp(−|x − v|²/(2 width²)).
    Gauss {
        /// The width.
        width: f64,
    },
}

impl Kernel {
    /// k, and the factor f of ∇_x k = f (x − v), at the squared distance `square`.
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

/// The squared finite-set Stein discrepancy at `locations` (row by row, as wide as the draws).
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

/// `count` locations drawn from the normal law with the draws' mean and covariance, as the paper starts from.
pub fn locations(points: &Points, count: usize, seed: u64) -> Result<Vec<f64>, Error> {
    let d = points.dimension;
    let (mean, covariance) = linear::moments(&points.draws, d, points.weights.as_deref());
    let factor = linear::cholesky(&covariance, d)?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut drawn = Vec::with_capacity(count * d);
    for _ in 0..count {
        let normal: Vec<f64> = (0..d).map(|_| rng.sample(StandardNormal)).collect();
        let along = |row: usize| (0..=row).map(|column| factor[row * d + column] * normal[column]).sum::<f64>();
        drawn.extend((0..d).map(|row| mean[row] + along(row)));
    }
    Ok(drawn)
}
