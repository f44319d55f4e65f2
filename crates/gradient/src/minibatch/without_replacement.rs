//! Uniform subsampling without replacement.
//!
//! Observations are drawn with a bit set of those already drawn, in O(n) for all N. If n is more than half of N, the
//! observations outside the minibatch are drawn instead. The bit set is empty between draws, so that it is not
//! serialized.

use serde::{Deserialize, Serialize};

use super::index::below;
use super::{BatchSize, BatchWeights, Minibatch, Scheme};
use crate::error::Result;
use crate::rng::StreamRng;

/// Minibatches of n distinct observations, where all subsets have the same probability. This is the default, as in R.
///
/// The weights are wᵢ = N/n. The variance of Σ wᵢ aᵢ is N(N−n)/n · S²ₐ, where S²ₐ is the sample variance (divisor N−1).
///
/// # Examples
///
/// ```
/// use sgmcmc::minibatch::{Minibatch, Scheme, WithoutReplacement};
/// use sgmcmc::rng::ChainRng;
///
/// let scheme = WithoutReplacement::new(0.5);
/// let (mut state, mut rng) = (scheme.init(10)?, ChainRng::new(1, 0));
/// let mut batch = Minibatch::default();
/// scheme.draw(&mut state, rng.minibatch(), &mut batch);
/// batch.rows.sort_unstable();
/// batch.rows.dedup();
/// assert_eq!(batch.rows.len(), 5);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WithoutReplacement {
    /// The number of observations per minibatch.
    pub size: BatchSize,
}

impl WithoutReplacement {
    /// Creates a scheme with minibatches of `size` observations. An integer is a count, and a float is a proportion.
    pub fn new(size: impl Into<BatchSize>) -> Self {
        Self { size: size.into() }
    }
}

/// The state of [`WithoutReplacement`]: the number of observations per minibatch and in the data set, and the bit set.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    size: usize,
    observations: usize,
    #[serde(skip)]
    taken: Vec<u64>,
}

impl Scheme for WithoutReplacement {
    type State = State;

    fn init(&self, observations: usize) -> Result<State> {
        Ok(State { size: self.size.resolve(observations)?, observations, taken: Vec::new() })
    }

    fn draw(&self, state: &mut State, rng: &mut StreamRng, batch: &mut Minibatch) {
        let State { size, observations, taken } = state;
        let (n, all) = (*size, *observations);
        taken.resize(all.div_ceil(64), 0);
        batch.weights = BatchWeights::Same(all as f64 / n as f64);
        batch.rows.clear();
        if n <= all / 2 {
            draw_distinct(n, all, rng, taken, &mut batch.rows);
            for row in &batch.rows {
                taken[row / 64] = 0;
            }
        } else {
            draw_distinct(all - n, all, rng, taken, &mut batch.rows);
            batch.rows.clear();
            batch.rows.extend((0..all).filter(|row| taken[row / 64] >> (row % 64) & 1 == 0));
            taken.fill(0);
        }
    }

    fn has_distinct_observations(&self) -> bool {
        true
    }
}

/// Fills `rows` with `count` distinct indices and marks them in `taken`. At most half of all indices are marked, so
/// that a draw is accepted with probability at least one half.
fn draw_distinct(count: usize, all: usize, rng: &mut StreamRng, taken: &mut [u64], rows: &mut Vec<usize>) {
    while rows.len() < count {
        let first = rows.len();
        rows.resize(count, 0);
        below(all, rng, &mut rows[first..]);
        let mut kept = first;
        for i in first..count {
            let row = rows[i];
            let (word, bit) = (row / 64, row % 64);
            // This has no branch: an index that is already marked is overwritten by the next one.
            rows[kept] = row;
            kept += usize::from(taken[word] >> bit & 1 == 0);
            taken[word] |= 1 << bit;
        }
        rows.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChainRng;

    #[test]
    fn indices_are_distinct_and_pairs_equally_likely() {
        for n in [1, 3, 5, 7] {
            let scheme = WithoutReplacement::new(n);
            let mut state = scheme.init(7).unwrap();
            let mut rng = ChainRng::new(1, 0);
            let mut batch = Minibatch::default();
            let mut pairs = [[0_u32; 7]; 7];
            let draws = 40_000;
            for _ in 0..draws {
                scheme.draw(&mut state, rng.minibatch(), &mut batch);
                let mut sorted = batch.rows.clone();
                sorted.sort_unstable();
                sorted.dedup();
                assert_eq!(sorted.len(), n);
                for &a in &batch.rows {
                    for &b in &batch.rows {
                        pairs[a][b] += 1;
                    }
                }
            }
            for (a, row) in pairs.iter().enumerate() {
                for (b, count) in row.iter().enumerate() {
                    let p = if a == b { n as f64 / 7.0 } else { (n * (n - 1)) as f64 / 42.0 };
                    let sd = (p * (1.0 - p) * f64::from(draws)).sqrt();
                    let off = f64::from(*count) - p * f64::from(draws);
                    assert!(off.abs() <= 5.0 * sd, "n = {n}, pair {a},{b}: off by {off}, sd {sd}");
                }
            }
        }
    }
}
