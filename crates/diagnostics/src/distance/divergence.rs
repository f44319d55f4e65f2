//! The Kullback-Leibler divergence between two samples, by nearest neighbours.
//!
//! D(P‖Q) ≈ d/n Σ_i log(ν_k(i)/ρ_k(i)) + log(m/(n − 1)) with n draws of P and m of Q in d dimensions, ρ_k(i) the distance of draw i to the k-th nearest other draw of P
//! and ν_k(i) that to the k-th nearest draw of Q (Wang, Kulkarni & Verdú 2009, eq. (5)). No density is estimated; k trades bias against variance.

use rayon::prelude::*;

use crate::error::{self, Error};

/// The divergence of the law of `reference` from the law of `draws`, D(draws‖reference), both row by row with `dimension` numbers each.
///
/// An estimate of a number ≥ 0 that may itself be below zero. Infinite if more than `neighbours` draws coincide, as after rejected proposals: thin them first.
pub fn kl_divergence(draws: &[f64], reference: &[f64], dimension: usize, neighbours: usize) -> Result<f64, Error> {
    let n = error::rows("draws", draws, dimension)?;
    let m = error::rows("the reference", reference, dimension)?;
    if neighbours == 0 {
        return Err(Error::Setting { what: "the number of neighbours", found: 0.0, expected: "at least 1" });
    }
    if n <= neighbours {
        return Err(Error::TooFew { what: "the sample", found: n, least: neighbours + 1 });
    }
    if m < neighbours {
        return Err(Error::TooFew { what: "the reference", found: m, least: neighbours });
    }
    let term = |i: usize| {
        let x = &draws[i * dimension..(i + 1) * dimension];
        let own = nearest(x, draws, neighbours, Some(i));
        // Squared distances: half their logarithm.
        0.5 * (nearest(x, reference, neighbours, None) / own).ln()
    };
    let terms: Vec<f64> = (0..n).into_par_iter().map(term).collect();
    Ok(dimension as f64 * terms.iter().sum::<f64>() / n as f64 + (m as f64 / (n as f64 - 1.0)).ln())
}

/// The squared distance of `x` to the `k`-th nearest row of `table`, without the row `except`.
fn nearest(x: &[f64], table: &[f64], k: usize, except: Option<usize>) -> f64 {
    // The k smallest so far, in order.
    let mut smallest = vec![f64::INFINITY; k];
    for (row, y) in table.chunks_exact(x.len()).enumerate() {
        let square: f64 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
        if square < smallest[k - 1] && Some(row) != except {
            let place = smallest.partition_point(|other| *other <= square);
            smallest[place..].rotate_right(1);
            smallest[place] = square;
        }
    }
    smallest[k - 1]
}
