//! Selection and scattering of rows by indices.
//!
//! An index is a number of a data table. The functions stop and return `false` at an index that is out of range.

use super::element::{Element, Number};
use super::simd::Simd;

/// The number of rows that are processed together, so that writes (or reads) are consecutive.
const GROUP: usize = 8;

/// `out[j · lanes + lane]` = `source[index[lane] · inner + j]`: selects rows of `inner` numbers as a structure of
/// arrays.
#[must_use]
pub(crate) fn select_lanes<S: Number, T: Element>(
    simd: Simd,
    source: &[S],
    inner: usize,
    index: &[f64],
    out: &mut [T],
) -> bool {
    assert_eq!(out.len(), inner * index.len());
    let lanes = index.len();
    simd.run(
        #[inline(always)]
        move |_| {
            let (groups, rest) = index.as_chunks::<GROUP>();
            for (group, index) in groups.iter().enumerate() {
                let Some(starts) = starts(source.len(), inner, index) else { return false };
                for j in 0..inner {
                    let out = &mut out[j * lanes + group * GROUP..][..GROUP];
                    for (out, start) in out.iter_mut().zip(starts) {
                        *out = source[start + j].element();
                    }
                }
            }
            for (lane, index) in (lanes - rest.len()..).zip(rest) {
                let Some(row) = row(source.len(), inner, *index) else { return false };
                for (j, x) in source[row].iter().enumerate() {
                    out[j * lanes + lane] = x.element();
                }
            }
            true
        },
    )
}

/// `acc[index[lane] · inner + j]` += scale · `values[j · lanes + lane]`: the adjoint of [`select_lanes`].
#[must_use]
pub(crate) fn scatter_lanes<T: Element, A: Element>(
    simd: Simd,
    values: &[T],
    inner: usize,
    index: &[f64],
    scale: f64,
    acc: &mut [A],
) -> bool {
    assert_eq!(values.len(), inner * index.len());
    let lanes = index.len();
    simd.run(
        #[inline(always)]
        move |_| {
            // Single numbers and the remaining rows are processed one by one.
            let whole = if inner == 1 { 0 } else { lanes - lanes % GROUP };
            // The values of several rows, transposed back to rows, a few columns at a time.
            let mut transposed = [[0.0; GROUP]; GROUP];
            for (group, index) in index[..whole].as_chunks::<GROUP>().0.iter().enumerate() {
                let Some(starts) = starts(acc.len(), inner, index) else { return false };
                for first in (0..inner).step_by(GROUP) {
                    let columns = GROUP.min(inner - first);
                    for j in 0..columns {
                        let values = &values[(first + j) * lanes + group * GROUP..][..GROUP];
                        for (transposed, value) in transposed.iter_mut().zip(values) {
                            transposed[j] = scale * value.to_f64();
                        }
                    }
                    for (transposed, start) in transposed.iter().zip(starts) {
                        let acc = &mut acc[start + first..][..columns];
                        for (acc, value) in acc.iter_mut().zip(transposed) {
                            *acc += A::from_f64(*value);
                        }
                    }
                }
            }
            for (lane, index) in (whole..).zip(&index[whole..]) {
                let Some(row) = row(acc.len(), inner, *index) else { return false };
                for (j, acc) in acc[row].iter_mut().enumerate() {
                    *acc += A::from_f64(scale * values[j * lanes + lane].to_f64());
                }
            }
            true
        },
    )
}

/// Returns the starts of the rows, if all of them are within the first `length` numbers.
#[inline(always)]
fn starts(length: usize, inner: usize, index: &[f64; GROUP]) -> Option<[usize; GROUP]> {
    let mut starts = [0; GROUP];
    for (start, index) in starts.iter_mut().zip(index) {
        *start = row(length, inner, *index)?.start;
    }
    Some(starts)
}

/// Returns the range of row `index` of `inner` numbers, if it is within the first `length` numbers.
#[inline(always)]
pub(super) fn row(length: usize, inner: usize, index: f64) -> Option<std::ops::Range<usize>> {
    // The conversion would round NaN and −0.5 to zero.
    if index.is_nan() || index < 0.0 {
        return None;
    }
    let start = (index as usize).checked_mul(inner)?;
    let end = start.checked_add(inner)?;
    (end <= length).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LENGTHS, indices, numbers};
    use super::*;

    fn indices_work<T: Element>() {
        let count = 13;
        for lanes in LENGTHS {
            let index: Vec<f64> = indices(3, lanes, count).iter().map(|index| *index as f64).collect();
            let row = |lane: usize| index[lane] as usize;
            for inner in [1, 5] {
                let source = numbers::<f64>(1, count * inner);
                let mut out = vec![T::NAN; inner * lanes];
                assert!(select_lanes(Simd::new(), &source, inner, &index, &mut out));
                let values = numbers::<T>(2, inner * lanes);
                let mut acc = vec![0.0; count * inner];
                assert!(scatter_lanes(Simd::new(), &values, inner, &index, 2.0, &mut acc));
                let mut expected = vec![0.0; count * inner];
                for lane in 0..lanes {
                    for j in 0..inner {
                        assert!(out[j * lanes + lane] == T::from_f64(source[row(lane) * inner + j]));
                        expected[row(lane) * inner + j] += 2.0 * values[j * lanes + lane].to_f64();
                    }
                }
                assert_eq!(acc, expected);
            }
        }
    }

    #[test]
    fn rows_at_indices() {
        indices_work::<f32>();
        indices_work::<f64>();
    }

    #[test]
    fn index_out_of_range_is_detected() {
        let values = [1.0, 2.0];
        for wrong in [-1.0, -0.5, 2.0, 1e300, f64::NAN, f64::INFINITY] {
            assert!(!select_lanes(Simd::new(), &[1.0; 4], 2, &[wrong], &mut [0.0_f32; 2]));
            assert!(!scatter_lanes(Simd::new(), &values, 2, &[wrong], 1.0, &mut [0.0_f32; 4]));
        }
    }
}
