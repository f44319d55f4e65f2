//! Tests of the specialized instructions against explicit formulas.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::{Call, Output, Outputs, Program, RowSelection};
use super::{Table, compiled, difference};
use crate::differentiate::{RowAdjoint, differentiate};
use crate::graph::{BinaryOp, Graph, Kind, ReduceOp, Shape, UnaryOp};

#[test]
fn index_out_of_range_is_an_error() {
    let mut graph = Graph::new();
    let table = graph.parameter(0, [3]);
    let index = graph.data(4, [], Kind::Int);
    let root = graph.select(table, index, 0).unwrap();
    assert_eq!(*graph.shape(root), Shape::per_row([]));
    let outputs = Outputs { row: Some(root), ..Outputs::default() };
    let leaf = 0..3;
    let mut program = Program::<f64>::compile(&graph, &outputs, std::slice::from_ref(&leaf)).unwrap();
    let data = Table::<f64> { floats: vec![], integers: vec![0, 2, 3], masks: vec![] };
    let mut run = |selection| {
        let call = Call { theta: &[1.0, 2.0, 4.0], columns: &data, selection, rows: 2, weights: None, scale: 1.0 };
        program.run(call, Output::Total)
    };
    assert!((run(RowSelection::Range(0)).unwrap() - 5.0).abs() < 1e-15);
    assert_eq!(
        run(RowSelection::Range(1)).unwrap_err().to_string(),
        "the index 3 is out of range: the axis has length 3"
    );
}

/// (xᵢᵀβ)² has the gradient 2 (xᵢᵀβ) xᵢ: a multiple of the data row, which is read in place.
#[test]
fn gradient_proportional_to_the_data_row() {
    const WIDTH: usize = 9;
    let mut graph = Graph::new();
    let (beta, x) = (graph.parameter(0, [WIDTH]), graph.data(0, [WIDTH], Kind::Float));
    let (row, column) = (graph.reshape(x, [1, WIDTH]).unwrap(), graph.reshape(beta, [WIDTH, 1]).unwrap());
    let product = graph.matmul(row, column).unwrap();
    let product = graph.reshape(product, []).unwrap();
    let root = graph.unary(UnaryOp::Square, product);
    let seed = graph.scalar(1.0);
    let gradient = differentiate(&mut graph, root, seed, &[beta], RowAdjoint::Keep).unwrap();
    let outputs = Outputs { row: Some(root), gradient, ..Outputs::default() };
    let leaf = 0..WIDTH;
    let mut program = compiled::<f64>(&graph, &outputs, std::slice::from_ref(&leaf));
    assert!(!program.plan().instructions[1].iter().any(|name| name == "LoadData"), "{:?}", program.plan());

    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut numbers = |count: usize| (0..count).map(|_| rng.random::<f64>() - 0.5).collect::<Vec<_>>();
    let (theta, x) = (numbers(WIDTH), numbers(WIDTH * 50));
    let selection: Vec<usize> = (0..40).map(|i| (i * 7) % 50).collect();
    let data = Table { floats: vec![x.clone()], integers: vec![], masks: vec![] };
    for selection in [RowSelection::List(&selection), RowSelection::Range(3)] {
        let call = Call { theta: &theta, columns: &data, selection, rows: 40, weights: None, scale: 0.5 };
        let mut found = vec![1.0; 40 * WIDTH];
        program.run(call, Output::RowGradients(&mut found)).unwrap();
        for (i, found) in found.chunks(WIDTH).enumerate() {
            let line = if let RowSelection::List(selection) = selection { selection[i] } else { 3 + i };
            let x = &x[line * WIDTH..][..WIDTH];
            let product: f64 = x.iter().zip(&theta).map(|(x, beta)| x * beta).sum();
            let exact: Vec<f64> = x.iter().map(|x| 0.5 * 2.0 * product * x).collect();
            assert!(difference(found, &exact) < 1e-14, "row {i}: {found:?} {exact:?}");
        }
    }
}

/// (yᵢ − U(uᵢ)ᵀ V(uᵢ))² and its gradient. The rows of both matrices are read and written in place.
#[test]
fn products_of_selected_rows() {
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
    let gradient = differentiate(&mut graph, root, seed, &matrices, RowAdjoint::Sum).unwrap();
    let outputs = Outputs { total: Some(root), gradient, ..Outputs::default() };
    let leaves = [0..LENGTHS[0] * WIDTH, LENGTHS[0] * WIDTH..(LENGTHS[0] + LENGTHS[1]) * WIDTH];
    let mut program = compiled::<f64>(&graph, &outputs, &leaves);
    let names = &program.plan().instructions[1];
    let count = |expected: &str| names.iter().filter(|name| *name == expected).count();
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
        let call =
            Call { theta: &theta, columns: data, selection: RowSelection::Range(0), rows: n, weights: None, scale };
        program.run(call, Output::Gradient(found))
    };
    assert!(difference(&[run(&data, &mut found).unwrap()], &[total]) < 1e-13);
    assert!(difference(&found, &exact) < 1e-13, "{found:?} {exact:?}");
    data.integers[77] = LENGTHS[0] as i32;
    let error = run(&data, &mut found).unwrap_err();
    assert_eq!(error.to_string(), "the index 4 is out of range: the axis has length 4");
}
