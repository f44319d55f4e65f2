//! Reference evaluation of a graph in `f64`: slow, and simple enough to check the other passes.
//!
//! Each node is computed for one observation after another. Integers and masks are represented by floats; true is one.

mod matrices;
mod movement;
mod scalar;
mod scan;

use crate::error::{Error, Result};
use crate::graph::{Graph, Kind, Node, NodeId, Op, ReduceOp, Shape};

pub use scalar::erf;

use movement::Array;

/// The values of the leaves of a graph.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The values of each parameter leaf in row-major order.
    pub parameters: Vec<Vec<f64>>,
    /// The values of each data leaf: one observation after another, each in row-major order.
    pub data: Vec<Vec<f64>>,
    /// The weight of each observation.
    pub weights: Vec<f64>,
    /// The values of the variables of the body of a loop.
    pub variables: Vec<Vec<f64>>,
}

/// The value of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The shape of the value.
    pub shape: Shape,
    /// The elements in row-major order; if `shape.rows` is true, one observation after another.
    pub values: Vec<f64>,
}

impl Value {
    /// Returns the value for observation `row`. A shared value is the same for all.
    pub fn row(&self, row: usize) -> &[f64] {
        let size = self.shape.size();
        if self.shape.rows { &self.values[row * size..(row + 1) * size] } else { &self.values }
    }
}

/// Evaluates all nodes for `n` observations.
///
/// # Errors
///
/// Returns an error if a leaf is missing or has the wrong size, or if an index is out of range.
pub fn evaluate(graph: &Graph, inputs: &Inputs, n: usize) -> Result<Vec<Value>> {
    let mut values: Vec<Value> = Vec::with_capacity(graph.nodes().len());
    for node in graph.nodes() {
        let arguments: Vec<&Value> = node.inputs.iter().map(|input| &values[input.index()]).collect();
        let value = evaluate_node(graph, node, &arguments, inputs, n)?;
        values.push(value);
    }
    Ok(values)
}

/// Evaluates `roots` and the nodes that they depend on.
///
/// # Errors
///
/// Returns the errors of [`evaluate`].
pub fn evaluate_nodes(graph: &Graph, inputs: &Inputs, n: usize, roots: &[NodeId]) -> Result<Vec<Value>> {
    let mut needed = vec![false; graph.nodes().len()];
    roots.iter().for_each(|root| needed[root.index()] = true);
    for index in (0..needed.len()).rev() {
        if needed[index] {
            graph.nodes()[index].inputs.iter().for_each(|input| needed[input.index()] = true);
        }
    }
    let nothing = Value { shape: Shape::shared([0]), values: vec![] };
    let mut values = vec![nothing; needed.len()];
    for (index, node) in graph.nodes().iter().enumerate().filter(|(index, _)| needed[*index]) {
        let arguments: Vec<&Value> = node.inputs.iter().map(|input| &values[input.index()]).collect();
        values[index] = evaluate_node(graph, node, &arguments, inputs, n)?;
    }
    Ok(roots.iter().map(|root| values[root.index()].clone()).collect())
}

fn evaluate_node(graph: &Graph, node: &Node, arguments: &[&Value], inputs: &Inputs, n: usize) -> Result<Value> {
    let shape = node.shape.clone();
    let size = shape.size();
    let leaf = |what: &'static str, values: Option<&Vec<f64>>, length: usize| match values {
        Some(values) if values.len() == length => Ok(values.clone()),
        found => Err(Error::shape(what, format!("{:?} values for {length}", found.map(Vec::len)))),
    };
    let values = match &node.op {
        Op::Parameter(number) => leaf("a parameter", inputs.parameters.get(*number), size)?,
        Op::Data(number) => leaf("data", inputs.data.get(*number), n * size)?,
        Op::Weight => leaf("the weights", Some(&inputs.weights), n)?,
        Op::Constant(number) => graph.constant_values(*number).to_vec(),
        Op::Variable(number) => leaf("a variable", inputs.variables.get(*number), size)?,
        Op::Full(number) => vec![number.0; size],
        Op::SumRows => {
            let mut sums = vec![0.0; size];
            for row in 0..n {
                sums.iter_mut().zip(arguments[0].row(row)).for_each(|(sum, value)| *sum += value);
            }
            sums
        }
        _ => {
            let mut values = Vec::new();
            for row in 0..if shape.rows { n } else { 1 } {
                let of_row: Vec<Array<'_>> =
                    arguments.iter().map(|value| Array { values: value.row(row), dims: &value.shape.dims }).collect();
                values.extend(evaluate_row(node, &of_row, arguments)?);
            }
            values
        }
    };
    Ok(Value { shape, values })
}

fn evaluate_row(node: &Node, inputs: &[Array<'_>], arguments: &[&Value]) -> Result<Vec<f64>> {
    let dims = node.shape.dims.as_slice();
    let integer = node.kind == Kind::Int;
    let Array { values: x, dims: from } = inputs[0];
    Ok(match &node.op {
        Op::Unary(op) => x.iter().map(|x| scalar::unary(*op, *x)).collect(),
        Op::Cast => x.iter().map(|x| scalar::cast(node.kind, *x)).collect(),
        Op::Binary(op) => element_wise(inputs, dims, |v| scalar::binary(*op, integer, v[0], v[1])),
        Op::Compare(op) => element_wise(inputs, dims, |v| f64::from(scalar::compare(*op, v[0], v[1]))),
        Op::Logic(op) => element_wise(inputs, dims, |v| f64::from(scalar::logic(*op, v[0], v[1]))),
        Op::Where => element_wise(inputs, dims, |v| if scalar::truth(v[0]) { v[1] } else { v[2] }),
        Op::Reshape => x.to_vec(),
        Op::Permute(axes) => movement::permute(x, from, axes),
        Op::Slice(slices) => movement::slice_offsets(slices, from).map(|offset| x[offset]).collect(),
        Op::Unslice(slices) => {
            let mut values = vec![0.0; node.shape.size()];
            movement::slice_offsets(slices, dims).zip(x).for_each(|(offset, x)| values[offset] += x);
            values
        }
        Op::Expand => movement::broadcast_offsets(from, dims).map(|offset| x[offset]).collect(),
        Op::Cat(axis) => movement::cat(inputs, *axis),
        Op::Reduce(op, axis) => movement::map_axis(x, from, *axis, |line| vec![reduce(*op, line)]),
        Op::CumSum { axis, reverse } => movement::map_axis(x, from, *axis, |line| cumulative(line, *reverse)),
        Op::LogSumExp(axis) => movement::map_axis(x, from, *axis, |line| vec![log_sum_exp(line)]),
        Op::Softmax(axis) => movement::map_axis(x, from, *axis, softmax),
        Op::LogSoftmax(axis) => movement::map_axis(x, from, *axis, |line| {
            let total = log_sum_exp(line);
            line.iter().map(|x| x - total).collect()
        }),
        Op::Matmul => movement::matmul(inputs[0], inputs[1], dims),
        Op::Cholesky => matrices::pairs(inputs[0], inputs[0], dims, |a, _| matrices::cholesky(a)),
        Op::CholeskyAdjoint => matrices::pairs(inputs[0], inputs[1], dims, matrices::cholesky_adjoint),
        Op::SolveLower { transposed } => {
            matrices::pairs(inputs[0], inputs[1], dims, |l, b| matrices::solve_lower(l, b, *transposed))
        }
        Op::Select(axis) => movement::select(inputs[0], inputs[1].values, *axis)?,
        Op::SelectAdjoint { axis, length } => {
            movement::select_adjoint(inputs[0], inputs[1].values, arguments[1].shape.rank(), *axis, *length)?
        }
        Op::Gather(axis) => movement::gather(inputs[0], inputs[1], *axis)?,
        Op::GatherAdjoint { axis, length } => movement::gather_adjoint(x, inputs[1], *axis, *length)?,
        Op::Scan(recurrence) => scan::trajectory(recurrence, inputs)?,
        op => return Err(Error::Unsupported { operation: format!("{op:?} with inputs") }),
    })
}

fn element_wise(inputs: &[Array<'_>], dims: &[usize], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let offsets: Vec<Vec<usize>> =
        inputs.iter().map(|input| movement::broadcast_offsets(input.dims, dims).collect()).collect();
    let mut arguments = [0.0; 3];
    (0..dims.iter().product())
        .map(|i| {
            for ((argument, input), offsets) in arguments.iter_mut().zip(inputs).zip(&offsets) {
                *argument = input.values[offsets[i]];
            }
            f(&arguments)
        })
        .collect()
}

fn reduce(op: ReduceOp, line: &[f64]) -> f64 {
    let extreme = |better: fn(f64, f64) -> bool, start: f64| {
        line.iter().fold(start, |best, x| if best.is_nan() || (!x.is_nan() && !better(*x, best)) { best } else { *x })
    };
    match op {
        ReduceOp::Sum => line.iter().sum(),
        ReduceOp::Prod => line.iter().product(),
        ReduceOp::Max => extreme(|x, best| x > best, f64::NEG_INFINITY),
        ReduceOp::Min => extreme(|x, best| x < best, f64::INFINITY),
    }
}

fn cumulative(line: &[f64], reverse: bool) -> Vec<f64> {
    let running = |sum: &mut f64, x: &f64| {
        *sum += x;
        Some(*sum)
    };
    if reverse {
        let mut sums: Vec<f64> = line.iter().rev().scan(0.0, running).collect();
        sums.reverse();
        sums
    } else {
        line.iter().scan(0.0, running).collect()
    }
}

fn log_sum_exp(line: &[f64]) -> f64 {
    let largest = reduce(ReduceOp::Max, line);
    let guard = if largest.is_infinite() { 0.0 } else { largest };
    guard + line.iter().map(|x| (x - guard).exp()).sum::<f64>().ln()
}

fn softmax(line: &[f64]) -> Vec<f64> {
    let largest = reduce(ReduceOp::Max, line);
    let total: f64 = line.iter().map(|x| (x - largest).exp()).sum();
    line.iter().map(|x| (x - largest).exp() / total).collect()
}
