//! Products of small matrices, summed over the lanes.

use super::super::element::Element;
use super::super::reduce::sum;
use super::super::simd::Simd;
use super::{Factors, GROUP, ResultMatrix};

/// acc += Σ over lanes of the product.
pub(super) fn contract<T: Element>(simd: Simd, factors: Factors<'_, T>, acc: ResultMatrix<'_, T>) {
    let Factors { size: [m, k, n], t, a, b } = factors;
    if a.lanes && b.lanes {
        return simd.run_vectors(Contract { factors, acc });
    }
    // A shared factor is moved out of the sum over the lanes.
    for i in 0..m {
        for l in 0..k {
            let x = a.element(i, l, t);
            let x = if a.lanes { sum(simd, x) } else { x[0] * T::from_f64(t as f64) };
            for j in 0..n {
                acc.data[i * acc.row + j * acc.col] += x * b.element(l, j, t)[0];
            }
        }
    }
}

struct Contract<'a, T> {
    factors: Factors<'a, T>,
    acc: ResultMatrix<'a, T>,
}

impl<T: Element> pulp::WithSimd for Contract<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let Self { factors, acc } = self;
        let [m, _, n] = factors.size;
        let whole = n - n % GROUP;
        for i in 0..m {
            for j in (0..whole).step_by(GROUP) {
                let sums = dots::<T, S, GROUP>(simd, factors, [i, j]);
                for (q, sum) in sums.into_iter().enumerate() {
                    acc.data[i * acc.row + (j + q) * acc.col] += sum;
                }
            }
            for j in whole..n {
                let [sum] = dots::<T, S, 1>(simd, factors, [i, j]);
                acc.data[i * acc.row + j * acc.col] += sum;
            }
        }
    }
}

/// Returns Σ over lanes and l of a(i, l) b(l, j + q), for Q elements.
#[inline(always)]
fn dots<T: Element, S: pulp::Simd, const Q: usize>(simd: S, factors: Factors<'_, T>, [i, j]: [usize; 2]) -> [T; Q] {
    let Factors { size: [_, k, _], t, a, b } = factors;
    // Each element has two accumulators, which hides the latency of the additions.
    let mut sums = [[T::splat(simd, T::ZERO); 2]; Q];
    let mut rests = [T::ZERO; Q];
    for l in 0..k {
        let (x, x_rest) = T::vectors::<S>(a.element(i, l, t));
        let y: [_; Q] = std::array::from_fn(
            #[inline(always)]
            |q| {
                let (y, rest) = T::vectors::<S>(b.element(l, j + q, t));
                (&y[..x.len()], &rest[..x_rest.len()])
            },
        );
        for pair in 0..x.len() / 2 {
            for q in 0..Q {
                sums[q][0] = T::vector_mul_add(simd, x[2 * pair], y[q].0[2 * pair], sums[q][0]);
                sums[q][1] = T::vector_mul_add(simd, x[2 * pair + 1], y[q].0[2 * pair + 1], sums[q][1]);
            }
        }
        if x.len() % 2 == 1 {
            for q in 0..Q {
                sums[q][0] = T::vector_mul_add(simd, x[x.len() - 1], y[q].0[x.len() - 1], sums[q][0]);
            }
        }
        for (lane, x) in x_rest.iter().enumerate() {
            for q in 0..Q {
                rests[q] += *x * y[q].1[lane];
            }
        }
    }
    std::array::from_fn(
        #[inline(always)]
        |q| T::total(simd, T::vector_add(simd, sums[q][0], sums[q][1])) + rests[q],
    )
}
