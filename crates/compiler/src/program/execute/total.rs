//! Sums of the contents of buffers.

use super::{Executor, Real};
use crate::kernels::{dot, sum};
use crate::program::lower::{Summand, Summed, Total};
use crate::program::view::{BufferId, Location};

impl<T: Real> Executor<'_, T> {
    /// Returns the sum over the `t` observations of a tile, or, with t = 1, the sum of a shared value.
    pub(super) fn total(&self, total: &Total, t: usize) -> f64 {
        let summed = total.summands.iter().map(|summand| self.summand(summand, t));
        total.constant * t as f64 + summed.sum::<f64>()
    }

    fn summand(&self, Summand { factor, size, elements }: &Summand, t: usize) -> f64 {
        // A shared value counts once per observation.
        let (rows, sum) = match elements {
            Summed::Value { at, rows } => (*rows, self.sum_of(*at, *size, if *rows { t } else { 1 })),
            Summed::Product { at, rows } => (*rows, self.sum_of_product(*at, *size, if *rows { t } else { 1 })),
        };
        factor * sum * if rows { 1.0 } else { t as f64 }
    }

    fn sum_of(&self, Location { buffer, offset }: Location, size: usize, lanes: usize) -> f64 {
        match buffer {
            BufferId::Native(buffer) => sum(self.simd, &self.native[buffer][offset * lanes..][..size * lanes]).to_f64(),
            BufferId::Wide(buffer) => sum(self.simd, &self.wide[buffer][offset * lanes..][..size * lanes]),
        }
    }

    fn sum_of_product(&self, [a, b]: [Location; 2], size: usize, lanes: usize) -> f64 {
        let (BufferId::Native(first), BufferId::Native(second)) = (a.buffer, b.buffer) else { return f64::NAN };
        let a = &self.native[first][a.offset * lanes..][..size * lanes];
        let b = &self.native[second][b.offset * lanes..][..size * lanes];
        dot(self.simd, a, b).to_f64()
    }
}
