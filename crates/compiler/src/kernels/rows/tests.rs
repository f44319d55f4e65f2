//! Compares the kernels with loops over rows and columns.

use super::super::element::Number;
use super::super::testing::{LENGTHS, assert_close, indices, numbers};
use super::super::{Element, prefetch};
use super::*;

const WIDTHS: [usize; 14] = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 54, 63, 64, 123];

/// Calls `check` with consecutive rows and with scattered rows, and with their indices.
fn for_all_selections(length: usize, count: usize, check: impl Fn(RowSelection<'_>, &[usize])) {
    let start = (length - count) / 2;
    let range: Vec<usize> = (start..start + count).collect();
    check(RowSelection::Range(start), &range);
    let list = indices(7, count, length);
    check(RowSelection::List(&list), &list);
}

fn products_work<T: Element>(simd: Simd) {
    let length = 1200;
    for width in WIDTHS {
        let table = numbers::<T>(1, width * length);
        let vector = numbers::<T>(2, width);
        for count in LENGTHS {
            for_all_selections(length, count, |selection, rows| {
                let at = |row: usize, j: usize| table[row * width + j].to_f64();
                prefetch(&table, width, selection, count);
                let mut out = vec![T::NAN; count];
                rows_dot(simd, &table, width, selection, &vector, &mut out);
                let expected: Vec<f64> =
                    rows.iter().map(|row| (0..width).map(|j| at(*row, j) * vector[j].to_f64()).sum()).collect();
                assert_close(&out, &expected, 3.0 * width as f64, "dot");

                let coefficients = numbers::<T>(3, count);
                let before = numbers::<T>(4, width);
                let mut acc = before.clone();
                rows_accumulate(simd, &table, width, selection, &coefficients, &mut acc);
                let sum =
                    |j: usize| rows.iter().zip(&coefficients).map(|(row, c)| c.to_f64() * at(*row, j)).sum::<f64>();
                let expected: Vec<f64> = (0..width).map(|j| before[j].to_f64() + sum(j)).collect();
                assert_close(&acc, &expected, 3.0 * count as f64, "accumulate");
            });
        }
    }
}

#[test]
fn products_with_a_vector_and_sums_of_rows() {
    for simd in Simd::all() {
        products_work::<f32>(simd);
        products_work::<f64>(simd);
    }
}

fn products_with_a_matrix_work<T: Element>(simd: Simd, width: usize, columns: usize, count: usize) {
    let length = 2 * count;
    let table = numbers::<T>(1, width * length);
    let matrix = numbers::<T>(2, width * columns);
    let coefficients = numbers::<T>(3, count * columns);
    let before = numbers::<T>(4, width * columns);
    for_all_selections(length, count, |selection, rows| {
        let at = |row: usize, l: usize| table[row * width + l].to_f64();
        for [row, col] in [[columns, 1], [1, width]] {
            let w = |l: usize, j: usize| matrix[l * row + j * col].to_f64();
            let mut panel = vec![T::NAN; panels_size(width, columns)];
            let mut out = vec![T::NAN; columns * count];
            let strided = Strided { data: &matrix, row, col };
            let table_rows = Rows { table: &table, width, selection };
            rows_multiply(simd, table_rows, strided, &mut panel, &mut out, count);
            let product = |j: usize, i: usize| (0..width).map(|l| at(rows[i], l) * w(l, j)).sum::<f64>();
            let expected: Vec<f64> = (0..columns * count).map(|at| product(at / count, at % count)).collect();
            assert_close(&out, &expected, 3.0 * width as f64, "multiply");

            let mut transposed = vec![T::NAN; count * copies_size(columns)];
            let mut acc = before.clone();
            let target = StridedMut { data: &mut acc, row, col };
            rows_contract(simd, table_rows, &coefficients, count, &mut transposed, target);
            let sum = |l: usize, j: usize| {
                (0..count).map(|i| at(rows[i], l) * coefficients[j * count + i].to_f64()).sum::<f64>()
            };
            for l in 0..width {
                for j in 0..columns {
                    let index = l * row + j * col;
                    let expected = before[index].to_f64() + sum(l, j);
                    assert_close(&[acc[index]], &[expected], 3.0 * count as f64, "contract");
                }
            }
        }
    });
}

#[test]
fn products_with_a_matrix() {
    // The rows are longer than a panel; the sizes are and are not multiples of vectors and groups.
    let sizes = [(1, 2, 1), (3, 5, 4), (6, 8, 6), (8, 16, 13), (20, 17, 7), (54, 33, 65), (1030, 9, 8)];
    for simd in Simd::all() {
        for (width, columns, count) in sizes {
            products_with_a_matrix_work::<f32>(simd, width, columns, count);
            products_with_a_matrix_work::<f64>(simd, width, columns, count);
        }
    }
}

/// The end of a row is read twice, but an infinite number counts once.
#[test]
fn infinite_numbers_stay_infinite() {
    let mut table = numbers::<f32>(1, 11);
    table[9] = f32::INFINITY;
    let mut out = [0.0];
    rows_dot(Simd::new(), &table, 11, RowSelection::Range(0), &[1.0; 11], &mut out);
    assert!(out[0] == f32::INFINITY);
    table[5] = f32::INFINITY;
    let mut acc = [0.0; 11];
    rows_accumulate(Simd::new(), &table, 11, RowSelection::Range(0), &[1.0], &mut acc);
    assert_eq!(acc.as_slice(), table.as_slice());
}

fn copies_work<S: Number, T: Element>(simd: Simd, number: impl Fn(f64) -> S) {
    let length = 1100;
    for width in [1, 3, 8, 54] {
        let table: Vec<S> = numbers::<f64>(5, width * length).into_iter().map(&number).collect();
        for count in LENGTHS {
            for_all_selections(length, count, |selection, rows| {
                let mut transposed = vec![T::NAN; width * count];
                rows_transpose(simd, &table, width, selection, &mut transposed);
                for (i, row) in rows.iter().enumerate() {
                    for j in 0..width {
                        let expected = table[row * width + j].element::<T>();
                        assert!(transposed[j * count + i] == expected);
                    }
                }
            });
        }
    }
}

#[test]
fn transposition_of_all_number_types() {
    for simd in Simd::all() {
        copies_work::<f32, f32>(simd, |x| x as f32);
        copies_work::<f64, f32>(simd, |x| x);
        copies_work::<f32, f64>(simd, |x| x as f32);
        copies_work::<f64, f64>(simd, |x| x);
        copies_work::<i32, f32>(simd, |x| x as i32);
        copies_work::<i64, f64>(simd, |x| x as i64);
        copies_work::<u8, f32>(simd, |x| u8::from(x > 0.0));
        copies_work::<bool, f64>(simd, |x| x > 0.0);
    }
}

#[test]
fn empty_rows() {
    let mut out = [7.0_f64; 3];
    rows_dot(Simd::new(), &[], 0, RowSelection::Range(0), &[], &mut out);
    assert_eq!(out.map(f64::to_bits), [0; 3]);
    rows_transpose::<f64, f64>(Simd::new(), &[], 0, RowSelection::Range(0), &mut []);
}

#[test]
#[should_panic(expected = "out of range")]
fn row_out_of_range_panics() {
    rows_dot(Simd::new(), &[1.0_f32; 20], 10, RowSelection::List(&[0, 2]), &[1.0; 10], &mut [0.0; 2]);
}
