//! Compares programs of single operations with the reference evaluation.

use super::super::{Call, Output, Outputs, Program, RowSelection};
use super::{Table, difference};
use crate::graph::{BinaryOp, CompareOp, Graph, Kind, LogicOp, NodeId, ReduceOp, UnaryOp};
use crate::reference::{Inputs, evaluate_nodes};

const ROWS: usize = 50;
const WIDTH: usize = 3;

/// Compares the sum of the elements of an expression of two vectors per row, with numbers in (0.3, 0.7).
fn check(name: &str, build: impl FnOnce(&mut Graph, NodeId, NodeId) -> NodeId) {
    let mut graph = Graph::new();
    let (x, y) = (graph.data(0, [WIDTH], Kind::Float), graph.data(1, [WIDTH], Kind::Float));
    let result = build(&mut graph, x, y);
    let result = graph.cast(result, Kind::Float);
    let sum = graph.sum(result, [0]).unwrap();
    let root = graph.reshape(sum, []).unwrap();
    let outputs = Outputs { row: Some(root), ..Outputs::default() };
    let mut program = Program::<f64>::compile(&graph, &outputs, &[]).unwrap();

    let numbers = |frequency: f64| (0..ROWS * WIDTH).map(|i| 0.5 + 0.2 * (frequency * i as f64).sin()).collect();
    let data: Vec<Vec<f64>> = vec![numbers(1.7), numbers(2.3)];
    let inputs = Inputs { data: data.clone(), weights: vec![1.0; ROWS], ..Inputs::default() };
    let expected = evaluate_nodes(&graph, &inputs, ROWS, &[root]).unwrap();
    let table = Table { floats: data, integers: vec![], masks: vec![] };
    let selection = RowSelection::Range(0);
    let call = Call { theta: &[], columns: &table, selection, rows: ROWS, weights: None, scale: 1.0 };
    let mut found = vec![f64::NAN; ROWS];
    program.run(call, Output::Rows(&mut found)).unwrap();
    assert!(found.iter().all(|value| value.is_finite()), "{name}: {found:?}");
    assert!(difference(&found, &expected[0].values) < 1e-12, "{name}: {found:?}");
}

#[test]
fn unary_operations() {
    for op in UnaryOp::ALL {
        check(&format!("{op:?}"), |graph, x, y| {
            let argument = match op {
                UnaryOp::Acosh => graph.affine(x, 1.0, 1.0),
                UnaryOp::Not => graph.compare(CompareOp::Greater, x, y).unwrap(),
                _ => x,
            };
            graph.unary(*op, argument)
        });
    }
}

#[test]
fn binary_operations() {
    for op in BinaryOp::ALL {
        check(&format!("{op:?}"), |graph, x, y| graph.binary(*op, x, y).unwrap());
    }
    for op in CompareOp::ALL {
        check(&format!("{op:?}"), |graph, x, y| graph.compare(*op, x, y).unwrap());
    }
    for op in LogicOp::ALL {
        check(&format!("{op:?}"), |graph, x, y| {
            let half = graph.scalar(0.5);
            let a = graph.compare(CompareOp::Greater, x, y).unwrap();
            let b = graph.compare(CompareOp::Less, x, half).unwrap();
            graph.logic(*op, a, b).unwrap()
        });
    }
}

#[test]
fn reductions() {
    for op in ReduceOp::ALL {
        check(&format!("{op:?}"), |graph, x, _| graph.reduce(*op, x, 0).unwrap());
    }
}
