//! Compares the kernels with loops over elements and lanes.

use super::super::testing::{LENGTHS, assert_close, exact_sum, numbers};
use super::*;

fn products_work<T: Element>(simd: Simd) {
    for t in LENGTHS {
        for [m, k, n] in [[1, 1, 1], [1, 3, 5], [4, 2, 1], [3, 4, 9], [2, 0, 3], [5, 1, 4]] {
            for (left, right) in [(true, true), (true, false), (false, true), (false, false)] {
                let size = |elements: usize, lanes: bool| elements * if lanes { t } else { 1 };
                let (a, b) = (numbers::<T>(1, size(m * k, left)), numbers::<T>(2, size(k * n, right)));
                // The right factor is in column-major order.
                let a = Matrix { data: &a, row: k, col: 1, lanes: left };
                let b = Matrix { data: &b, row: 1, col: k, lanes: right };
                let at = |x: &Matrix<'_, T>, i: usize, j: usize, lane: usize| {
                    let number = i * x.row + j * x.col;
                    x.data[if x.lanes { number * t + lane } else { number }].to_f64()
                };
                let product = |i: usize, j: usize, lane: usize| -> f64 {
                    (0..k).map(|l| at(&a, i, l, lane) * at(&b, l, j, lane)).sum()
                };
                let mut out = vec![T::NAN; m * n * t];
                lanes_matmul(simd, [m, k, n], t, a, b, &mut out);
                let expected: Vec<f64> =
                    (0..m * n * t).map(|index| product(index / t / n, index / t % n, index % t)).collect();
                assert_close(&out, &expected, 9.0 * k as f64, "matmul");

                let before = numbers::<T>(3, m * n);
                let mut acc = before.clone();
                lanes_contract(simd, [m, k, n], t, a, b, &mut acc);
                let sum = |index: usize| exact_sum((0..t).map(|lane| product(index / n, index % n, lane)));
                let expected: Vec<f64> = (0..m * n).map(|index| before[index].to_f64() + sum(index)).collect();
                assert_close(&acc, &expected, 9.0 * (k * t) as f64, "contract");
            }
        }
    }
}

#[test]
fn products() {
    for simd in Simd::all() {
        products_work::<f32>(simd);
        products_work::<f64>(simd);
    }
}

fn shared_products_work<T: Element>(simd: Simd) {
    for [m, k, n] in [[1, 1, 1], [1, 7, 20], [20, 7, 1], [3, 0, 2], [5, 9, 33], [13, 4, 3], [1, 9, 1]] {
        let (a, b) = (numbers::<T>(1, m * k), numbers::<T>(2, k * n));
        for transposed in [[false, false], [true, false], [false, true], [true, true]] {
            let matrix = |data, [rows, columns]: [usize; 2], transposed| {
                let (row, col) = if transposed { (1, rows) } else { (columns, 1) };
                Matrix { data, row, col, lanes: false }
            };
            let (left, right) = (matrix(&a, [m, k], transposed[0]), matrix(&b, [k, n], transposed[1]));
            let at = |x: &Matrix<'_, T>, i: usize, j: usize| x.data[i * x.row + j * x.col].to_f64();
            let product = |i: usize, j: usize| (0..k).map(|l| at(&left, i, l) * at(&right, l, j)).sum::<f64>();
            let mut out = vec![T::NAN; m * n];
            shared_matmul(simd, [m, k, n], left, right, &mut out);
            let expected: Vec<f64> = (0..m * n).map(|index| product(index / n, index % n)).collect();
            assert_close(&out, &expected, 9.0 * k as f64, "shared");
        }
    }
}

#[test]
fn shared_products() {
    for simd in Simd::all() {
        shared_products_work::<f32>(simd);
        shared_products_work::<f64>(simd);
    }
}
