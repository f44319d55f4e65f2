//! Kernel density estimates with a Gaussian kernel.
//!
//! f(x) = Σᵢ wᵢ K((x − xᵢ)/b) / b, with Silverman's bandwidth b = 0.9 min(sd, IQR/1.34) n^(−1/5) and n = (Σw)²/Σw². The
//! draws are binned on a grid, and the grid is convolved with the kernel. If draws accumulate at their smallest or
//! largest value, that value is treated as a bound: the density ends there, and the kernel is reflected at the bound.
//! Otherwise the density extends three bandwidths beyond the draws.

use sgmcmc_diagnostics::{quantiles, standard_deviation};

/// The number of grid points.
const GRID: usize = 256;

/// A kernel density estimate on a grid.
///
/// # Examples
///
/// ```
/// use sgmcmc::report::plot::KernelDensity;
///
/// let density = KernelDensity::from_draws(&[0.0, 0.5, 1.0, 2.0], &[]).expect("the draws vary");
/// assert!(density.peak() > 0.0);
/// assert!(KernelDensity::from_draws(&[1.0, 1.0], &[]).is_none());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KernelDensity {
    /// The positions and densities, in increasing order of positions.
    pub points: Vec<(f64, f64)>,
}

impl KernelDensity {
    /// Estimates the density of `draws` with `weights`. Empty weights are equal. Returns `None` if there are no two
    /// different finite draws.
    pub fn from_draws(draws: &[f64], weights: &[f64]) -> Option<Self> {
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let (x, w): (Vec<f64>, Vec<f64>) = (draws.iter().enumerate())
            .map(|(i, x)| (*x, weight(i)))
            .filter(|(x, w)| x.is_finite() && w.is_finite() && *w > 0.0)
            .unzip();
        let low = x.iter().copied().fold(f64::INFINITY, f64::min);
        let high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let finest = (high - low) / (GRID - 1) as f64;
        if x.len() < 2 || !finest.is_normal() {
            return None;
        }
        let b = bandwidth(&x, &w).max(finest);
        let bounded = |end: f64| accumulates_at(&x, &w, end, b, high - low);
        let (at_low, at_high) = (bounded(low), bounded(high));
        let low = if at_low { low } else { low - 3.0 * b };
        let high = if at_high { high } else { high + 3.0 * b };
        let step = (high - low) / (GRID - 1) as f64;
        let masses = masses(&x, &w, low, step);
        // Beyond eight standard deviations the kernel is below rounding.
        let reach = ((8.0 * b / step).ceil() as i64).min(GRID as i64);
        let kernel = |k: i64| (-0.5 * (k as f64 * step / b).powi(2)).exp();
        let kernel: Vec<f64> = (-reach..=reach).map(kernel).collect();
        let last = GRID as i64 - 1;
        let mut density = vec![0.0; GRID];
        for (from, mass) in masses.iter().enumerate() {
            for (k, value) in (-reach..=reach).zip(&kernel) {
                let index = from as i64 + k;
                let images = [(true, index), (at_low, -index), (at_high, 2 * last - index)];
                for (_, index) in images.into_iter().filter(|(counts, index)| *counts && (0..=last).contains(index)) {
                    density[index as usize] += mass * value;
                }
            }
        }
        // Normalize the integral to one with the trapezoidal rule on the grid.
        let total = (density.iter().sum::<f64>() - 0.5 * (density[0] + density[GRID - 1])) * step;
        let points = density.iter().enumerate().map(|(i, f)| (low + i as f64 * step, f / total)).collect();
        Some(Self { points })
    }

    /// Returns the largest density.
    pub fn peak(&self) -> f64 {
        self.points.iter().map(|point| point.1).fold(0.0, f64::max)
    }
}

/// Returns whether there is a bound at `end`: at least 2 % of the weight is within b of it, with at least 0.3 of the
/// mean density.
fn accumulates_at(x: &[f64], w: &[f64], end: f64, b: f64, range: f64) -> bool {
    let near: f64 = x.iter().zip(w).filter(|(x, _)| (**x - end).abs() <= b).map(|(_, w)| w).sum();
    let share = near / w.iter().sum::<f64>();
    share >= 0.02 && share / b >= 0.3 / range
}

/// Returns Silverman's bandwidth.
fn bandwidth(x: &[f64], w: &[f64]) -> f64 {
    let sum: f64 = w.iter().sum();
    let n = sum * sum / w.iter().map(|w| w * w).sum::<f64>();
    let sd = standard_deviation(x, w);
    let quartiles = quantiles(x, w, &[0.25, 0.75]);
    let middle = (quartiles[1] - quartiles[0]) / 1.34;
    let width = if middle > 0.0 { sd.min(middle) } else { sd };
    0.9 * width * n.powf(-0.2)
}

/// Returns the weight at each grid point. A draw between two grid points is split by linear interpolation.
fn masses(x: &[f64], w: &[f64], low: f64, step: f64) -> Vec<f64> {
    let mut masses = vec![0.0; GRID];
    for (x, w) in x.iter().zip(w) {
        let position = (x - low) / step;
        let left = (position as usize).min(GRID - 2);
        let share = position - left as f64;
        masses[left] += w * (1.0 - share);
        masses[left + 1] += w * share;
    }
    masses
}
