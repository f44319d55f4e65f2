//! Every accurate form is recognized in its common spellings, and is accurate where the original expression is not.

use crate::differentiate::{RowAdjoint, differentiate};
use crate::graph::{BinaryOp, CompareOp, Graph, Kind, NodeId, Op, ReduceOp, UnaryOp};
use crate::optimize::{expand_composites, optimize, stabilize};
use crate::reference::{Inputs, evaluate_nodes};

const LENGTH: usize = 4;

/// Returns the operations of the expression of a per-row vector after the forward pass.
fn operations(build: impl Fn(&mut Graph, NodeId) -> NodeId) -> Vec<Op> {
    let mut graph = Graph::new();
    let x = graph.data(0, [LENGTH], Kind::Float);
    let root = build(&mut graph, x);
    let done = stabilize(&graph, &[root]).unwrap();
    done.graph.nodes().iter().skip(1).map(|node| node.op.clone()).collect()
}

/// Returns the value and the gradient of the expression, as written and after all passes.
fn value_and_gradient(x: &[f64], build: impl Fn(&mut Graph, NodeId) -> NodeId) -> [Vec<f64>; 2] {
    let mut graph = Graph::new();
    let leaf = graph.data(0, [x.len()], Kind::Float);
    let root = build(&mut graph, leaf);
    let inputs = Inputs { data: vec![x.to_vec()], weights: vec![1.0], ..Inputs::default() };
    let complete = |graph: &mut Graph, root: NodeId| {
        let leaf = graph.data(0, [x.len()], Kind::Float);
        let one = graph.scalar(1.0);
        let gradient = differentiate(graph, root, one, &[leaf], RowAdjoint::Sum).unwrap()[0].unwrap();
        [root, gradient]
    };
    let values = |graph: &Graph, roots: &[NodeId]| -> Vec<f64> {
        let values = evaluate_nodes(graph, &inputs, 1, roots).unwrap();
        values.into_iter().flat_map(|value| value.values).collect()
    };
    let stable = stabilize(&graph, &[root]).unwrap();
    let mut forward = stable.graph;
    let roots = complete(&mut forward, stable.roots[0]);
    let done = optimize(&forward, &roots).unwrap();
    let done = expand_composites(&done.graph, &done.roots).unwrap();
    let roots = complete(&mut graph, root);
    [values(&graph, &roots), values(&done.graph, &done.roots)]
}

fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!(a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-14 * b.abs(), "{found:?} instead of {expected:?}");
    }
}

fn softplus(graph: &mut Graph, x: NodeId) -> NodeId {
    let exp = graph.unary(UnaryOp::Exp, x);
    let sum = graph.affine(exp, 1.0, 1.0);
    graph.unary(UnaryOp::Log, sum)
}

fn sum_exp(graph: &mut Graph, x: NodeId) -> NodeId {
    let exp = graph.unary(UnaryOp::Exp, x);
    graph.reduce(ReduceOp::Sum, exp, 0).unwrap()
}

/// Returns log Σ exp with the maximum subtracted, with or without a detached maximum and a squeezed sum.
fn shifted_log_sum_exp(graph: &mut Graph, x: NodeId, detached: bool, squeezed: bool) -> NodeId {
    let from = if detached { graph.unary(UnaryOp::Detach, x) } else { x };
    let largest = graph.reduce(ReduceOp::Max, from, 0).unwrap();
    let wide = graph.expand(largest, [graph.shape(x).size()]).unwrap();
    let centered = graph.sub(x, wide).unwrap();
    let mut sum = sum_exp(graph, centered);
    let mut largest = largest;
    if squeezed {
        sum = graph.reshape(sum, []).unwrap();
        largest = graph.reshape(largest, []).unwrap();
    }
    let log = graph.unary(UnaryOp::Log, sum);
    graph.add(log, largest).unwrap()
}

/// Returns Burn's softplus: the argument of the exponential is capped, and the identity is used above the threshold.
fn guarded(graph: &mut Graph, x: NodeId, beta: f64, capped: bool) -> NodeId {
    let factor = graph.scalar(beta);
    let scaled = graph.mul(x, factor).unwrap();
    let threshold = graph.scalar(20.0);
    let mask = graph.compare(CompareOp::Greater, scaled, threshold).unwrap();
    let inside = if capped { graph.select_where(mask, threshold, scaled).unwrap() } else { scaled };
    let exp = graph.unary(UnaryOp::Exp, inside);
    let log = graph.unary(UnaryOp::Log1p, exp);
    let other = graph.div(log, factor).unwrap();
    graph.select_where(mask, x, other).unwrap()
}

fn minus(scale: f64) -> Op {
    let number = crate::graph::Number;
    Op::Unary(UnaryOp::Affine { scale: number(scale), shift: number(0.0) })
}

#[test]
fn sigmoids() {
    let log_sigmoid = Op::Unary(UnaryOp::LogSigmoid);
    assert_eq!(
        operations(|graph, x| {
            let y = graph.unary(UnaryOp::Sigmoid, x);
            graph.unary(UnaryOp::Log, y)
        }),
        std::slice::from_ref(&log_sigmoid)
    );
    let expected = [minus(-1.0), log_sigmoid.clone(), minus(-1.0)];
    assert_eq!(operations(softplus), expected);
    assert_eq!(
        operations(|graph, x| {
            let exp = graph.unary(UnaryOp::Exp, x);
            graph.unary(UnaryOp::Log1p, exp)
        }),
        expected
    );
    // log(1 − σ(x)), with a tensor of ones.
    assert_eq!(
        operations(|graph, x| {
            let y = graph.unary(UnaryOp::Sigmoid, x);
            let one = graph.full(1.0, [LENGTH], Kind::Float);
            let rest = graph.sub(one, y).unwrap();
            graph.unary(UnaryOp::Log, rest)
        }),
        [minus(-1.0), log_sigmoid]
    );
    assert_eq!(
        operations(|graph, x| {
            let opposite = graph.unary(UnaryOp::Neg, x);
            let exp = graph.unary(UnaryOp::Exp, opposite);
            let below = graph.affine(exp, 1.0, 1.0);
            graph.unary(UnaryOp::Recip, below)
        }),
        [Op::Unary(UnaryOp::Sigmoid)]
    );
    let extreme = [-800.0, -40.0, 0.0, 800.0];
    let [plain, better] = value_and_gradient(&extreme, softplus);
    assert!(plain[3].is_infinite() && plain[7].is_nan(), "{plain:?}");
    let tail = (-40_f64).exp();
    assert_near(&better, &[0.0, tail.ln_1p(), 2_f64.ln(), 800.0, 0.0, tail / (1.0 + tail), 0.5, 1.0]);
}

#[test]
fn guarded_softplus() {
    for capped in [true, false] {
        for (beta, inner, outer) in [(1.0, -1.0, -1.0), (2.0, -2.0, -0.5)] {
            let expected = [minus(inner), Op::Unary(UnaryOp::LogSigmoid), minus(outer)];
            assert_eq!(operations(|graph, x| guarded(graph, x, beta, capped)), expected, "{beta} {capped}");
            // The rule also applies to an affine argument.
            let of_affine = operations(|graph, x| {
                let x = graph.affine(x, 3.0, 1.0);
                guarded(graph, x, beta, capped)
            });
            assert_eq!(of_affine.len(), 3, "{of_affine:?}");
        }
        let [_, found] = value_and_gradient(&[-30.0, 1.0, 30.0], |graph, x| guarded(graph, x, 1.0, capped));
        let tail = (-30_f64).exp();
        let middle = 1_f64.exp();
        let sigmoid = |e: f64| e / (1.0 + e);
        let values = [tail.ln_1p(), middle.ln_1p(), 30.0 + tail.ln_1p()];
        let slopes = [sigmoid(tail), sigmoid(middle), 1.0 / (1.0 + tail)];
        assert_near(&found, &[values, slopes].concat());
    }
    // A low threshold is not a guard against overflow.
    let low = operations(|graph, x| {
        let one = graph.scalar(1.0);
        let mask = graph.compare(CompareOp::Greater, x, one).unwrap();
        let other = softplus(graph, x);
        graph.select_where(mask, x, other).unwrap()
    });
    assert!(low.contains(&Op::Where));
}

#[test]
fn log_sum_exp() {
    let plain = |graph: &mut Graph, x: NodeId| {
        let sum = sum_exp(graph, x);
        graph.unary(UnaryOp::Log, sum)
    };
    assert_eq!(operations(plain), [Op::LogSumExp(0)]);
    for detached in [false, true] {
        assert_eq!(operations(|graph, x| shifted_log_sum_exp(graph, x, detached, false)), [Op::LogSumExp(0)]);
        let squeezed = operations(|graph, x| shifted_log_sum_exp(graph, x, detached, true));
        assert_eq!(squeezed, [Op::LogSumExp(0), Op::Reshape]);
    }
    // With weights that are themselves a softmax: log Σ π exp(x).
    let weighted = operations(|graph, x| {
        let logits = graph.parameter(0, [LENGTH]);
        let weights = graph.softmax(logits, 0).unwrap();
        let exp = graph.unary(UnaryOp::Exp, x);
        let terms = graph.mul(weights, exp).unwrap();
        let sum = graph.reduce(ReduceOp::Sum, terms, 0).unwrap();
        graph.unary(UnaryOp::Log, sum)
    });
    let expected = [Op::Parameter(0), Op::LogSoftmax(0), Op::Binary(BinaryOp::Add), Op::LogSumExp(0)];
    assert_eq!(weighted, expected);
    let [_, found] = value_and_gradient(&[1000.0, 1000.0, -1000.0], plain);
    assert_near(&found, &[1000.0 + 2_f64.ln(), 0.5, 0.5, 0.0]);
    // log Σ exp of −∞ is −∞, not NaN.
    let [_, found] = value_and_gradient(&[f64::NEG_INFINITY; 2], |graph, x| shifted_log_sum_exp(graph, x, true, false));
    assert_near(&found[..1], &[f64::NEG_INFINITY]);
}

#[test]
fn softmaxes() {
    let centered = |graph: &mut Graph, x: NodeId| {
        let detached = graph.unary(UnaryOp::Detach, x);
        let largest = graph.reduce(ReduceOp::Max, detached, 0).unwrap();
        graph.sub(x, largest).unwrap()
    };
    // The definitions of Burn.
    let softmax = |graph: &mut Graph, x: NodeId| {
        let x = centered(graph, x);
        let exp = graph.unary(UnaryOp::Exp, x);
        let sum = graph.reduce(ReduceOp::Sum, exp, 0).unwrap();
        graph.div(exp, sum).unwrap()
    };
    assert_eq!(operations(softmax), [Op::Softmax(0)]);
    let log_softmax = |graph: &mut Graph, x: NodeId| {
        let x = centered(graph, x);
        let sum = sum_exp(graph, x);
        let log = graph.unary(UnaryOp::Log, sum);
        graph.sub(x, log).unwrap()
    };
    assert_eq!(operations(log_softmax), [Op::LogSoftmax(0)]);
    let log_of = operations(|graph, x| {
        let y = softmax(graph, x);
        graph.unary(UnaryOp::Log, y)
    });
    assert_eq!(log_of, [Op::LogSoftmax(0)]);
    let chosen = operations(|graph, x| {
        let y = log_softmax(graph, x);
        let label = graph.data(1, [1], Kind::Int);
        graph.gather(y, label, 0).unwrap()
    });
    assert!(!chosen.contains(&Op::LogSoftmax(0)) && chosen.contains(&Op::LogSumExp(0)), "{chosen:?}");
    let [_, found] = value_and_gradient(&[-1000.0, 1000.0], log_softmax);
    assert_near(&found, &[-2000.0, 0.0, 1.0, -1.0]);
}
