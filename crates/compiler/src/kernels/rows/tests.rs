//! Against loops over rows and columns.

use super::super::element::Number;
use super::super::testing::{LENGTHS, assert_close, indices, numbers};
use super::super::{Element, prefetch};
use super::*;

const WIDTHS: [usize; 14] = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 54, 63, 64, 123];

/// Rows one after another and at places all over a table, with the numbers of the rows.
fn for_all_lines(length: usize, count: usize, check: impl Fn(Lines<'_>, &[usize])) {
    let start = (length - count) / 2;
    let range: Vec<usize> = (start..start + count).collect();
    check(Lines::Range(start), &range);
    let list = indices(7, count, length);
    check(Lines::List(&list), &list);
}

fn products_work<T: Element>(simd: Simd) {
    let length = 1200;
    for width in WIDTHS {
        let table = numbers::<T>(1, width * length);
        let vector = numbers::<T>(2, width);
        for count in LENGTHS {
            for_all_lines(length, count, |lines, rows| {
                let at = |row: usize, j: usize| table[row * width + j].to_f64();
                prefetch(&table, width, lines, count);
                let mut out = vec![T::NAN; count];
                rows_dot(simd, &table, width, lines, &vector, &mut out);
                let expected: Vec<f64> =
                    rows.iter().map(|row| (0..width).map(|j| at(*row, j) * vector[j].to_f64()).sum()).collect();
                assert_close(&out, &expected, 3.0 * width as f64, "dot");

                let coefficients = numbers::<T>(3, count);
                let before = numbers::<T>(4, width);
                let mut acc = before.clone();
                rows_accumulate(simd, &table, width, lines, &coefficients, &mut acc);
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

/// An infinite number is read twice at the end of a row and counts once.
#[test]
fn infinite_numbers_stay_infinite() {
    let mut table = numbers::<f32>(1, 11);
    table[9] = f32::INFINITY;
    let mut out = [0.0];
    rows_dot(Simd::new(), &table, 11, Lines::Range(0), &[1.0; 11], &mut out);
    assert!(out[0] == f32::INFINITY);
    table[5] = f32::INFINITY;
    let mut acc = [0.0; 11];
    rows_accumulate(Simd::new(), &table, 11, Lines::Range(0), &[1.0], &mut acc);
    assert_eq!(acc.as_slice(), table.as_slice());
}

fn copies_work<S: Number, T: Element>(simd: Simd, number: impl Fn(f64) -> S) {
    let length = 1100;
    for width in [1, 3, 8, 54] {
        let table: Vec<S> = numbers::<f64>(5, width * length).into_iter().map(&number).collect();
        for count in LENGTHS {
            for_all_lines(length, count, |lines, rows| {
                let mut turned = vec![T::NAN; width * count];
                rows_transpose(simd, &table, width, lines, &mut turned);
                let mut copied = vec![T::NAN; width * count];
                rows_copy(simd, &table, width, lines, &mut copied);
                for (i, row) in rows.iter().enumerate() {
                    for j in 0..width {
                        let expected = table[row * width + j].element::<T>();
                        assert!(turned[j * count + i] == expected && copied[i * width + j] == expected);
                    }
                }
            });
        }
    }
}

#[test]
fn rows_of_all_kinds_of_numbers() {
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
fn rows_of_no_numbers() {
    let mut out = [7.0_f64; 3];
    rows_dot(Simd::new(), &[], 0, Lines::Range(0), &[], &mut out);
    assert_eq!(out.map(f64::to_bits), [0; 3]);
    rows_transpose::<f64, f64>(Simd::new(), &[], 0, Lines::Range(0), &mut []);
    rows_copy::<f64, f64>(Simd::new(), &[], 0, Lines::Range(0), &mut []);
}

#[test]
#[should_panic(expected = "out of range")]
fn a_row_outside_the_table_is_found() {
    rows_dot(Simd::new(), &[1.0_f32; 20], 10, Lines::List(&[0, 2]), &[1.0; 10], &mut [0.0; 2]);
}
