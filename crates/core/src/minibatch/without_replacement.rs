//! n distinct observations, all subsets equally likely: R's scheme and the default.
//!
//! wᵢ = N/n. The variance of Σ wᵢ aᵢ is N(N−n)/n · S²ₐ, with S²ₐ the sample variance (divisor N−1).
//!
//! Rows are drawn with a bit set of those already taken, in O(n) whatever N; when n is more than half of N the rows to leave
//! out are drawn instead. The bit set is empty between draws, so nothing of it needs saving.

use serde::{Deserialize, Serialize};

use super::index::below;
use super::{BatchSize, BatchWeights, Minibatch, Scheme};
use crate::error::Result;
use crate::rng::StreamRng;

/// n distinct observations per minibatch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WithoutReplacement {
    /// Observations per minibatch.
    pub size: BatchSize,
}

impl WithoutReplacement {
    /// Minibatches of `size` observations: an integer is a count, a float a proportion.
    pub fn new(size: impl Into<BatchSize>) -> Self {
        Self { size: size.into() }
    }
}

/// The resolved sizes, and the bit set used while drawing.
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
            take(n, all, rng, taken, &mut batch.rows);
            for row in &batch.rows {
                taken[row / 64] = 0;
            }
        } else {
            take(all - n, all, rng, taken, &mut batch.rows);
            batch.rows.clear();
            batch.rows.extend((0..all).filter(|row| taken[row / 64] >> (row % 64) & 1 == 0));
            taken.fill(0);
        }
    }

    fn has_distinct_observations(&self) -> bool {
        true
    }
}

/// Fills `rows` with `count` distinct rows and marks them in `taken`. At most half of all rows are ever marked, so that a try succeeds
/// with probability at least one half.
fn take(count: usize, all: usize, rng: &mut StreamRng, taken: &mut [u64], rows: &mut Vec<usize>) {
    while rows.len() < count {
        let first = rows.len();
        rows.resize(count, 0);
        below(all, rng, &mut rows[first..]);
        let mut kept = first;
        for i in first..count {
            let row = rows[i];
            let (word, bit) = (row / 64, row % 64);
            // Written without a branch: a row that was taken before is overwritten by the next.
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
    fn rows_are_distinct_and_every_pair_equally_likely() {
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
