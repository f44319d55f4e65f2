//! The kernel Stein discrepancy with the inverse multiquadric kernel.

use rayon::prelude::*;

use super::{Discrepancy, Points};
use crate::error::Error;

/// The number of draws in a block of the inner loop.
const BLOCK: usize = 256;

/// The parameters of the inverse multiquadric kernel k(x, y) = (c² + |x − y|²)^β.
///
/// The default is c = 1 and β = −1/2.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::ksd::Imq;
///
/// assert_eq!(Imq::default(), Imq { c: 1.0, beta: -0.5 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imq {
    /// The length scale c > 0.
    pub c: f64,
    /// The exponent β in (−1, 0).
    pub beta: f64,
}

impl Default for Imq {
    /// Returns c = 1, β = −1/2.
    fn default() -> Self {
        Self { c: 1.0, beta: -0.5 }
    }
}

/// Returns the squared kernel Stein discrepancy with the inverse multiquadric kernel k(x, y) = (c² + |x − y|²)^β.
///
/// With δ = x − y, b = c² + |δ|² and d dimensions, the Stein kernel is
///
/// ```text
/// k₀ = s(x)·s(y) b^β + 2β b^(β−1) (s(y) − s(x))·δ − 2βd b^(β−1) − 4β(β−1) |δ|² b^(β−2)
/// ```
///
/// For β in (−1, 0) the discrepancy tends to zero only if the draws converge to the target (Gorham & Mackey 2017,
/// theorem 8). The cost is n²/2 evaluations, on all threads of the current `rayon` pool, and O(n d) memory.
///
/// # Errors
///
/// Returns an error if there are fewer than two draws, if c is not positive and finite, or if β is not in (−1, 0).
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::ksd::{Imq, Points, imq};
///
/// // Both draws are at the mode, where the score is 0: k₀ = −2β = 1 for all pairs.
/// let points = Points::new(&[0.0, 0.0], &[0.0, 0.0], 1).unwrap();
/// let found = imq(&points, Imq::default()).unwrap();
/// assert_eq!((found.v, found.u), (1.0, 1.0));
/// ```
pub fn imq(points: &Points, kernel: Imq) -> Result<Discrepancy, Error> {
    let (n, d) = (points.len(), points.dimension);
    if n < 2 {
        return Err(Error::TooFew { what: "the sample", found: n, least: 2 });
    }
    if !(kernel.c.is_finite() && kernel.c > 0.0) {
        return Err(Error::Setting { what: "c", found: kernel.c, expected: "a number above 0" });
    }
    if !(kernel.beta > -1.0 && kernel.beta < 0.0) {
        return Err(Error::Setting { what: "beta", found: kernel.beta, expected: "a number between -1 and 0" });
    }
    let columns = Columns { draws: transpose(&points.draws, n, d), scores: transpose(&points.scores, n, d), n, kernel };
    let weights: Vec<f64> = (0..n).map(|draw| points.weight(draw)).collect();
    let row = |i: usize| {
        let (x, s) = (&points.draws[i * d..(i + 1) * d], &points.scores[i * d..(i + 1) * d]);
        let mut sum = 0.0;
        for start in (i + 1..n).step_by(BLOCK) {
            let end = (start + BLOCK).min(n);
            sum += columns.block(x, s, start, &weights[start..end]);
        }
        let own = s.iter().map(|s| s * s).sum::<f64>() * (kernel.c * kernel.c).powf(kernel.beta)
            - 2.0 * kernel.beta * d as f64 * (kernel.c * kernel.c).powf(kernel.beta - 1.0);
        (2.0 * weights[i] * sum, weights[i] * weights[i] * own)
    };
    let rows: Vec<(f64, f64)> = (0..n).into_par_iter().map(row).collect();
    let (pairs, own) = rows.iter().fold((0.0, 0.0), |(pairs, own), row| (pairs + row.0, own + row.1));
    let total: f64 = weights.iter().sum();
    let squares: f64 = weights.iter().map(|w| w * w).sum();
    Ok(Discrepancy { v: (pairs + own) / (total * total), u: pairs / (total * total - squares) })
}

/// Transposes a row-major table with `n` rows and `d` columns.
fn transpose(table: &[f64], n: usize, d: usize) -> Vec<f64> {
    (0..d).flat_map(|column| (0..n).map(move |row| table[row * d + column])).collect()
}

/// The draws and the scores column by column, so that the inner loop over a block of draws uses SIMD instructions.
struct Columns {
    draws: Vec<f64>,
    scores: Vec<f64>,
    n: usize,
    kernel: Imq,
}

impl Columns {
    /// Returns Σ_j w_j k₀(x, x_j) over the block of draws that begins at `start` and has these `weights`.
    fn block(&self, x: &[f64], s: &[f64], start: usize, weights: &[f64]) -> f64 {
        let (mut square, mut slope, mut product) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        for (column, (x, s)) in x.iter().zip(s).enumerate() {
            let range = column * self.n + start..column * self.n + start + weights.len();
            let others = self.draws[range.clone()].iter().zip(&self.scores[range]);
            let sums = square.iter_mut().zip(&mut slope).zip(&mut product);
            for ((other, score), ((square, slope), product)) in others.zip(sums) {
                let delta = x - other;
                *square += delta * delta;
                *slope += (score - s) * delta;
                *product += score * s;
            }
        }
        let Imq { c, beta } = self.kernel;
        let half = (beta + 0.5).abs() < f64::EPSILON;
        let mut sum = 0.0;
        for (index, weight) in weights.iter().enumerate() {
            let base = c * c + square[index];
            let kernel = if half { base.sqrt().recip() } else { base.powf(beta) };
            let (first, second) = (kernel / base, kernel / (base * base));
            let first_order = 2.0 * beta * first * (slope[index] - x.len() as f64);
            let value = product[index] * kernel + first_order - 4.0 * beta * (beta - 1.0) * square[index] * second;
            sum += weight * value;
        }
        sum
    }
}
