//! Zeros, equal elements, and sums over the observations.

use super::ROWS;
use crate::differentiate::{RowAdjoint, differentiate};
use crate::error::Error;
use crate::graph::{BinaryOp, Graph, Kind, NodeId, ReduceOp, Shape, UnaryOp};
use crate::reference::{Inputs, evaluate_nodes};

#[test]
fn products_with_zeros() {
    let mut graph = Graph::new();
    let x = graph.parameter(0, [4]);
    let y = graph.reduce(ReduceOp::Prod, x, 0).unwrap();
    let one = graph.scalar(1.0);
    let gradient = differentiate(&mut graph, y, one, &[x], RowAdjoint::Sum).unwrap()[0].unwrap();
    let at = |values: &[f64]| {
        let inputs = Inputs { parameters: vec![values.to_vec()], ..Inputs::default() };
        evaluate_nodes(&graph, &inputs, 0, &[gradient]).unwrap()[0].values.clone()
    };
    assert_eq!(at(&[2.0, 0.0, 3.0, 5.0]), [0.0, 30.0, 0.0, 0.0]);
    assert_eq!(at(&[2.0, 0.0, 3.0, 0.0]), [0.0; 4]);
}

#[test]
fn equal_elements_and_powers_of_zero() {
    let mut graph = Graph::new();
    let x = graph.parameter(0, [4]);
    let b = graph.parameter(1, [4]);
    let one = graph.scalar(1.0);
    let max = graph.reduce(ReduceOp::Max, x, 0).unwrap();
    let pair = graph.binary(BinaryOp::Max, x, b).unwrap();
    let relu = graph.unary(UnaryOp::Relu, x);
    let power = graph.binary(BinaryOp::Pow, x, b).unwrap();
    let mut gradient = |root: NodeId, values: [f64; 4], others: [f64; 4]| -> Vec<Vec<f64>> {
        let gradients = differentiate(&mut graph, root, one, &[x, b], RowAdjoint::Sum).unwrap();
        let gradients: Vec<NodeId> = gradients.into_iter().flatten().collect();
        let inputs = Inputs { parameters: vec![values.to_vec(), others.to_vec()], ..Inputs::default() };
        evaluate_nodes(&graph, &inputs, 0, &gradients).unwrap().into_iter().map(|value| value.values).collect()
    };
    let values = [1.0, 3.0, 0.0, 3.0];
    assert_eq!(gradient(max, values, values), [[0.0, 1.0, 0.0, 0.0]]);
    assert_eq!(gradient(pair, values, values), [[1.0; 4], [0.0; 4]]);
    assert_eq!(gradient(relu, values, values), [[1.0, 1.0, 0.0, 1.0]]);
    assert_eq!(gradient(power, [0.0; 4], [0.0, 1.0, 2.0, 3.0]), [[0.0, 1.0, 0.0, 0.0], [0.0; 4]]);
}

#[test]
fn sums_over_rows() {
    // Σᵢ (xᵢ θ)² + 5 θ per row has the gradient Σᵢ 2 xᵢ² θ + 5 n. The gradient per row of a sum over the rows does not
    // exist.
    let mut graph = Graph::new();
    let theta = graph.parameter(0, []);
    let x = graph.data(0, [], Kind::Float);
    let product = graph.mul(x, theta).unwrap();
    let square = graph.unary(UnaryOp::Square, product);
    let plain = graph.affine(theta, 5.0, 0.0);
    let row = graph.add(square, plain).unwrap();
    let sum = graph.sum_rows(row);
    let one = graph.scalar(1.0);
    let gradient = differentiate(&mut graph, sum, one, &[theta, x], RowAdjoint::Sum).unwrap();
    let inputs = Inputs {
        parameters: vec![vec![0.5]],
        data: vec![vec![1.0, 2.0, 3.0]],
        weights: vec![1.0; ROWS],
        ..Inputs::default()
    };
    let values = evaluate_nodes(&graph, &inputs, ROWS, &[gradient[0].unwrap(), gradient[1].unwrap()]).unwrap();
    assert_eq!(values[0].values, [14.0 + 15.0]);
    assert_eq!(values[1].values, [0.5, 1.0, 1.5]);
    assert_eq!(graph.shape(gradient[1].unwrap()), &Shape::per_row([]));
    assert_eq!(differentiate(&mut graph, sum, one, &[theta], RowAdjoint::Keep), Err(Error::MixedRows));
    let data = differentiate(&mut graph, x, one, &[theta], RowAdjoint::Sum).unwrap();
    assert_eq!(data, [None]);
}
