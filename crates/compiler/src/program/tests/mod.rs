//! Random graphs: compares programs with the reference evaluation in value, gradient and gradient of each row.

mod deep;
mod forms;
mod matrices;
mod operations;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Call, Column, Columns, Output, Outputs, Program, Real, RowSelection};
use crate::differentiate::{RowAdjoint, differentiate};
use crate::error::Result;
use crate::graph::{AxisSlice, BinaryOp, CompareOp, Graph, Kind, LogicOp, NodeId, ReduceOp, UnaryOp};
use crate::optimize::{expand_composites, optimize, stabilize};
use crate::reference::{Inputs, evaluate_nodes};

const PARAMETERS: [&[usize]; 5] = [&[], &[3], &[4, 3], &[9, 2], &[4, 9]];
const FLOATS: [&[usize]; 4] = [&[], &[3], &[2, 3], &[9]];
/// The length of the axis that the integers of the observations index.
const CATEGORIES: usize = 4;
const ROWS: usize = 150;

#[derive(Debug)]
struct Table<T> {
    floats: Vec<Vec<T>>,
    integers: Vec<i32>,
    masks: Vec<bool>,
}

impl Columns for Table<f64> {
    fn column(&self, leaf: usize) -> Column<'_> {
        match leaf {
            4 => Column::I32(&self.integers),
            5 => Column::Bool(&self.masks),
            leaf => Column::F64(&self.floats[leaf]),
        }
    }
}

impl Columns for Table<f32> {
    fn column(&self, leaf: usize) -> Column<'_> {
        match leaf {
            4 => Column::I32(&self.integers),
            5 => Column::Bool(&self.masks),
            leaf => Column::F32(&self.floats[leaf]),
        }
    }
}

struct Builder {
    graph: Graph,
    pool: Vec<NodeId>,
    index: NodeId,
    mask: NodeId,
    parameters: Vec<NodeId>,
    rng: Xoshiro256PlusPlus,
}

impl Builder {
    fn new(seed: u64) -> Self {
        let mut graph = Graph::new();
        let parameters: Vec<_> =
            PARAMETERS.iter().enumerate().map(|(leaf, dims)| graph.parameter(leaf, *dims)).collect();
        let data: Vec<_> = FLOATS.iter().enumerate().map(|(leaf, dims)| graph.data(leaf, *dims, Kind::Float)).collect();
        let index = graph.data(4, [], Kind::Int);
        let mask = graph.data(5, [], Kind::Mask);
        let pool = parameters.iter().chain(&data).copied().collect();
        Self { graph, pool, index, mask, parameters, rng: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    fn pick(&mut self) -> NodeId {
        self.pool[self.rng.random_range(0..self.pool.len())]
    }

    fn axis(&mut self, x: NodeId) -> Option<usize> {
        let rank = self.graph.shape(x).rank();
        if rank == 0 { None } else { Some(self.rng.random_range(0..rank)) }
    }

    /// Returns a random operation on random nodes, or `None` if their shapes do not match. Values stay of moderate
    /// size.
    fn grow(&mut self) -> Option<NodeId> {
        let x = self.pick();
        let y = self.pick();
        let shape = self.graph.shape(x).clone();
        let node = match self.rng.random_range(0..22) {
            0..3 => self.unary(x),
            3..7 => self.binary(x, y)?,
            7 => {
                let mut axes: Vec<usize> = (0..shape.rank()).collect();
                axes.reverse();
                self.graph.permute(x, &axes).ok()?
            }
            8 => self.graph.reshape(x, [shape.size()]).ok()?,
            9 => {
                let axis = self.axis(x)?;
                let size = shape.dims[axis];
                let mut slices: Vec<AxisSlice> = shape.dims.iter().map(|size| AxisSlice::all(*size)).collect();
                slices[axis] = if self.rng.random() {
                    AxisSlice { start: size - 1, length: size, step: -1 }
                } else {
                    AxisSlice { start: size / 2, length: size - size / 2, step: 1 }
                };
                self.graph.slice(x, slices).ok()?
            }
            10 => {
                let axis = self.axis(x)?;
                self.graph.cat(&[x, y, x], axis).or_else(|_| self.graph.cat(&[x, x], axis)).ok()?
            }
            11 => {
                let mut dims = vec![2];
                dims.extend(&shape.dims);
                let unit = self.graph.reshape(x, [&[1], shape.dims.as_slice()].concat()).ok()?;
                self.graph.expand(unit, dims).ok()?
            }
            12 | 13 => {
                let axis = self.axis(x)?;
                let op = [ReduceOp::Sum, ReduceOp::Max, ReduceOp::Min, ReduceOp::Prod][self.rng.random_range(0..4)];
                self.graph.reduce(op, x, axis).ok()?
            }
            14 => {
                let axis = self.axis(x)?;
                let reverse = self.rng.random();
                self.graph.cumsum(x, axis, reverse).ok()?
            }
            15 => {
                let axis = self.axis(x)?;
                match self.rng.random_range(0..3) {
                    0 => self.graph.log_sum_exp(x, axis),
                    1 => self.graph.softmax(x, axis),
                    _ => self.graph.log_softmax(x, axis),
                }
                .ok()?
            }
            16..19 => self.product(x, y)?,
            19 => {
                let axis = shape.dims.iter().position(|size| *size >= CATEGORIES).filter(|_| !shape.rows)?;
                self.graph.select(x, self.index, axis).ok()?
            }
            20 => {
                let axis = shape.dims.iter().position(|size| *size >= CATEGORIES)?;
                let mut dims = shape.dims.clone();
                dims[axis] = 1;
                let unit = self.graph.reshape(self.index, vec![1; dims.len()]).ok()?;
                let index = self.graph.expand(unit, dims).ok()?;
                self.graph.gather(x, index, axis).ok()?
            }
            _ => {
                let other = self.graph.compare(CompareOp::Greater, x, y).ok()?;
                let both = self.graph.logic(LogicOp::Or, other, self.mask).ok()?;
                self.graph.select_where(both, x, y).ok()?
            }
        };
        (self.graph.shape(node).size() <= 64).then_some(node)
    }

    fn unary(&mut self, x: NodeId) -> NodeId {
        use UnaryOp::{Abs, Atan, Cos, Erf, Exp, Log1p, LogSigmoid, Relu, Sigmoid, Sin, Sqrt, Square, Tanh};
        let bounded = self.graph.unary(Tanh, x);
        match self.rng.random_range(0..12) {
            0 => self.graph.unary(Exp, bounded),
            1 => {
                let positive = self.graph.affine(bounded, 0.5, 1.0);
                let op = if self.rng.random() { Sqrt } else { Log1p };
                self.graph.unary(op, positive)
            }
            2 => self.graph.affine(x, -0.7, 0.2),
            3 => self.graph.unary(Square, bounded),
            other => {
                let op = [Sigmoid, LogSigmoid, Sin, Cos, Atan, Erf, Relu, Abs][other % 8];
                self.graph.unary(op, x)
            }
        }
    }

    fn binary(&mut self, x: NodeId, y: NodeId) -> Option<NodeId> {
        let op = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Max, BinaryOp::Min];
        match self.rng.random_range(0..6) {
            5 => {
                let divisor = self.graph.unary(UnaryOp::Square, y);
                let divisor = self.graph.affine(divisor, 1.0, 1.0);
                self.graph.binary(BinaryOp::Div, x, divisor).ok()
            }
            number => self.graph.binary(op[number], x, y).ok(),
        }
    }

    /// Returns a matrix product of two nodes, whose last axes are interpreted as rows and columns.
    fn product(&mut self, x: NodeId, y: NodeId) -> Option<NodeId> {
        let (left, right) = (self.graph.shape(x).clone(), self.graph.shape(y).clone());
        let a = if left.rank() < 2 { self.graph.reshape(x, [1, left.size()]).ok()? } else { x };
        let b = if right.rank() < 2 { self.graph.reshape(y, [right.size(), 1]).ok()? } else { y };
        let transposed = self.graph.transpose(b).ok()?;
        self.graph.matmul(a, b).or_else(|_| self.graph.matmul(a, transposed)).ok()
    }

    /// Returns a per-row number that depends on the last nodes.
    fn root(&mut self) -> Result<NodeId> {
        let weight = self.graph.data(0, [], Kind::Float);
        let mut root = self.graph.unary(UnaryOp::Sin, weight);
        for node in self.pool.iter().rev().take(4).copied().collect::<Vec<_>>() {
            let bounded = self.graph.unary(UnaryOp::Tanh, node);
            let flat = self.graph.shape(bounded).size();
            let flat = self.graph.reshape(bounded, [flat])?;
            let sum = self.graph.sum(flat, [0])?;
            let sum = self.graph.reshape(sum, [])?;
            root = self.graph.binary(BinaryOp::Add, root, sum)?;
        }
        Ok(root)
    }
}

struct Case {
    inputs: Inputs,
    theta: Vec<f64>,
    leaves: Vec<std::ops::Range<usize>>,
    rows: Vec<usize>,
}

fn case(rng: &mut Xoshiro256PlusPlus, n: usize) -> (Case, Table<f64>) {
    let mut number = |_| (rng.random::<f32>() - 0.5).into();
    let theta: Vec<f64> =
        (0..PARAMETERS.iter().map(|dims| dims.iter().product::<usize>()).sum()).map(&mut number).collect();
    let size = |dims: &[usize]| dims.iter().product::<usize>();
    let floats: Vec<Vec<f64>> = FLOATS.iter().map(|dims| (0..ROWS * size(dims)).map(&mut number).collect()).collect();
    let integers: Vec<i32> = (0..ROWS).map(|_| rng.random_range(0..CATEGORIES as i32)).collect();
    let masks: Vec<bool> = (0..ROWS).map(|_| rng.random()).collect();
    let rows: Vec<usize> = (0..n).map(|_| rng.random_range(0..ROWS)).collect();
    let mut leaves = Vec::new();
    let mut start = 0;
    for dims in PARAMETERS {
        leaves.push(start..start + size(dims));
        start += size(dims);
    }
    let mut data: Vec<Vec<f64>> = FLOATS
        .iter()
        .zip(&floats)
        .map(|(dims, values)| {
            rows.iter().flat_map(|row| values[row * size(dims)..(row + 1) * size(dims)].to_vec()).collect()
        })
        .collect();
    data.push(rows.iter().map(|row| f64::from(integers[*row])).collect());
    data.push(rows.iter().map(|row| f64::from(u8::from(masks[*row]))).collect());
    let parameters = leaves.iter().map(|range: &std::ops::Range<usize>| theta[range.clone()].to_vec()).collect();
    let weights = (0..n).map(|_| 0.5 + rng.random::<f64>()).collect();
    let inputs = Inputs { parameters, data, weights, ..Inputs::default() };
    (Case { inputs, theta, leaves, rows }, Table { floats, integers, masks })
}

/// The largest difference between `a` and `b`, relative to `b` or to one.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs() / b.abs().max(1.0)).fold(0.0, f64::max)
}

/// Returns the differences between the program and the reference evaluation of the original graph: in the value, the
/// gradient and the gradient of each row.
fn compare<T: Real>(seed: u64, n: usize, table: impl FnOnce(&Table<f64>) -> Table<T>) -> Option<[f64; 3]>
where
    Table<T>: Columns,
{
    let mut builder = Builder::new(seed);
    for _ in 0..12 {
        if let Some(node) = builder.grow() {
            builder.pool.push(node);
        }
    }
    let root = builder.root().unwrap();
    let (case, data) = case(&mut builder.rng, n);
    let table = table(&data);
    let mut roots = vec![root];
    roots.extend(&builder.parameters);
    let stable = stabilize(&builder.graph, &roots).unwrap();
    let (root, leaves) = (stable.roots[0], &stable.roots[1..]);
    let mut worst = [0.0_f64; 3];
    for rows in [RowAdjoint::Sum, RowAdjoint::Keep] {
        let mut graph = stable.graph.clone();
        let seed = if matches!(rows, RowAdjoint::Sum) { graph.weight() } else { graph.scalar(1.0) };
        let keep = matches!(rows, RowAdjoint::Keep);
        let adjoints = differentiate(&mut graph, root, seed, leaves, rows).unwrap();
        let outputs = Outputs { row: Some(root), gradient: adjoints.clone(), ..Outputs::default() };
        let requested: Vec<NodeId> = outputs.roots().collect();
        let expected = evaluate_nodes(&graph, &case.inputs, n, &requested).unwrap();
        let mut program = compiled::<T>(&graph, &outputs, &case.leaves);
        let call = Call {
            theta: &case.theta,
            columns: &table,
            selection: RowSelection::List(&case.rows),
            rows: n,
            weights: Some(&case.inputs.weights),
            scale: 1.0,
        };
        let dim = case.theta.len();
        let lanes = if keep { n } else { 1 };
        let mut found = vec![0.0; dim * lanes];
        let output = if keep { Output::RowGradients(&mut found) } else { Output::Gradient(&mut found) };
        let total = program.run(call, output).unwrap();
        let mut exact = vec![0.0; dim * lanes];
        let mut values = expected[1..].iter();
        for (leaf, adjoint) in adjoints.iter().enumerate() {
            if adjoint.is_some() {
                let value = values.next().unwrap();
                for lane in 0..lanes {
                    let range = case.leaves[leaf].start + lane * dim..case.leaves[leaf].end + lane * dim;
                    exact[range].copy_from_slice(value.row(lane));
                }
            }
        }
        let sum: f64 = (0..n).map(|row| case.inputs.weights[row] * expected[0].row(row)[0]).sum();
        if !sum.is_finite() || exact.iter().any(|g| !g.is_finite() || g.abs() > 1e6) {
            return None;
        }
        worst[0] = worst[0].max(difference(&[total], &[sum]));
        // The sum with unit weights, and, if the root is shared, also the unscaled shared value.
        let plain: f64 = (0..n).map(|row| expected[0].row(row)[0]).sum();
        let shared = (!graph.shape(root).rows).then_some(root);
        let outputs = Outputs { total: Some(root), shared, ..Outputs::default() };
        let mut program = compiled::<T>(&graph, &outputs, &case.leaves);
        let total = program.run(Call { weights: None, scale: 0.5, ..call }, Output::Total).unwrap();
        let plain = 0.5 * plain + shared.map_or(0.0, |_| expected[0].row(0)[0]);
        worst[0] = worst[0].max(difference(&[total], &[plain]));
        worst[1 + usize::from(keep)] = difference(&found, &exact);
    }
    Some(worst)
}

fn compiled<T: Real>(graph: &Graph, outputs: &Outputs, leaves: &[std::ops::Range<usize>]) -> Program<T> {
    let roots: Vec<NodeId> = outputs.roots().collect();
    let simplified = optimize(graph, &roots).unwrap();
    let expanded = expand_composites(&simplified.graph, &simplified.roots).unwrap();
    Program::compile(&expanded.graph, &outputs.renamed(expanded.roots), leaves).unwrap()
}

#[test]
fn double_precision_programs_agree_with_the_reference() {
    let mut compared = 0;
    for seed in 0..3000 {
        let n = [1, 2, 7, 16, 33, 100, 700][seed as usize % 7];
        if let Some(worst) = compare::<f64>(seed, n, |table| Table {
            floats: table.floats.clone(),
            integers: table.integers.clone(),
            masks: table.masks.clone(),
        }) {
            compared += 1;
            assert!(worst.iter().all(|error| *error < 1e-10), "graph {seed}, {n} rows: {worst:?}");
        }
    }
    assert!(compared > 2500, "{compared}");
}

#[test]
fn single_precision_programs_agree_with_the_reference() {
    let mut compared = 0;
    for seed in 3000..5000 {
        let n = [1, 5, 64][seed as usize % 3];
        if let Some(worst) = compare::<f32>(seed, n, |table| Table {
            floats: table.floats.iter().map(|leaf| leaf.iter().map(|value| *value as f32).collect()).collect(),
            integers: table.integers.clone(),
            masks: table.masks.clone(),
        }) {
            compared += 1;
            assert!(worst.iter().all(|error| *error < 1e-3), "graph {seed}, {n} rows: {worst:?}");
        }
    }
    assert!(compared > 1700, "{compared}");
}
