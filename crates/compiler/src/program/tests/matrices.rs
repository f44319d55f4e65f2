//! Compares Cholesky factors and triangular systems with the reference evaluation: shared and per row, single and
//! batched, in value and gradient.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::{Call, Columns, Output, Outputs, Program, Real, RowSelection};
use super::{Table, compiled, difference};
use crate::differentiate::{RowAdjoint, differentiate};
use crate::graph::{Graph, Kind, NodeId, UnaryOp};
use crate::reference::{Inputs, evaluate_nodes};

const ROWS: usize = 70;

/// The dimensions of a factor and of a right-hand side.
const DIMS: [[&[usize]; 2]; 5] =
    [[&[3, 3], &[3, 2]], [&[1, 1], &[1, 1]], [&[7, 7], &[7, 1]], [&[2, 3, 3], &[3, 2]], [&[3, 3], &[2, 3, 1]]];

fn numbers(rng: &mut Xoshiro256PlusPlus, count: usize) -> Vec<f64> {
    (0..count).map(|_| f64::from(rng.random::<f32>() - 0.5)).collect()
}

/// Returns Σ sin of the elements of L⁻ᵀ (L⁻¹ B), where L Lᵀ = M Mᵀ + 2 I.
fn expression(graph: &mut Graph, m: NodeId, b: NodeId) -> NodeId {
    let transposed = graph.transpose(m).unwrap();
    let product = graph.matmul(m, transposed).unwrap();
    let dim = graph.shape(m).dims.last().copied().unwrap();
    let identity: Vec<f64> = (0..dim * dim).map(|at| if at.is_multiple_of(dim + 1) { 2.0 } else { 0.0 }).collect();
    let identity = graph.constant(identity, [dim, dim], Kind::Float).unwrap();
    let matrix = graph.add(product, identity).unwrap();
    let factor = graph.cholesky(matrix).unwrap();
    let half = graph.solve_lower(factor, b, false).unwrap();
    let solved = graph.solve_lower(factor, half, true).unwrap();
    let bounded = graph.unary(UnaryOp::Sin, solved);
    let size = graph.shape(bounded).size();
    let flat = graph.reshape(bounded, [size]).unwrap();
    let sum = graph.sum(flat, [0]).unwrap();
    graph.reshape(sum, []).unwrap()
}

fn compare<T: Real>(
    dims: [&[usize]; 2],
    per_row: [bool; 2],
    rows: RowAdjoint,
    table: fn(&Table<f64>) -> Table<T>,
) -> f64
where
    Table<T>: Columns,
{
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(dims.concat().iter().sum::<usize>() as u64);
    let mut graph = Graph::new();
    let (mut leaves, mut arguments, mut ranges) = (vec![], vec![], vec![]);
    let mut inputs = Inputs { weights: vec![1.0; ROWS], ..Inputs::default() };
    let mut theta: Vec<f64> = vec![];
    for (leaf, (dims, per_row)) in dims.iter().zip(per_row).enumerate() {
        let size = dims.iter().product::<usize>();
        inputs.parameters.push(numbers(&mut rng, size));
        inputs.data.push(numbers(&mut rng, ROWS * size));
        ranges.push(theta.len()..theta.len() + size);
        theta.extend(&inputs.parameters[leaf]);
        let (parameter, data) = (graph.parameter(leaf, *dims), graph.data(leaf, *dims, Kind::Float));
        leaves.push(parameter);
        arguments.push(if per_row { graph.add(parameter, data).unwrap() } else { parameter });
    }
    let root = expression(&mut graph, arguments[0], arguments[1]);
    // Every observation has its own term.
    inputs.data.push(numbers(&mut rng, ROWS));
    let own = graph.data(2, [], Kind::Float);
    let root = graph.mul(root, own).unwrap();
    let seed = graph.scalar(1.0);
    let adjoints = differentiate(&mut graph, root, seed, &leaves, rows).unwrap();
    let outputs = Outputs { row: Some(root), gradient: adjoints, ..Outputs::default() };
    let requested: Vec<NodeId> = outputs.roots().collect();
    let expected = evaluate_nodes(&graph, &inputs, ROWS, &requested).unwrap();
    let mut program: Program<T> = compiled(&graph, &outputs, &ranges);
    let data = table(&Table { floats: inputs.data.clone(), integers: vec![], masks: vec![] });
    let selection = RowSelection::Range(0);
    let call = Call { theta: &theta, columns: &data, selection, rows: ROWS, weights: None, scale: 1.0 };
    let lanes = if rows == RowAdjoint::Keep { ROWS } else { 1 };
    let mut found = vec![0.0; theta.len() * lanes];
    let output = if lanes > 1 { Output::RowGradients(&mut found) } else { Output::Gradient(&mut found) };
    let total = program.run(call, output).unwrap();
    let sum: f64 = (0..ROWS).map(|row| expected[0].row(row)[0]).sum();
    let exact: Vec<f64> = (0..lanes).flat_map(|row| [expected[1].row(row), expected[2].row(row)].concat()).collect();
    assert!(exact.iter().all(|g| g.is_finite()));
    difference(&[total], &[sum]).max(difference(&found, &exact))
}

#[test]
fn programs_agree_with_the_reference() {
    for dims in DIMS {
        for per_row in [[false, false], [false, true], [true, false], [true, true]] {
            for rows in [RowAdjoint::Sum, RowAdjoint::Keep] {
                let double = compare::<f64>(dims, per_row, rows, |table| Table {
                    floats: table.floats.clone(),
                    integers: vec![],
                    masks: vec![],
                });
                assert!(double < 1e-12, "{dims:?}, {per_row:?}, {rows:?}: {double}");
                let single = compare::<f32>(dims, per_row, rows, |table| Table {
                    floats: table.floats.iter().map(|leaf| leaf.iter().map(|value| *value as f32).collect()).collect(),
                    integers: vec![],
                    masks: vec![],
                });
                assert!(single < 1e-4, "{dims:?}, {per_row:?}, {rows:?}: {single}");
            }
        }
    }
}

/// The factor of a matrix that is not positive definite is NaN, for its observation only.
#[test]
fn factors_of_other_matrices_are_nan() {
    let mut graph = Graph::new();
    let x = graph.data(0, [2, 2], Kind::Float);
    let factor = graph.cholesky(x).unwrap();
    let flat = graph.reshape(factor, [4]).unwrap();
    let sum = graph.sum(flat, [0]).unwrap();
    let root = graph.reshape(sum, []).unwrap();
    let outputs = Outputs { row: Some(root), ..Outputs::default() };
    let mut program = compiled::<f64>(&graph, &outputs, &[]);
    let matrices = [[4.0, 0.0, 2.0, 2.0], [1.0, 0.0, 1.0, 1.0], [-1.0, 0.0, 0.0, 1.0], [f64::NAN, 0.0, 0.0, 1.0]];
    let data = Table { floats: vec![matrices.concat()], integers: vec![], masks: vec![] };
    let selection = RowSelection::Range(0);
    let call = Call { theta: &[], columns: &data, selection, rows: 4, weights: None, scale: 1.0 };
    let mut found = [0.0; 4];
    program.run(call, Output::Rows(&mut found)).unwrap();
    // [4 2; 2 2] has the factor [2 0; 1 1].
    assert!((found[0] - 4.0).abs() < 1e-15 && found[1..].iter().all(|sum| sum.is_nan()), "{found:?}");
}
