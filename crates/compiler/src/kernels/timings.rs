//! Timings of the main kernels: `cargo test --release -p sgmcmc-compiler -- --ignored timings --nocapture`.

use std::hint::black_box;
use std::time::Instant;

use super::testing::{indices, numbers};
use super::*;
use crate::graph::{BinaryOp, ReduceOp, UnaryOp};

/// Returns the nanoseconds per call: the minimum of several means.
fn nanoseconds(mut call: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..10 {
        let start = Instant::now();
        let mut calls = 0;
        while start.elapsed().as_micros() < 400 {
            (0..20).for_each(|_| call());
            calls += 20;
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(calls));
    }
    best
}

fn elementwise_timings<T: Element>(simd: Simd, name: &str) {
    for n in [10, 200, 512] {
        let (a, b) = (numbers::<T>(1, n), numbers::<T>(2, n));
        let mut out = vec![T::ZERO; n];
        let time = nanoseconds(|| {
            binary(simd, BinaryOp::Add, Operand::Slice(black_box(&a)), Operand::Slice(&b), black_box(&mut out));
        });
        print!("{name} {n:4}: add {time:.0}");
        for op in UnaryOp::ALL.iter().copied() {
            let op_name = Function::Unary(op).name();
            let time = nanoseconds(|| unary(simd, op, black_box(&a), black_box(&mut out)));
            print!(", {op_name} {time:.0}");
        }
        let time = nanoseconds(|| {
            black_box(sum(simd, black_box(&a)));
        });
        print!(", sum {time:.0}");
        let time = nanoseconds(|| {
            black_box(dot(simd, black_box(&a), &b));
        });
        print!(", dot {time:.0}");
        let time = nanoseconds(|| {
            black_box(reduce(simd, ReduceOp::Max, black_box(&a)));
        });
        print!(", max {time:.0}");
        println!();
    }
}

fn row_timings<T: Element>(simd: Simd, name: &str) {
    for (count, width, length) in [(500, 54, 100_000), (10, 123, 32_561), (500, 3, 100_000)] {
        let table = numbers::<T>(3, width * length);
        let vector = numbers::<T>(4, width);
        let lists: Vec<Vec<usize>> = (0..64).map(|seed| indices(seed, count, length)).collect();
        let mut out = vec![T::ZERO; count];
        let mut acc = vec![T::ZERO; width];
        let mut all = vec![T::ZERO; width * count];
        let mut round = 0;
        let mut next = || {
            round += 1;
            RowSelection::List(&lists[round % lists.len()])
        };
        let both = nanoseconds(|| {
            let selection = next();
            rows_dot(simd, &table, width, selection, &vector, &mut out);
            rows_accumulate(simd, &table, width, selection, &out, black_box(&mut acc));
        });
        let fetched = nanoseconds(|| {
            let selection = next();
            prefetch(&table, width, selection, count);
            rows_dot(simd, &table, width, selection, &vector, &mut out);
            rows_accumulate(simd, &table, width, selection, &out, black_box(&mut acc));
        });
        let product = nanoseconds(|| rows_dot(simd, &table, width, next(), &vector, black_box(&mut out)));
        let near = nanoseconds(|| rows_dot(simd, &table, width, RowSelection::Range(7), &vector, black_box(&mut out)));
        let transposed = nanoseconds(|| rows_transpose(simd, &table, width, next(), black_box(&mut all)));
        println!(
            "{name} {count} rows of {width} of {length}: dot + accumulate {both:.0}, prefetched {fetched:.0}, dot {product:.0}, \
             dot of neighbors {near:.0}, transpose {transposed:.0} ns"
        );
    }
}

fn matrix_timings<T: Element>(simd: Simd, name: &str) {
    for ([m, k, n], t) in [([1, 20, 10], 256), ([4, 4, 4], 100), ([16, 16, 1], 256)] {
        let a = numbers::<T>(5, m * k * t);
        let b = numbers::<T>(6, k * n * t);
        let mut out = vec![T::ZERO; m * n * t];
        let mut acc = vec![T::ZERO; m * n];
        for (left, right) in [(true, false), (false, true), (true, true)] {
            let a = Matrix { data: &a, row: k, col: 1, lanes: left };
            let b = Matrix { data: &b, row: n, col: 1, lanes: right };
            let product = nanoseconds(|| lanes_matmul(simd, [m, k, n], t, a, b, black_box(&mut out)));
            let contracted = nanoseconds(|| lanes_contract(simd, [m, k, n], t, a, b, black_box(&mut acc)));
            let work = 2.0 * (m * k * n * t) as f64;
            println!(
                "{name} {m}x{k}x{n}, {t} lanes {left} {right}: matmul {product:.0} ns ({:.1} Gflop/s), contract {contracted:.0} ns \
                 ({:.1} Gflop/s)",
                work / product,
                work / contracted
            );
        }
    }
}

fn row_matrix_timings<T: Element>(simd: Simd, name: &str) {
    let (width, columns, length) = (784, 100, 20_000);
    let table = numbers::<T>(3, width * length);
    let matrix = numbers::<T>(4, width * columns);
    for t in [48, 64, 128, 250] {
        let lists: Vec<Vec<usize>> = (0..64).map(|seed| indices(seed, t, length)).collect();
        let mut round = 0;
        let (mut panel, mut transposed) =
            (vec![T::ZERO; panels_size(width, columns)], vec![T::ZERO; copies_size(columns) * t]);
        let (mut out, mut acc) = (vec![T::ZERO; columns * t], vec![T::ZERO; width * columns]);
        let weights = Strided { data: &matrix, row: columns, col: 1 };
        let product = nanoseconds(|| {
            round += 1;
            let selection = RowSelection::List(&lists[round % lists.len()]);
            let rows = Rows { table: table.as_slice(), width, selection };
            rows_multiply(simd, rows, weights, &mut panel, black_box(&mut out), t);
        });
        let both = nanoseconds(|| {
            round += 1;
            let selection = RowSelection::List(&lists[round % lists.len()]);
            let rows = Rows { table: table.as_slice(), width, selection };
            rows_multiply(simd, rows, weights, &mut panel, black_box(&mut out), t);
            let target = StridedMut { data: &mut acc, row: columns, col: 1 };
            rows_contract(simd, rows, &out, t, &mut transposed, target);
        });
        let work = 2.0 * (width * columns * t) as f64;
        println!(
            "{name} {t} rows of {width} times {columns}: multiply {:.1}, contract {:.1} Gflop/s",
            work / product,
            work / (both - product)
        );
    }
}

#[test]
#[ignore = "prints times, for release builds"]
fn timings() {
    let simd = Simd::new();
    elementwise_timings::<f32>(simd, "f32");
    elementwise_timings::<f64>(simd, "f64");
    row_timings::<f32>(simd, "f32");
    row_timings::<f64>(simd, "f64");
    row_matrix_timings::<f32>(simd, "f32");
    row_matrix_timings::<f64>(simd, "f64");
    matrix_timings::<f32>(simd, "f32");
    matrix_timings::<f64>(simd, "f64");
}
