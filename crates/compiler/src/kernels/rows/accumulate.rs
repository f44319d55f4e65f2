//! Linear combinations of rows.

use super::super::element::Element;
use super::super::simd::Simd;
use super::{RowSelection, Rows};

/// The number of accumulator vectors.
const COLUMNS: usize = 8;

/// acc += Σᵢ coefficientsᵢ xᵢ.
pub(crate) fn rows_accumulate<T: Element>(
    simd: Simd,
    table: &[T],
    width: usize,
    selection: RowSelection<'_>,
    coefficients: &[T],
    acc: &mut [T],
) {
    assert_eq!(acc.len(), width);
    simd.run_vectors(Accumulate { rows: Rows { table, width, selection }, coefficients, acc });
}

struct Accumulate<'a, T> {
    rows: Rows<'a, T>,
    coefficients: &'a [T],
    acc: &'a mut [T],
}

impl<T: Element> pulp::WithSimd for Accumulate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let Self { rows, coefficients, acc } = self;
        if T::last_vector::<S>(acc).is_none() {
            for (i, coefficient) in coefficients.iter().enumerate() {
                for (acc, x) in acc.iter_mut().zip(rows.get(i)) {
                    *acc += *coefficient * *x;
                }
            }
            return;
        }
        let (vectors, rest) = T::vectors::<S>(acc);
        let (count, rest) = (vectors.len(), rest.len());
        // All but the last vectors are processed in full blocks, the last ones together with the remainder of the rows.
        let mut first = 0;
        let columns = Columns { rows, coefficients, rest: 0 };
        while count - first > COLUMNS {
            columns.add::<S, COLUMNS>(simd, first, acc);
            first += COLUMNS;
        }
        let columns = Columns { rest, ..columns };
        match count - first {
            1 => columns.add::<S, 1>(simd, first, acc),
            2 => columns.add::<S, 2>(simd, first, acc),
            3 => columns.add::<S, 3>(simd, first, acc),
            4 => columns.add::<S, 4>(simd, first, acc),
            5 => columns.add::<S, 5>(simd, first, acc),
            6 => columns.add::<S, 6>(simd, first, acc),
            7 => columns.add::<S, 7>(simd, first, acc),
            _ => columns.add::<S, COLUMNS>(simd, first, acc),
        }
    }
}

/// Sums over the rows of some columns, and of the last `rest` columns.
struct Columns<'a, T> {
    rows: Rows<'a, T>,
    coefficients: &'a [T],
    rest: usize,
}

impl<T: Element> Columns<'_, T> {
    /// Adds the columns of C vectors from vector `first` on, and the remaining columns.
    #[inline(always)]
    fn add<S: pulp::Simd, const C: usize>(&self, simd: S, first: usize, acc: &mut [T]) {
        let Self { rows, coefficients, rest } = *self;
        let zero = T::splat(simd, T::ZERO);
        let (mut sums, mut end) = ([zero; C], zero);
        for (i, coefficient) in coefficients.iter().enumerate() {
            let row = rows.get(i);
            let x = &T::vectors::<S>(row).0[first..][..C];
            let coefficient = T::splat(simd, *coefficient);
            for c in 0..C {
                sums[c] = T::vector_mul_add(simd, coefficient, x[c], sums[c]);
            }
            if rest > 0
                && let Some(x) = T::last_vector::<S>(row)
            {
                end = T::vector_mul_add(simd, coefficient, *x, end);
            }
        }
        let acc_vectors = &mut T::vectors_mut::<S>(acc).0[first..][..C];
        for c in 0..C {
            acc_vectors[c] = T::vector_add(simd, acc_vectors[c], sums[c]);
        }
        if rest > 0
            && let Some(acc) = T::last_vector_mut::<S>(acc)
        {
            *acc = T::vector_add(simd, *acc, T::keep(simd, T::last_lanes(simd, rest), end));
        }
    }
}
