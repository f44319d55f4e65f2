//! Tests of every operation with a gradient.

use super::{PAIRS, check, mixes};
use crate::graph::{AxisSlice, BinaryOp, CompareOp, Graph, Kind, NodeId, Number, ReduceOp, UnaryOp};

/// The arguments for which the gradient of an operation is tested.
enum Arguments {
    /// Numbers in (−1, 1).
    Any,
    /// Numbers within 0.2 of each of these.
    Near(&'static [f64]),
    /// None: the result is a mask, which has no gradient.
    Mask,
}

/// Returns the arguments for which the operation is differentiable.
fn arguments(op: UnaryOp) -> Arguments {
    match op {
        UnaryOp::Detach
        | UnaryOp::Neg
        | UnaryOp::Affine { .. }
        | UnaryOp::Square
        | UnaryOp::Sign
        | UnaryOp::Exp
        | UnaryOp::Expm1
        | UnaryOp::Sigmoid
        | UnaryOp::LogSigmoid
        | UnaryOp::Erf
        | UnaryOp::Sin
        | UnaryOp::Cos
        | UnaryOp::Tan
        | UnaryOp::Atan
        | UnaryOp::Sinh
        | UnaryOp::Cosh
        | UnaryOp::Tanh
        | UnaryOp::Asinh
        | UnaryOp::Floor => Arguments::Any,
        UnaryOp::Power(power) if power.0 >= 0.0 => Arguments::Any,
        UnaryOp::Power(_)
        | UnaryOp::Recip
        | UnaryOp::Sqrt
        | UnaryOp::Log
        | UnaryOp::Log1p
        | UnaryOp::Asin
        | UnaryOp::Acos
        | UnaryOp::Atanh => Arguments::Near(&[0.5]),
        UnaryOp::Acosh => Arguments::Near(&[1.5]),
        UnaryOp::Abs | UnaryOp::Relu => Arguments::Near(&[1.0, -1.0]),
        UnaryOp::Ceil | UnaryOp::Round | UnaryOp::Trunc => Arguments::Near(&[0.75]),
        UnaryOp::IsNan | UnaryOp::IsInfinite | UnaryOp::Not => Arguments::Mask,
    }
}

#[test]
fn unary_operations() {
    let powers = [2.0, 1.0, 0.0, -1.3].map(|power| UnaryOp::Power(Number(power)));
    for case in mixes(&[[&[], &[]], [&[2, 3], &[3]]]) {
        for op in UnaryOp::ALL.iter().copied().chain(powers) {
            let name = format!("{op:?}");
            match arguments(op) {
                Arguments::Any => check(&name, &case, &|graph, x| {
                    let y = graph.unary(op, x[0]);
                    // The sum depends on the second argument even if the function is locally constant.
                    graph.add(y, x[1]).unwrap()
                }),
                Arguments::Near(centers) => {
                    for center in centers {
                        check(&name, &case, &|graph, x| {
                            let inside = graph.affine(x[0], 0.2, *center);
                            let y = graph.unary(op, inside);
                            graph.mul(y, x[1]).unwrap()
                        });
                    }
                }
                Arguments::Mask => {}
            }
        }
    }
}

#[test]
fn binary_operations() {
    for case in mixes(PAIRS) {
        for op in BinaryOp::ALL {
            check(&format!("{op:?}"), &case, &|graph, x| match op {
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Max | BinaryOp::Min => {
                    // The numbers differ by more than the step, so that no difference quotient crosses the kink.
                    let a = graph.unary(UnaryOp::Round, x[0]);
                    let a = graph.add(a, x[0]).unwrap();
                    let b = graph.affine(x[1], 0.05, 0.2);
                    graph.binary(*op, a, b).unwrap()
                }
                BinaryOp::Div | BinaryOp::Pow | BinaryOp::Atan2 => {
                    let (a, b) = (graph.affine(x[0], 0.3, 0.8), graph.affine(x[1], 0.3, 0.8));
                    graph.binary(*op, a, b).unwrap()
                }
                BinaryOp::Rem => {
                    let (a, b) = (graph.affine(x[0], 0.1, 2.5), graph.affine(x[1], 0.1, 1.0));
                    let rem = graph.binary(*op, a, b).unwrap();
                    graph.mul(rem, rem).unwrap()
                }
            });
        }
        check("Pow2", &case, &|graph, x| {
            let two = graph.scalar(2.0);
            let square = graph.binary(BinaryOp::Pow, x[0], two).unwrap();
            graph.add(square, x[1]).unwrap()
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
    let slice = |start, length, step| AxisSlice { start, length, step };
    for case in mixes(&[[&[2, 3], &[4, 3]]]) {
        check("reshape", &case, &|graph, x| {
            let y = graph.reshape(x[0], [3, 2]).unwrap();
            let y = graph.permute(y, &[1, 0]).unwrap();
            graph.mul(y, x[0]).unwrap()
        });
        check("cat", &case, &|graph, x| {
            let y = graph.cat(&[x[0], x[1], x[0]], 0).unwrap();
            graph.mul(y, y).unwrap()
        });
        check("slice", &case, &|graph, x| {
            let part = graph.slice(x[1], vec![slice(3, 2, -2), slice(0, 3, 1)]).unwrap();
            let product = graph.mul(part, x[0]).unwrap();
            graph.unslice(product, vec![slice(1, 2, 1), slice(0, 3, 2)], [4, 5]).unwrap()
        });
        check("expand", &case, &|graph, x| {
            let one = graph.slice(x[0], vec![slice(0, 1, 1), slice(0, 3, 1)]).unwrap();
            let y = graph.expand(one, [2, 4, 3]).unwrap();
            graph.mul(y, x[1]).unwrap()
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
            for op in ReduceOp::ALL {
                check(&format!("{op:?}"), &case, &|graph, x| {
                    let square = graph.mul(x[0], x[1]).unwrap();
                    graph.reduce(*op, square, axis).unwrap()
                });
            }
            check("cumsum", &case, &|graph, x| {
                let sums = graph.cumsum(x[0], axis, true).unwrap();
                let sums = graph.mul(sums, x[1]).unwrap();
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
fn factors_and_systems() {
    // A positive definite matrix from one with elements in (−1, 1).
    let positive_definite = |graph: &mut Graph, x: NodeId| {
        let transposed = graph.transpose(x).unwrap();
        let product = graph.matmul(x, transposed).unwrap();
        let identity = graph.constant([2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0], [3, 3], Kind::Float).unwrap();
        graph.add(product, identity).unwrap()
    };
    // A triangular matrix with a large diagonal. The elements above the diagonal are ignored.
    let triangular = |graph: &mut Graph, x: NodeId| {
        let diagonal = graph.constant([3.0, 0.0, 0.0, 0.0, -3.0, 0.0, 0.0, 0.0, 3.0], [3, 3], Kind::Float).unwrap();
        graph.add(x, diagonal).unwrap()
    };
    let pairs: &[[&[usize]; 2]] = &[[&[3, 3], &[3, 2]], [&[2, 3, 3], &[3, 1]], [&[3, 3], &[2, 3, 2]]];
    for case in mixes(pairs) {
        check("cholesky", &case, &|graph, x| {
            let matrix = positive_definite(graph, x[0]);
            let factor = graph.cholesky(matrix).unwrap();
            graph.matmul(factor, x[1]).unwrap()
        });
        for transposed in [false, true] {
            check("solve", &case, &|graph, x| {
                let factor = triangular(graph, x[0]);
                graph.solve_lower(factor, x[1], transposed).unwrap()
            });
            check("solve and factor", &case, &|graph, x| {
                let matrix = positive_definite(graph, x[0]);
                let factor = graph.cholesky(matrix).unwrap();
                graph.solve_lower(factor, x[1], transposed).unwrap()
            });
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
                let part = graph.slice(data, vec![AxisSlice::all(1), AxisSlice::all(1)]).unwrap();
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
                        graph.mul(chosen, chosen).unwrap()
                    });
                }
                check("gather", &case, &|graph, x| {
                    let mut dims = [3, 2];
                    dims[axis] = 4;
                    let at = index(graph, per_row, &dims);
                    let chosen = graph.gather(x[0], at, axis).unwrap();
                    let spread = graph.gather_adjoint(chosen, at, axis, 2).unwrap();
                    graph.mul(spread, spread).unwrap()
                });
                check("select adjoint", &case, &|graph, x| {
                    let at = index(graph, per_row, if axis == 0 { &[3] } else { &[2] });
                    graph.select_adjoint(x[1], at, axis, 2).unwrap()
                });
            }
        }
    }
}
