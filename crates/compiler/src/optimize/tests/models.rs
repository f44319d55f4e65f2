//! The effect of the passes on typical models: the number of nodes, and the hoisting of shared computations.

use crate::differentiate::{RowAdjoint, differentiate};
use crate::graph::{BinaryOp, Graph, Kind, NodeId, Op, ReduceOp, UnaryOp};
use crate::optimize::{Optimized, expand_composites, optimize, stabilize};
use crate::reference::{Inputs, evaluate_nodes};

const ROWS: usize = 5;

/// Compiles the value and the gradients of Σ weight · row with all passes, and compares them with those without passes.
fn compile(name: &str, mut graph: Graph, row: NodeId, leaves: &[NodeId], inputs: &Inputs) -> Optimized {
    let stable = stabilize(&graph, &[row]).unwrap();
    let complete = |graph: &mut Graph, row: NodeId, leaves: &[NodeId]| {
        let weight = graph.weight();
        let product = graph.mul(row, weight).unwrap();
        let mut roots = vec![graph.sum_rows(product)];
        roots.extend(differentiate(graph, row, weight, leaves, RowAdjoint::Sum).unwrap().into_iter().flatten());
        roots
    };
    let roots = complete(&mut graph, row, leaves);
    let plain = optimize(&graph, &roots).unwrap().before;
    let mut forward = stable.graph;
    let shapes: Vec<_> = leaves.iter().map(|leaf| graph.shape(*leaf).dims.clone()).collect();
    let leaves: Vec<NodeId> =
        shapes.into_iter().enumerate().map(|(leaf, dims)| forward.parameter(leaf, dims)).collect();
    let better = complete(&mut forward, stable.roots[0], &leaves);
    let done = optimize(&forward, &better).unwrap();
    let per_row = |graph: &Graph| graph.nodes().iter().filter(|node| node.shape.rows).count();
    println!(
        "{name}: {plain} nodes as written, {} stabilized, {} optimized ({} per row)",
        done.before,
        done.after,
        per_row(&done.graph)
    );
    let expanded = expand_composites(&done.graph, &done.roots).unwrap();
    println!("    {} expanded ({} per row)", expanded.after, per_row(&expanded.graph));
    let expected = evaluate_nodes(&graph, inputs, ROWS, &roots).unwrap();
    for found in [&done, &expanded] {
        let values = evaluate_nodes(&found.graph, inputs, ROWS, &found.roots).unwrap();
        for (a, b) in expected.iter().zip(&values).flat_map(|(a, b)| a.values.iter().zip(&b.values)) {
            assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs()), "{name}: {a} became {b}");
        }
    }
    assert!(done.after < plain, "{name}");
    done
}

fn numbers(count: usize, frequency: f64) -> Vec<f64> {
    (0..count).map(|i| (frequency * (i as f64 + 0.3)).sin()).collect()
}

fn count(graph: &Graph, op: &Op) -> usize {
    graph.nodes().iter().filter(|node| node.op == *op).count()
}

#[test]
fn logistic_regression() {
    let mut graph = Graph::new();
    let (theta, bias) = (graph.parameter(0, [3, 1]), graph.parameter(1, [1]));
    let (x, y) = (graph.data(0, [3], Kind::Float), graph.data(1, [], Kind::Float));
    let row = graph.reshape(x, [1, 3]).unwrap();
    let z = graph.matmul(row, theta).unwrap();
    let z = graph.add(z, bias).unwrap();
    let z = graph.reshape(z, []).unwrap();
    let p = graph.unary(UnaryOp::Sigmoid, z);
    let one = graph.scalar(1.0);
    let (q, no) = (graph.sub(one, p).unwrap(), graph.sub(one, y).unwrap());
    let (yes_log, no_log) = (graph.unary(UnaryOp::Log, p), graph.unary(UnaryOp::Log, q));
    let (first, second) = (graph.mul(y, yes_log).unwrap(), graph.mul(no, no_log).unwrap());
    let root = graph.add(first, second).unwrap();
    let labels = vec![0.0, 1.0, 1.0, 0.0, 1.0];
    let inputs = Inputs {
        parameters: vec![numbers(3, 1.0), vec![0.2]],
        data: vec![numbers(15, 2.0), labels],
        weights: vec![1.5; ROWS],
        ..Inputs::default()
    };
    let done = compile("logistic regression", graph, root, &[theta, bias], &inputs);
    // The gradient is a product that is summed over the rows directly.
    let sums = done.graph.nodes().iter().filter(|node| node.op == Op::SumRows);
    let products = sums.filter(|node| done.graph.node(node.inputs[0]).op == Op::Matmul).count();
    assert_eq!(products, 1);
    let expanded = expand_composites(&done.graph, &done.roots).unwrap();
    assert_eq!(count(&expanded.graph, &Op::Unary(UnaryOp::Exp)), 1);
}

#[test]
fn gaussian_mixture() {
    let mut graph = Graph::new();
    let (logits, means, logs) = (graph.parameter(0, [3]), graph.parameter(1, [3, 2]), graph.parameter(2, [3, 1]));
    let x = graph.data(0, [2], Kind::Float);
    let scales = graph.unary(UnaryOp::Exp, logs);
    let difference = graph.sub(x, means).unwrap();
    let z = graph.div(difference, scales).unwrap();
    let square = graph.mul(z, z).unwrap();
    let half = graph.affine(square, -0.5, -0.918_938_533_204_672_7);
    let log_scales = graph.unary(UnaryOp::Log, scales);
    let density = graph.sub(half, log_scales).unwrap();
    let density = graph.reduce(ReduceOp::Sum, density, 1).unwrap();
    let density = graph.reshape(density, [3]).unwrap();
    let weights = graph.log_softmax(logits, 0).unwrap();
    let joint = graph.add(weights, density).unwrap();
    let largest = graph.reduce(ReduceOp::Max, joint, 0).unwrap();
    let centered = graph.sub(joint, largest).unwrap();
    let exp = graph.unary(UnaryOp::Exp, centered);
    let sum = graph.reduce(ReduceOp::Sum, exp, 0).unwrap();
    let log = graph.unary(UnaryOp::Log, sum);
    let root = graph.add(largest, log).unwrap();
    let root = graph.reshape(root, []).unwrap();
    let inputs = Inputs {
        parameters: vec![numbers(3, 1.0), numbers(6, 2.0), numbers(3, 3.0)],
        data: vec![numbers(10, 1.7)],
        weights: vec![2.0; ROWS],
        ..Inputs::default()
    };
    let done = compile("Gaussian mixture", graph, root, &[logits, means, logs], &inputs);
    // No division or logarithm remains per row.
    let per_row = |op: Op| done.graph.nodes().iter().any(|node| node.op == op && node.shape.rows);
    assert!(!per_row(Op::Binary(BinaryOp::Div)) && !per_row(Op::Unary(UnaryOp::Log)));
}

#[test]
fn softmax_network() {
    let mut graph = Graph::new();
    let dims: [&[usize]; 4] = [&[4, 3], &[3], &[3, 5], &[5]];
    let leaves: Vec<NodeId> = dims.iter().enumerate().map(|(leaf, dims)| graph.parameter(leaf, *dims)).collect();
    let (x, label) = (graph.data(0, [4], Kind::Float), graph.data(1, [1], Kind::Int));
    let x = graph.reshape(x, [1, 4]).unwrap();
    let hidden = graph.matmul(x, leaves[0]).unwrap();
    let hidden = graph.add(hidden, leaves[1]).unwrap();
    let hidden = graph.unary(UnaryOp::Tanh, hidden);
    let output = graph.matmul(hidden, leaves[2]).unwrap();
    let output = graph.add(output, leaves[3]).unwrap();
    let output = graph.reshape(output, [5]).unwrap();
    let detached = graph.unary(UnaryOp::Detach, output);
    let largest = graph.reduce(ReduceOp::Max, detached, 0).unwrap();
    let centered = graph.sub(output, largest).unwrap();
    let exp = graph.unary(UnaryOp::Exp, centered);
    let sum = graph.reduce(ReduceOp::Sum, exp, 0).unwrap();
    let log = graph.unary(UnaryOp::Log, sum);
    let log_softmax = graph.sub(centered, log).unwrap();
    let root = graph.gather(log_softmax, label, 0).unwrap();
    let root = graph.reshape(root, []).unwrap();
    let inputs = Inputs {
        parameters: dims.iter().map(|dims| numbers(dims.iter().product(), 1.3)).collect(),
        data: vec![numbers(20, 1.7), vec![0.0, 4.0, 2.0, 1.0, 3.0]],
        weights: vec![0.5; ROWS],
        ..Inputs::default()
    };
    let done = compile("softmax network", graph, root, &leaves, &inputs);
    let expanded = expand_composites(&done.graph, &done.roots).unwrap();
    assert_eq!(count(&expanded.graph, &Op::Unary(UnaryOp::Exp)), 1);
    let largest = |op: &Op| matches!(op, Op::Reduce(ReduceOp::Max, _));
    assert_eq!(expanded.graph.nodes().iter().filter(|node| largest(&node.op)).count(), 1);
}
