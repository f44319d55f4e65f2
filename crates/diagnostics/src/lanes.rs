//! Sums over slices in eight SIMD lanes, which are faster and more accurate than one running sum.
//!
//! Each function is compiled for several instruction sets. The best one that the CPU supports is selected at run time.
//! `sgmcmc_numerics::vector` has no such dispatch: its vectors are short.

use pulp::{Arch, NullaryFnOnce};

/// The number of partial sums.
const LANES: usize = 8;

/// The number of lags that [`lagged`] computes at once.
pub(crate) const LAGS: usize = 4;

/// Returns Σ x.
pub(crate) fn sum(x: &[f64]) -> f64 {
    run(
        #[inline(always)]
        || fold(x, |lane, value| lane + value),
    )
}

/// Returns Σ (x − center)².
pub(crate) fn squares(x: &[f64], center: f64) -> f64 {
    run(
        #[inline(always)]
        || fold(x, |lane, value| lane + (value - center) * (value - center)),
    )
}

/// Returns Σ x y over the length of the shorter slice.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let both = x.len().min(y.len());
    let (left, right) = (x[..both].as_chunks::<LANES>(), y[..both].as_chunks::<LANES>());
    let whole = run(
        #[inline(always)]
        || {
            let mut lanes = [0.0; LANES];
            left.0.iter().zip(right.0).for_each(|(x, y)| add(&mut lanes, x, y));
            lanes.iter().sum::<f64>()
        },
    );
    whole + left.1.iter().zip(right.1).map(|(x, y)| x * y).sum::<f64>()
}

/// Returns Σᵢ xᵢ xᵢ₊ₗ at the lags l = first, first + 1, …, over all i with i + l in range.
pub(crate) fn lagged(x: &[f64], first: usize) -> [f64; LAGS] {
    let later = |lag: usize| x.get(first + lag..).unwrap_or(&[]);
    let whole = later(LAGS - 1).len() / LANES;
    let chunks = |lag: usize| &later(lag).as_chunks::<LANES>().0[..whole];
    let (now, [y0, y1, y2, y3]) = (&x.as_chunks::<LANES>().0[..whole], [chunks(0), chunks(1), chunks(2), chunks(3)]);
    // The lags are unrolled: sums in an array that a loop indexes would not stay in registers.
    let mut sums = run(
        #[inline(always)]
        || {
            let [mut s0, mut s1, mut s2, mut s3] = [[0.0; LANES]; LAGS];
            for ((((x, y0), y1), y2), y3) in now.iter().zip(y0).zip(y1).zip(y2).zip(y3) {
                add(&mut s0, x, y0);
                add(&mut s1, x, y1);
                add(&mut s2, x, y2);
                add(&mut s3, x, y3);
            }
            [s0, s1, s2, s3].map(
                #[inline(always)]
                |lanes| lanes.iter().sum::<f64>(),
            )
        },
    );
    let processed = whole * LANES;
    for (lag, sum) in sums.iter_mut().enumerate() {
        *sum += x[processed..].iter().zip(later(lag).get(processed..).unwrap_or(&[])).map(|(x, y)| x * y).sum::<f64>();
    }
    sums
}

/// Returns the smallest and the largest value, or `None` if a value is not finite.
pub(crate) fn range(x: &[f64]) -> Option<(f64, f64)> {
    run(
        #[inline(always)]
        || {
            let (mut low, mut high, mut zero) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES], [0.0; LANES]);
            let (chunks, rest) = x.as_chunks::<LANES>();
            // The last, incomplete chunk is padded with its first value.
            let last = rest.first().map(|first| {
                let mut last = [*first; LANES];
                last[..rest.len()].copy_from_slice(rest);
                last
            });
            for chunk in chunks.iter().chain(&last) {
                for lane in 0..LANES {
                    let value = chunk[lane];
                    low[lane] = if value < low[lane] { value } else { low[lane] };
                    high[lane] = if value > high[lane] { value } else { high[lane] };
                    // An infinity or a NaN makes the sum of 0 · x NaN. This avoids a branch.
                    zero[lane] += 0.0 * value;
                }
            }
            let (low, high) =
                (low.into_iter().fold(f64::INFINITY, f64::min), high.into_iter().fold(f64::NEG_INFINITY, f64::max));
            (!zero.iter().sum::<f64>().is_nan()).then_some((low, high))
        },
    )
}

/// Runs `kernel`, compiled for the best instruction set of the CPU. The kernel must be inlined completely.
#[inline(always)]
pub(crate) fn run<R>(kernel: impl FnOnce() -> R) -> R {
    struct Kernel<F>(F);

    impl<R, F: FnOnce() -> R> NullaryFnOnce for Kernel<F> {
        type Output = R;

        #[inline(always)]
        fn call(self) -> R {
            (self.0)()
        }
    }

    Arch::new().dispatch(Kernel(kernel))
}

/// Adds x y to the lanes.
#[inline(always)]
fn add(lanes: &mut [f64; LANES], x: &[f64; LANES], y: &[f64; LANES]) {
    for lane in 0..LANES {
        lanes[lane] += x[lane] * y[lane];
    }
}

/// Folds `x` with `step` in eight lanes. Returns the sum of the lanes.
#[inline(always)]
fn fold(x: &[f64], step: impl Fn(f64, f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let chunks = x.chunks_exact(LANES);
    let rest = chunks.remainder().iter().fold(0.0, |sum, value| step(sum, *value));
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = step(*lane, *value);
        }
    }
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_miss_nothing() {
        let x: Vec<f64> = (0..21).map(f64::from).collect();
        assert!((sum(&x) - 210.0).abs() < 1e-12);
        assert!((squares(&x, 10.0) - 770.0).abs() < 1e-12);
        assert!((dot(&x, &x[1..]) - (2870.0 - 210.0)).abs() < 1e-12);
        for first in [0, 1, 7, 18, 20, 30] {
            for (found, lag) in lagged(&x, first).into_iter().zip(first..) {
                let expected: f64 = x.iter().zip(x.iter().skip(lag)).map(|(x, y)| x * y).sum();
                assert!((found - expected).abs() < 1e-12, "lag {lag}: {found}, expected {expected}");
            }
        }
        assert_eq!(range(&x), Some((0.0, 20.0)));
        assert_eq!(range(&[1.0, f64::INFINITY]), None);
        assert_eq!(range(&[1.0, f64::NAN]), None);
    }
}
