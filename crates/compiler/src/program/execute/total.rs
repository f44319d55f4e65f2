//! Sums of what the buffers hold.

use super::{Machine, Real};
use crate::kernels::{dot, sum};
use crate::program::lower::{Summand, Summed, Total};
use crate::program::view::Store;

impl<T: Real> Machine<'_, T> {
    /// The sum over the `t` observations of a tile; with t = 1 that of a shared value.
    pub(super) fn total(&self, total: &Total, t: usize) -> f64 {
        let summed = total.summands.iter().map(|summand| self.summand(summand, t));
        total.constant * t as f64 + summed.sum::<f64>()
    }

    fn summand(&self, Summand { factor, size, of }: &Summand, t: usize) -> f64 {
        // A shared value counts once for each observation.
        let (rows, sum) = match of {
            Summed::Value { at, rows } => (*rows, self.sum_of(*at, *size, if *rows { t } else { 1 })),
            Summed::Product { at, rows } => (*rows, self.sum_of_product(*at, *size, if *rows { t } else { 1 })),
        };
        factor * sum * if rows { 1.0 } else { t as f64 }
    }

    fn sum_of(&self, (store, offset): (Store, usize), size: usize, lanes: usize) -> f64 {
        match store {
            Store::Native(buffer) => sum(self.simd, &self.native[buffer][offset * lanes..][..size * lanes]).to_f64(),
            Store::Wide(buffer) => sum(self.simd, &self.wide[buffer][offset * lanes..][..size * lanes]),
        }
    }

    fn sum_of_product(&self, [a, b]: [(Store, usize); 2], size: usize, lanes: usize) -> f64 {
        let (Store::Native(first), Store::Native(second)) = (a.0, b.0) else { return f64::NAN };
        let a = &self.native[first][a.1 * lanes..][..size * lanes];
        let b = &self.native[second][b.1 * lanes..][..size * lanes];
        dot(self.simd, a, b).to_f64()
    }
}
