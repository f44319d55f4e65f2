//! Compares the gradient of every operation with central differences of the reference evaluation: shared and per row,
//! with and without broadcasting.

mod edge_cases;
mod operations;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{RowAdjoint, differentiate};
use crate::graph::{Graph, Kind, NodeId, UnaryOp};
use crate::reference::{Inputs, evaluate_nodes};

const ROWS: usize = 3;

type Build<'a> = &'a dyn Fn(&mut Graph, &[NodeId]) -> NodeId;

/// A case with two arguments in (−1, 1), from parameters with these dimensions, per row or shared.
struct Case {
    dims: [&'static [usize]; 2],
    per_row: [bool; 2],
}

fn numbers(rng: &mut Xoshiro256PlusPlus, count: usize) -> Vec<f64> {
    (0..count).map(|_| rng.random_range(-1.5..1.5)).collect()
}

fn check(name: &str, case: &Case, build: Build<'_>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(name.bytes().map(u64::from).sum());
    let mut graph = Graph::new();
    let mut inputs = Inputs { weights: vec![1.0; ROWS], ..Inputs::default() };
    let (mut leaves, mut arguments) = (vec![], vec![]);
    for (leaf, (dims, per_row)) in case.dims.iter().zip(case.per_row).enumerate() {
        let size = dims.iter().product::<usize>();
        inputs.parameters.push(numbers(&mut rng, size));
        inputs.data.push(numbers(&mut rng, ROWS * size));
        let parameter = graph.parameter(leaf, *dims);
        let data = graph.data(leaf, *dims, Kind::Float);
        let x = if per_row { graph.add(parameter, data).unwrap() } else { parameter };
        leaves.push(parameter);
        arguments.push(graph.unary(UnaryOp::Sin, x));
    }
    let root = build(&mut graph, &arguments);
    let shape = graph.shape(root).clone();
    inputs.data.push(numbers(&mut rng, ROWS * shape.size()));
    let varied = if shape.rows {
        graph.data(2, shape.dims.clone(), Kind::Float)
    } else {
        let values = numbers(&mut rng, shape.size());
        graph.constant(values, shape.dims.clone(), Kind::Float).unwrap()
    };
    let plain = graph.scalar(0.7);
    for seed in [varied, plain] {
        compare_with_differences(name, &mut graph, &inputs, root, seed, &leaves);
    }
}

fn total(graph: &mut Graph, root: NodeId, seed: NodeId) -> NodeId {
    let product = graph.mul(root, seed).unwrap();
    let axes = 0..graph.shape(product).rank();
    let sum = graph.sum(product, axes).unwrap();
    graph.sum_rows(sum)
}

fn compare_with_differences(
    name: &str,
    graph: &mut Graph,
    inputs: &Inputs,
    root: NodeId,
    seed: NodeId,
    leaves: &[NodeId],
) {
    let sum = total(graph, root, seed);
    let summed = differentiate(graph, root, seed, leaves, RowAdjoint::Sum).unwrap();
    let kept = differentiate(graph, root, seed, leaves, RowAdjoint::Keep).unwrap();
    for (leaf, (summed, kept)) in summed.iter().zip(&kept).enumerate() {
        let (Some(summed), Some(kept)) = (summed, kept) else {
            assert!(summed.is_none() && kept.is_none(), "{name}: only one of the gradients");
            continue;
        };
        assert_eq!(graph.shape(*summed), graph.shape(leaves[leaf]), "{name}");
        assert_eq!(graph.shape(*kept).dims, graph.shape(leaves[leaf]).dims, "{name}");
        let values = evaluate_nodes(graph, inputs, ROWS, &[*summed, *kept]).unwrap();
        let rows = if graph.shape(root).rows { ROWS } else { 1 };
        for (i, gradient) in values[0].values.iter().enumerate() {
            let of_rows: f64 = (0..rows).map(|row| values[1].row(row)[i]).sum();
            assert!((of_rows - gradient).abs() < 1e-12 * (1.0 + gradient.abs()), "{name}: rows {of_rows} {gradient}");
            let at = |step: f64| {
                let mut moved = inputs.clone();
                moved.parameters[leaf][i] += step;
                evaluate_nodes(graph, &moved, ROWS, &[sum]).unwrap()[0].values[0]
            };
            // The error is of fourth order: 1e-3⁴ times a fifth derivative, plus rounding of size 1e-16/1e-3.
            let h = 1e-3;
            let difference = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
            let error = (difference - gradient).abs();
            assert!(error < 2e-8 * (1.0 + gradient.abs()), "{name}, leaf {leaf}[{i}]: {gradient} and {difference}");
        }
    }
}

fn mixes(dims: &'static [[&'static [usize]; 2]]) -> impl Iterator<Item = Case> {
    dims.iter().flat_map(|dims| (0..4).map(|mix| Case { dims: *dims, per_row: [mix & 1 == 1, mix & 2 == 2] }))
}

const PAIRS: &[[&[usize]; 2]] =
    &[[&[], &[]], [&[3], &[3]], [&[2, 3], &[3]], [&[], &[2, 2]], [&[2, 1], &[1, 3]], [&[3], &[1]]];
