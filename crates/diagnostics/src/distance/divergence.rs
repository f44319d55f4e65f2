//! The Kullback-Leibler divergence between two samples, by nearest neighbors.

use rayon::prelude::*;

use crate::error::{self, Error};

/// Estimates the Kullback-Leibler divergence D(P‖Q) from `draws` of P and a `reference` sample of Q.
///
/// Both are row-major tables with rows of `dimension` numbers. With n draws of P and m of Q in d dimensions,
///
/// ```text
/// D(P‖Q) ≈ d/n Σ_i log(ν_k(i)/ρ_k(i)) + log(m/(n − 1))
/// ```
///
/// where ρ_k(i) is the distance of draw i to the k-th nearest other draw of P, and ν_k(i) the distance to the k-th
/// nearest draw of Q (Wang, Kulkarni & Verdú 2009, eq. (5)). A larger k (`neighbors`) has more bias and less
/// variance.
///
/// The estimate may be negative. It is infinite if more than `neighbors` draws coincide, as after rejected proposals:
/// thin the draws first.
///
/// # Errors
///
/// Returns an error if a table is not made of rows of finite numbers, if `neighbors` is 0, or if there are too few
/// draws.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::distance::kl_divergence;
///
/// // All ν are 1/2 and all ρ are 1: −log 2 + log(2/1) = 0.
/// let divergence = kl_divergence(&[0.0, 1.0], &[0.5, 3.0], 1, 1).unwrap();
/// assert!(divergence.abs() < 1e-12);
/// ```
pub fn kl_divergence(draws: &[f64], reference: &[f64], dimension: usize, neighbors: usize) -> Result<f64, Error> {
    let n = error::rows("draws", draws, dimension)?;
    let m = error::rows("the reference", reference, dimension)?;
    if neighbors == 0 {
        return Err(Error::Setting { what: "the number of neighbors", found: 0.0, expected: "at least 1" });
    }
    if n <= neighbors {
        return Err(Error::TooFew { what: "the sample", found: n, least: neighbors + 1 });
    }
    if m < neighbors {
        return Err(Error::TooFew { what: "the reference", found: m, least: neighbors });
    }
    let term = |i: usize| {
        let x = &draws[i * dimension..(i + 1) * dimension];
        let own = nearest(x, draws, neighbors, Some(i));
        // The distances are squared, hence the factor one half.
        0.5 * (nearest(x, reference, neighbors, None) / own).ln()
    };
    let terms: Vec<f64> = (0..n).into_par_iter().map(term).collect();
    Ok(dimension as f64 * terms.iter().sum::<f64>() / n as f64 + (m as f64 / (n as f64 - 1.0)).ln())
}

/// Returns the squared distance of `x` to the `k`-th nearest row of `table`, without the row `except`.
fn nearest(x: &[f64], table: &[f64], k: usize, except: Option<usize>) -> f64 {
    // The k smallest distances so far, in ascending order.
    let mut smallest = vec![f64::INFINITY; k];
    for (row, y) in table.chunks_exact(x.len()).enumerate() {
        let square: f64 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
        if square < smallest[k - 1] && Some(row) != except {
            let index = smallest.partition_point(|other| *other <= square);
            smallest[index..].rotate_right(1);
            smallest[index] = square;
        }
    }
    smallest[k - 1]
}
