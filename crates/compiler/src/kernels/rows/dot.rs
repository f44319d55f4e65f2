//! Dot products of each row with one vector.

use super::super::element::Element;
use super::super::simd::Simd;
use super::{RowSelection, Rows};

/// The number of rows that are processed together.
const GROUP: usize = 4;

/// out\[i] = Σⱼ xᵢⱼ vectorⱼ.
pub(crate) fn rows_dot<T: Element>(
    simd: Simd,
    table: &[T],
    width: usize,
    selection: RowSelection<'_>,
    vector: &[T],
    out: &mut [T],
) {
    assert_eq!(vector.len(), width);
    simd.run_vectors(Dots { rows: Rows { table, width, selection }, vector, out });
}

struct Dots<'a, T> {
    rows: Rows<'a, T>,
    vector: &'a [T],
    out: &'a mut [T],
}

impl<T: Element> pulp::WithSimd for Dots<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let Self { rows, vector, out } = self;
        let Some(end) = T::last_vector::<S>(vector) else { return short_dots(rows, vector, out) };
        let (vectors, rest) = T::vectors::<S>(vector);
        let new = (!rest.is_empty()).then(|| T::last_lanes(simd, rest.len()));
        let vector = Factor { vectors, end: *end, new };
        let (groups, single) = out.as_chunks_mut::<GROUP>();
        for (group, out) in groups.iter_mut().enumerate() {
            let first = group * GROUP;
            for r in 0..GROUP {
                rows.prefetch_ahead(first + r);
            }
            *out = dots(simd, std::array::from_fn(|r| rows.get(first + r)), vector);
        }
        let done = groups.len() * GROUP;
        let (pairs, single) = single.as_chunks_mut::<2>();
        for out in pairs.iter_mut() {
            *out = dots(simd, [rows.get(done), rows.get(done + 1)], vector);
        }
        let done = done + 2 * pairs.len();
        for out in single {
            [*out] = dots(simd, [rows.get(done)], vector);
        }
    }
}

/// The vector factor of the rows. `end` contains its last elements; the mask `new` selects those that are not in
/// `vectors`.
struct Factor<'a, T: Element, S: pulp::Simd> {
    vectors: &'a [T::Vector<S>],
    end: T::Vector<S>,
    new: Option<T::Mask<S>>,
}

impl<T: Element, S: pulp::Simd> Clone for Factor<'_, T, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element, S: pulp::Simd> Copy for Factor<'_, T, S> {}

#[inline(always)]
fn dots<T: Element, S: pulp::Simd, const R: usize>(simd: S, rows: [&[T]; R], vector: Factor<'_, T, S>) -> [T; R] {
    let Factor { vectors, end, new } = vector;
    let x = rows.map(
        #[inline(always)]
        |row| &T::vectors::<S>(row).0[..vectors.len()],
    );
    // Each row has two accumulators, which hides the latency of the additions.
    let mut even = [T::splat(simd, T::ZERO); R];
    let mut odd = even;
    let pairs = vectors.len() / 2;
    for c in 0..pairs {
        for r in 0..R {
            even[r] = T::vector_mul_add(simd, x[r][2 * c], vectors[2 * c], even[r]);
        }
        for r in 0..R {
            odd[r] = T::vector_mul_add(simd, x[r][2 * c + 1], vectors[2 * c + 1], odd[r]);
        }
    }
    if let Some(c) = vectors.len().checked_sub(1).filter(|last| last % 2 == 0) {
        for r in 0..R {
            even[r] = T::vector_mul_add(simd, x[r][c], vectors[c], even[r]);
        }
    }
    if let Some(new) = new {
        for r in 0..R {
            if let Some(x) = T::last_vector::<S>(rows[r]) {
                odd[r] = T::vector_mul_add(simd, T::keep(simd, new, *x), end, odd[r]);
            }
        }
    }
    std::array::from_fn(
        #[inline(always)]
        |r| T::total(simd, T::vector_add(simd, even[r], odd[r])),
    )
}

/// Computes the dot products of rows that are shorter than a vector.
#[inline(always)]
fn short_dots<T: Element>(rows: Rows<'_, T>, vector: &[T], out: &mut [T]) {
    for (i, out) in out.iter_mut().enumerate() {
        rows.prefetch_ahead(i);
        *out = rows.get(i).iter().zip(vector).fold(T::ZERO, |sum, (x, y)| sum + *x * *y);
    }
}
