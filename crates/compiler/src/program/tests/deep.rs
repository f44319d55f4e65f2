//! Deep graphs, compiled on a thread with the default stack size.

use std::thread;

use super::super::{Outputs, Program};
use crate::differentiate::{RowAdjoint, differentiate};
use crate::graph::{AxisSlice, BinaryOp, Graph, Kind, NodeId, ReduceOp, UnaryOp};
use crate::optimize::{expand_composites, optimize, stabilize};

/// The number of operations of each graph.
const DEPTH: usize = 100_000;
/// The default stack size of a thread.
const STACK: usize = 2 << 20;

/// Compiles the value and the gradient of x ↦ f(f(… x)). `step` adds the nodes of f(parameter, data, x), all of
/// dimensions `dims`.
fn compiles(depth: usize, dims: &'static [usize], step: fn(&mut Graph, NodeId, NodeId, NodeId) -> NodeId) {
    let body = move || {
        let mut graph = Graph::new();
        let (theta, x) = (graph.parameter(0, dims), graph.data(0, dims, Kind::Float));
        let mut root = (0..depth).fold(x, |v, _| step(&mut graph, theta, x, v));
        root = graph.sum(root, 0..dims.len()).unwrap();
        root = graph.reshape(root, []).unwrap();
        let stable = stabilize(&graph, &[root, theta]).unwrap();
        let (mut graph, root, theta) = (stable.graph, stable.roots[0], stable.roots[1]);
        let seed = graph.scalar(1.0);
        let gradient = differentiate(&mut graph, root, seed, &[theta], RowAdjoint::Sum).unwrap();
        let outputs = Outputs { total: Some(root), gradient, ..Outputs::default() };
        let roots: Vec<NodeId> = outputs.roots().collect();
        let simple = optimize(&graph, &roots).unwrap();
        let simple = expand_composites(&simple.graph, &simple.roots).unwrap();
        let size = dims.iter().product();
        let program =
            Program::<f64>::compile(&simple.graph, &outputs.renamed(simple.roots), std::slice::from_ref(&(0..size)))
                .unwrap();
        assert!(program.plan().buffers > 0);
    };
    thread::Builder::new().stack_size(STACK).spawn(body).unwrap().join().unwrap();
}

#[test]
fn element_wise() {
    compiles(DEPTH / 3, &[], |graph, theta, x, v| {
        let product = graph.binary(BinaryOp::Mul, v, theta).unwrap();
        let activated = graph.unary(UnaryOp::Tanh, product);
        graph.binary(BinaryOp::Add, activated, x).unwrap()
    });
}

#[test]
fn reductions() {
    compiles(DEPTH / 6, &[3], |graph, theta, _, v| {
        let sum = graph.reduce(ReduceOp::Max, v, 0).unwrap();
        let product = graph.binary(BinaryOp::Mul, theta, sum).unwrap();
        graph.unary(UnaryOp::Sin, product)
    });
}

#[test]
fn movements() {
    compiles(DEPTH / 6, &[2, 3], |graph, theta, _, v| {
        let reversed = graph.slice(v, vec![AxisSlice { start: 1, length: 2, step: -1 }, AxisSlice::all(3)]).unwrap();
        let flat = graph.reshape(reversed, [3, 2]).unwrap();
        let back = graph.permute(flat, &[1, 0]).unwrap();
        let product = graph.binary(BinaryOp::Mul, back, theta).unwrap();
        graph.unary(UnaryOp::Sin, product)
    });
}

#[test]
fn matrix_products() {
    compiles(DEPTH / 10, &[2, 2], |graph, theta, _, v| {
        let product = graph.matmul(v, theta).unwrap();
        graph.unary(UnaryOp::Tanh, product)
    });
}

#[test]
fn sums() {
    compiles(DEPTH, &[], |graph, theta, _, v| {
        let sum = graph.binary(BinaryOp::Add, v, theta).unwrap();
        graph.unary(UnaryOp::Detach, sum)
    });
}

#[test]
fn logarithms_of_products() {
    compiles(DEPTH / 10, &[], |graph, theta, _, v| {
        let factor = graph.unary(UnaryOp::Exp, theta);
        let product = graph.binary(BinaryOp::Mul, v, factor).unwrap();
        let log = graph.unary(UnaryOp::Log, product);
        let small = graph.unary(UnaryOp::Tanh, log);
        let power = graph.unary(UnaryOp::Exp, small);
        graph.binary(BinaryOp::Mul, product, power).unwrap()
    });
}
