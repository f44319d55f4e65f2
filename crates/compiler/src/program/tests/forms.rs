//! Forms that have instructions of their own, against what they are by hand.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::{Call, Lines, Outputs, Program, Sink};
use super::{Table, compiled, difference};
use crate::differentiate::{Rows, differentiate};
use crate::graph::{BinaryOp, Graph, Kind, ReduceOp, Shape, UnaryOp};

#[test]
fn an_index_out_of_range_is_an_error() {
    let mut graph = Graph::new();
    let table = graph.parameter(0, [3]);
    let index = graph.data(4, [], Kind::Int);
    let root = graph.select(table, index, 0).unwrap();
    assert_eq!(*graph.shape(root), Shape::per_row([]));
    let outputs = Outputs { row: Some(root), ..Outputs::default() };
    let leaf = 0..3;
    let mut program = Program::<f64>::compile(&graph, &outputs, std::slice::from_ref(&leaf)).unwrap();
    let data = Table::<f64> { floats: vec![], integers: vec![0, 2, 3], masks: vec![] };
    let mut run = |lines| {
        let call = Call { theta: &[1.0, 2.0, 4.0], columns: &data, lines, rows: 2, weights: None, scale: 1.0 };
        program.run(call, Sink::Total)
    };
    assert!((run(Lines::Range(0)).unwrap() - 5.0).abs() < 1e-15);
    assert_eq!(run(Lines::Range(1)).unwrap_err().to_string(), "the index 3 is out of range: the axis has length 3");
}

/// (xᵢᵀβ)² has the gradient 2 (xᵢᵀβ) xᵢ: a multiple of the data row, which is read where it lies.
#[test]
fn a_gradient_that_is_a_multiple_of_the_data_row() {
    const WIDTH: usize = 9;
    let mut graph = Graph::new();
    let (beta, x) = (graph.parameter(0, [WIDTH]), graph.data(0, [WIDTH], Kind::Float));
    let (row, column) = (graph.reshape(x, [1, WIDTH]).unwrap(), graph.reshape(beta, [WIDTH, 1]).unwrap());
    let product = graph.matmul(row, column).unwrap();
    let product = graph.reshape(product, []).unwrap();
    let root = graph.unary(UnaryOp::Square, product);
    let seed = graph.scalar(1.0);
    let gradient = differentiate(&mut graph, root, seed, &[beta], Rows::Keep).unwrap();
    let outputs = Outputs { row: Some(root), gradient, ..Outputs::default() };
    let leaf = 0..WIDTH;
    let mut program = compiled::<f64>(&graph, &outputs, std::slice::from_ref(&leaf));
    assert!(!program.plan().instructions[1].iter().any(|name| name == "LoadData"), "{:?}", program.plan());

    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut numbers = |count: usize| (0..count).map(|_| rng.random::<f64>() - 0.5).collect::<Vec<_>>();
    let (theta, x) = (numbers(WIDTH), numbers(WIDTH * 50));
    let lines: Vec<usize> = (0..40).map(|i| (i * 7) % 50).collect();
    let data = Table { floats: vec![x.clone()], integers: vec![], masks: vec![] };
    for lines in [Lines::List(&lines), Lines::Range(3)] {
        let call = Call { theta: &theta, columns: &data, lines, rows: 40, weights: None, scale: 0.5 };
        let mut found = vec![1.0; 40 * WIDTH];
        program.run(call, Sink::RowGradients(&mut found)).unwrap();
        for (i, found) in found.chunks(WIDTH).enumerate() {
            let line = if let Lines::List(lines) = lines { lines[i] } else { 3 + i };
            let x = &x[line * WIDTH..][..WIDTH];
            let product: f64 = x.iter().zip(&theta).map(|(x, beta)| x * beta).sum();
            let exact: Vec<f64> = x.iter().map(|x| 0.5 * 2.0 * product * x).collect();
            assert!(difference(found, &exact) < 1e-14, "row {i}: {found:?} {exact:?}");
        }
    }
}

/// (yᵢ − U(uᵢ)ᵀ V(uᵢ))² and its gradient, the rows of both matrices read and written where they lie.
#[test]
fn products_of_rows_at_integers() {
    const WIDTH: usize = 9;
    const LENGTHS: [usize; 2] = [4, 5];
    let mut graph = Graph::new();
    let matrices = [0, 1].map(|leaf| graph.parameter(leaf, [LENGTHS[leaf], WIDTH]));
    let (y, at) = (graph.data(0, [], Kind::Float), graph.data(4, [], Kind::Int));
    let [u, v] = matrices.map(|matrix| graph.select(matrix, at, 0).unwrap());
    let product = graph.binary(BinaryOp::Mul, u, v).unwrap();
    let product = graph.reduce(ReduceOp::Sum, product, 0).unwrap();
    let product = graph.reshape(product, []).unwrap();
    let error = graph.binary(BinaryOp::Sub, y, product).unwrap();
    let root = graph.unary(UnaryOp::Square, error);
    let seed = graph.scalar(1.0);
    let gradient = differentiate(&mut graph, root, seed, &matrices, Rows::Sum).unwrap();
    let outputs = Outputs { total: Some(root), gradient, ..Outputs::default() };
    let leaves = [0..LENGTHS[0] * WIDTH, LENGTHS[0] * WIDTH..(LENGTHS[0] + LENGTHS[1]) * WIDTH];
    let mut program = compiled::<f64>(&graph, &outputs, &leaves);
    let names = &program.plan().instructions[1];
    let count = |wanted: &str| names.iter().filter(|name| *name == wanted).count();
    assert_eq!([count("DotSelected"), count("AddSelected"), count("Select"), count("SelectAdjoint")], [1, 2, 0, 0]);

    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    let mut numbers = |count: usize| (0..count).map(|_| rng.random::<f64>() - 0.5).collect::<Vec<_>>();
    let (theta, y, n, scale) = (numbers(leaves[1].end), numbers(600), 600, 0.5);
    let integers: Vec<i32> = (0..n as i32).map(|i| (i * 7 + i / 5) % LENGTHS[0] as i32).collect();
    let (mut total, mut exact) = (0.0, vec![1.0; theta.len()]);
    for (y, at) in y.iter().zip(&integers) {
        let starts = [0, 1].map(|leaf: usize| leaves[leaf].start + *at as usize * WIDTH);
        let error = y - (0..WIDTH).map(|j| theta[starts[0] + j] * theta[starts[1] + j]).sum::<f64>();
        total += scale * error * error;
        for j in 0..WIDTH {
            exact[starts[0] + j] -= scale * 2.0 * error * theta[starts[1] + j];
            exact[starts[1] + j] -= scale * 2.0 * error * theta[starts[0] + j];
        }
    }
    let mut data = Table { floats: vec![y], integers, masks: vec![] };
    let mut found = vec![1.0; theta.len()];
    let mut run = |data: &Table<f64>, found: &mut [f64]| {
        let call = Call { theta: &theta, columns: data, lines: Lines::Range(0), rows: n, weights: None, scale };
        program.run(call, Sink::Gradient(found))
    };
    assert!(difference(&[run(&data, &mut found).unwrap()], &[total]) < 1e-13);
    assert!(difference(&found, &exact) < 1e-13, "{found:?} {exact:?}");
    data.integers[77] = LENGTHS[0] as i32;
    let error = run(&data, &mut found).unwrap_err();
    assert_eq!(error.to_string(), "the index 4 is out of range: the axis has length 4");
}
