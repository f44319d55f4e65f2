//! Every operation with a gradient.

use super::{PAIRS, check, mixes};
use crate::graph::{BinaryOp, CompareOp, Graph, Kind, NodeId, Number, ReduceOp, Stretch, UnaryOp};

#[test]
fn functions_of_one() {
    let plain = [
        UnaryOp::Neg,
        UnaryOp::Affine { scale: Number(-1.5), shift: Number(0.3) },
        UnaryOp::Square,
        UnaryOp::Power(Number(3.0)),
        UnaryOp::Power(Number(2.0)),
        UnaryOp::Power(Number(1.0)),
        UnaryOp::Power(Number(0.0)),
        UnaryOp::Exp,
        UnaryOp::Expm1,
        UnaryOp::Sigmoid,
        UnaryOp::LogSigmoid,
        UnaryOp::Erf,
        UnaryOp::Sin,
        UnaryOp::Cos,
        UnaryOp::Tan,
        UnaryOp::Atan,
        UnaryOp::Sinh,
        UnaryOp::Cosh,
        UnaryOp::Tanh,
        UnaryOp::Asinh,
        UnaryOp::Detach,
        UnaryOp::Floor,
        UnaryOp::Sign,
    ];
    // Of a number in (0.3, 0.7), or in (1.3, 1.7), or in (0.8, 1.2) with its sign.
    let positive = [
        UnaryOp::Recip,
        UnaryOp::Sqrt,
        UnaryOp::Log,
        UnaryOp::Log1p,
        UnaryOp::Asin,
        UnaryOp::Acos,
        UnaryOp::Atanh,
        UnaryOp::Power(Number(-1.3)),
    ];
    for case in mixes(&[[&[], &[]], [&[2, 3], &[3]]]) {
        for op in plain {
            check(&format!("{op:?}"), &case, &|graph, x| {
                let y = graph.unary(op, x[0]);
                // With constant pieces something must still depend on the other.
                graph.add_of(y, x[1]).unwrap()
            });
        }
        for (op, shift) in positive.map(|op| (op, 0.5)).into_iter().chain([(UnaryOp::Acosh, 1.5)]) {
            check(&format!("{op:?}"), &case, &|graph, x| {
                let inside = graph.affine(x[0], 0.2, shift);
                let y = graph.unary(op, inside);
                graph.mul_of(y, x[1]).unwrap()
            });
        }
        for (op, sign) in [(UnaryOp::Abs, 1.0), (UnaryOp::Abs, -1.0), (UnaryOp::Relu, 1.0), (UnaryOp::Relu, -1.0)] {
            check(&format!("{op:?}{sign}"), &case, &|graph, x| {
                let inside = graph.affine(x[0], 0.2, sign);
                let y = graph.unary(op, inside);
                graph.add_of(y, x[1]).unwrap()
            });
        }
    }
}

#[test]
fn functions_of_two() {
    for case in mixes(PAIRS) {
        for op in [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Max, BinaryOp::Min] {
            check(&format!("{op:?}"), &case, &|graph, x| {
                // Apart by more than the steps, so that no difference crosses the kink.
                let a = graph.unary(UnaryOp::Round, x[0]);
                let a = graph.add_of(a, x[0]).unwrap();
                let b = graph.affine(x[1], 0.05, 0.2);
                graph.binary(op, a, b).unwrap()
            });
        }
        for op in [BinaryOp::Div, BinaryOp::Pow, BinaryOp::Atan2] {
            check(&format!("{op:?}"), &case, &|graph, x| {
                let (a, b) = (graph.affine(x[0], 0.3, 0.8), graph.affine(x[1], 0.3, 0.8));
                graph.binary(op, a, b).unwrap()
            });
        }
        check("Rem", &case, &|graph, x| {
            let (a, b) = (graph.affine(x[0], 0.1, 2.5), graph.affine(x[1], 0.1, 1.0));
            let rem = graph.binary(BinaryOp::Rem, a, b).unwrap();
            graph.mul_of(rem, rem).unwrap()
        });
        check("Pow2", &case, &|graph, x| {
            let two = graph.scalar(2.0);
            let square = graph.binary(BinaryOp::Pow, x[0], two).unwrap();
            graph.add_of(square, x[1]).unwrap()
        });
        check("Where", &case, &|graph, x| {
            let mask = graph.data(0, graph.shape(x[0]).dims.clone(), Kind::Float);
            let zero = graph.scalar(0.0);
            let mask = graph.compare(CompareOp::Greater, mask, zero).unwrap();
            graph.select_where(mask, x[0], x[1]).unwrap()
        });
    }
}

#[test]
fn movements() {
    let stretch = |start, length, step| Stretch { start, length, step };
    for case in mixes(&[[&[2, 3], &[4, 3]]]) {
        check("reshape", &case, &|graph, x| {
            let y = graph.reshape(x[0], [3, 2]).unwrap();
            let y = graph.permute(y, &[1, 0]).unwrap();
            graph.mul_of(y, x[0]).unwrap()
        });
        check("cat", &case, &|graph, x| {
            let y = graph.cat(&[x[0], x[1], x[0]], 0).unwrap();
            graph.mul_of(y, y).unwrap()
        });
        check("slice", &case, &|graph, x| {
            let part = graph.slice(x[1], vec![stretch(3, 2, -2), stretch(0, 3, 1)]).unwrap();
            let product = graph.mul_of(part, x[0]).unwrap();
            graph.unslice(product, vec![stretch(1, 2, 1), stretch(0, 3, 2)], [4, 5]).unwrap()
        });
        check("expand", &case, &|graph, x| {
            let one = graph.slice(x[0], vec![stretch(0, 1, 1), stretch(0, 3, 1)]).unwrap();
            let y = graph.expand(one, [2, 4, 3]).unwrap();
            graph.mul_of(y, x[1]).unwrap()
        });
        check("permute", &case, &|graph, x| {
            let y = graph.reshape(x[1], [2, 2, 3]).unwrap();
            let y = graph.permute(y, &[2, 0, 1]).unwrap();
            graph.unary(UnaryOp::Exp, y)
        });
    }
}

#[test]
fn reductions() {
    for case in mixes(&[[&[2, 3], &[2, 3]], [&[4, 1, 2], &[2]]]) {
        for axis in 0..2 {
            for op in [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min] {
                check(&format!("{op:?}"), &case, &|graph, x| {
                    let square = graph.mul_of(x[0], x[1]).unwrap();
                    graph.reduce(op, square, axis).unwrap()
                });
            }
            check("cumsum", &case, &|graph, x| {
                let sums = graph.cumsum(x[0], axis, true).unwrap();
                let sums = graph.mul_of(sums, x[1]).unwrap();
                graph.cumsum(sums, axis, false).unwrap()
            });
            type Family = fn(&mut Graph, NodeId, usize) -> crate::Result<NodeId>;
            let family: [Family; 3] = [Graph::log_sum_exp, Graph::softmax, Graph::log_softmax];
            for (number, op) in family.into_iter().enumerate() {
                check(&format!("softmax {number}"), &case, &|graph, x| {
                    let x = graph.affine(x[0], 3.0, 0.0);
                    op(graph, x, axis).unwrap()
                });
            }
        }
    }
}

#[test]
fn products_and_indices() {
    let pairs: &[[&[usize]; 2]] = &[[&[2, 3], &[3, 4]], [&[5, 1, 3], &[3, 2]], [&[1, 3], &[2, 3, 1]]];
    for case in mixes(pairs) {
        check("matmul", &case, &|graph, x| graph.matmul(x[0], x[1]).unwrap());
    }
    for case in mixes(&[[&[3, 2], &[3, 2]]]) {
        for axis in 0..2 {
            let index = move |graph: &mut Graph, per_row: bool, dims: &[usize]| {
                let shared: Vec<f64> = (0..dims.iter().product()).map(|i: usize| (i % 2) as f64).collect();
                let shared = graph.constant(shared, dims, Kind::Int).unwrap();
                let data = graph.data(0, [3, 2], Kind::Float);
                let part = graph.slice(data, vec![Stretch::all(1), Stretch::all(1)]).unwrap();
                let part = graph.reshape(part, []).unwrap();
                let zero = graph.scalar(0.0);
                let flip = graph.compare(CompareOp::Greater, part, zero).unwrap();
                let flip = graph.cast(flip, Kind::Int);
                if !per_row {
                    return shared;
                }
                let one = graph.full(1.0, [], Kind::Int);
                let rest = graph.binary(BinaryOp::Sub, one, shared).unwrap();
                let mask = graph.cast(flip, Kind::Mask);
                graph.select_where(mask, rest, shared).unwrap()
            };
            for per_row in [false, true] {
                if !case.per_row[0] {
                    check("select", &case, &|graph, x| {
                        let at = index(graph, per_row, &[2, 2]);
                        let chosen = graph.select(x[0], at, axis).unwrap();
                        graph.mul_of(chosen, chosen).unwrap()
                    });
                }
                check("gather", &case, &|graph, x| {
                    let mut dims = [3, 2];
                    dims[axis] = 4;
                    let at = index(graph, per_row, &dims);
                    let chosen = graph.gather(x[0], at, axis).unwrap();
                    let spread = graph.gather_adjoint(chosen, at, axis, 2).unwrap();
                    graph.mul_of(spread, spread).unwrap()
                });
                check("select adjoint", &case, &|graph, x| {
                    let at = index(graph, per_row, if axis == 0 { &[3] } else { &[2] });
                    graph.select_adjoint(x[1], at, axis, 2).unwrap()
                });
            }
        }
    }
}
