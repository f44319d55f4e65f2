//! Random graphs of all operations: values and gradients before and after every pass.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::differentiate::{RowAdjoint, differentiate};
use crate::error::Result;
use crate::graph::{AxisSlice, BinaryOp, CompareOp, Graph, Kind, LogicOp, NodeId, Number, Op, ReduceOp, UnaryOp};
use crate::optimize::{Optimized, expand_composites, optimize, stabilize};
use crate::reference::{Inputs, evaluate_nodes};

const ROWS: usize = 3;
const GRAPHS: u64 = 1000;
const STEPS: usize = 25;
/// Larger values are not used as inputs, so that rounding errors stay small.
const LARGEST: f64 = 20.0;

const UNARY: [UnaryOp; 34] = [
    UnaryOp::Neg,
    UnaryOp::Affine { scale: Number(-1.0), shift: Number(1.0) },
    UnaryOp::Affine { scale: Number(1.0), shift: Number(1.0) },
    UnaryOp::Affine { scale: Number(0.5), shift: Number(0.0) },
    UnaryOp::Square,
    UnaryOp::Power(Number(2.0)),
    UnaryOp::Power(Number(3.0)),
    UnaryOp::Power(Number(-0.5)),
    UnaryOp::Power(Number(1.7)),
    UnaryOp::Recip,
    UnaryOp::Sqrt,
    UnaryOp::Abs,
    UnaryOp::Sign,
    UnaryOp::Relu,
    UnaryOp::Exp,
    UnaryOp::Expm1,
    UnaryOp::Log,
    UnaryOp::Log1p,
    UnaryOp::Sigmoid,
    UnaryOp::LogSigmoid,
    UnaryOp::Erf,
    UnaryOp::Sin,
    UnaryOp::Cos,
    UnaryOp::Tan,
    UnaryOp::Asin,
    UnaryOp::Acos,
    UnaryOp::Atan,
    UnaryOp::Sinh,
    UnaryOp::Tanh,
    UnaryOp::Asinh,
    UnaryOp::Acosh,
    UnaryOp::Atanh,
    UnaryOp::Floor,
    UnaryOp::Detach,
];
const COMPARE: [CompareOp; 4] = [CompareOp::Greater, CompareOp::LessEqual, CompareOp::Equal, CompareOp::NotEqual];

struct Random {
    rng: Xoshiro256PlusPlus,
    graph: Graph,
    inputs: Inputs,
    floats: Vec<NodeId>,
    integers: Vec<NodeId>,
    masks: Vec<NodeId>,
}

impl Random {
    fn new(seed: u64) -> Result<Self> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut graph = Graph::new();
        let mut inputs = Inputs::default();
        let dims: [&[usize]; 4] = [&[], &[3], &[2, 3], &[3, 1]];
        let mut floats = vec![graph.weight()];
        for (leaf, dims) in dims.into_iter().enumerate() {
            let size: usize = dims.iter().product();
            let mut numbers = |count: usize| (0..count).map(|_| rng.random_range(-2.0..2.0)).collect::<Vec<f64>>();
            inputs.parameters.push(numbers(size));
            inputs.data.push(numbers(ROWS * size));
            let constant = graph.constant(numbers(size), dims, Kind::Float)?;
            floats.extend([graph.parameter(leaf, dims), graph.data(leaf, dims, Kind::Float), constant]);
            floats.push(graph.full([-1.0, 0.0, 1.0, 0.5][leaf], dims, Kind::Float));
        }
        inputs.weights = (0..ROWS).map(|_| rng.random_range(0.5..2.0)).collect();
        inputs.data.push((0..ROWS * 3).map(|_| f64::from(rng.random_range(0..2_i32))).collect());
        let index = graph.data(4, [3], Kind::Int);
        let fixed = graph.constant(vec![1.0, 0.0, 1.0], [3], Kind::Int)?;
        let one = graph.full(1.0, [1], Kind::Int);
        Ok(Self { rng, graph, inputs, floats, integers: vec![index, fixed, one], masks: vec![] })
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.random_range(0..from.len())]
    }

    fn float(&mut self) -> NodeId {
        // Recent nodes are more likely, which makes the graph deeper.
        let low = if self.rng.random_bool(0.5) { self.floats.len().saturating_sub(6) } else { 0 };
        self.floats[self.rng.random_range(low..self.floats.len())]
    }

    fn axis(&mut self, x: NodeId) -> usize {
        let rank = self.graph.shape(x).rank();
        self.rng.random_range(0..rank.max(1))
    }

    fn step(&mut self) -> Result<NodeId> {
        let (x, y) = (self.float(), self.float());
        let axis = self.axis(x);
        let dims = self.graph.shape(x).dims.clone();
        match self.rng.random_range(0..24) {
            0..5 => {
                let op = self.pick(&UNARY);
                Ok(self.graph.unary(op, x))
            }
            5..10 => {
                let op = self.pick(BinaryOp::ALL);
                self.graph.binary(op, x, y)
            }
            10 => {
                let op = self.pick(&COMPARE);
                self.graph.compare(op, x, y)
            }
            11 => {
                let masks = self.masks.clone();
                let (Some(a), Some(b)) = (masks.last(), masks.first()) else { return Ok(x) };
                let op = self.pick(LogicOp::ALL);
                let mask = self.graph.logic(op, *a, *b)?;
                Ok(if self.rng.random_bool(0.5) { self.graph.unary(UnaryOp::Not, mask) } else { mask })
            }
            12 => {
                let masks = self.masks.clone();
                if masks.is_empty() {
                    return Ok(x);
                }
                let mask = self.pick(&masks);
                if self.rng.random_bool(0.3) {
                    return Ok(self.graph.cast(mask, Kind::Float));
                }
                self.graph.select_where(mask, x, y)
            }
            13 => {
                let mut dims = dims;
                dims.reverse();
                dims.insert(0, 1);
                self.graph.reshape(x, dims)
            }
            14 => {
                let mut axes: Vec<usize> = (0..dims.len()).collect();
                axes.rotate_left(axis);
                self.graph.permute(x, &axes)
            }
            15 => {
                let slice = |size: &usize| match size {
                    3 => AxisSlice { start: 2, length: 2, step: -2 },
                    size => AxisSlice { start: size - 1, length: 1, step: 1 },
                };
                let slices: Vec<AxisSlice> = dims.iter().map(slice).collect();
                let part = self.graph.slice(x, slices.clone())?;
                if self.rng.random_bool(0.5) { Ok(part) } else { self.graph.unslice(part, slices, dims) }
            }
            16 => {
                let mut dims = dims;
                dims.iter_mut().filter(|size| **size == 1).for_each(|size| *size = 2);
                dims.insert(0, 2);
                self.graph.expand(x, dims)
            }
            17 => {
                let joined = self.graph.cat(&[x, y], axis)?;
                let mut slices: Vec<AxisSlice> =
                    self.graph.shape(joined).dims.iter().map(|size| AxisSlice::all(*size)).collect();
                slices[axis].length = 1;
                if self.rng.random_bool(0.5) { Ok(joined) } else { self.graph.slice(joined, slices) }
            }
            18 | 19 => {
                let op = self.pick(ReduceOp::ALL);
                let op = if self.rng.random_bool(0.5) { ReduceOp::Sum } else { op };
                self.graph.reduce(op, x, axis)
            }
            20 => {
                let reverse = self.rng.random_bool(0.5);
                match self.rng.random_range(0..4) {
                    0 => self.graph.cumsum(x, axis, reverse),
                    1 => self.graph.log_sum_exp(x, axis),
                    2 => self.graph.softmax(x, axis),
                    _ => self.graph.log_softmax(x, axis),
                }
            }
            21 => {
                let other = if dims.len() > 1 && self.rng.random_bool(0.5) { self.graph.transpose(x)? } else { y };
                self.graph.matmul(x, other)
            }
            22 => {
                let integers = self.integers.clone();
                let index = self.pick(&integers);
                let length = *dims.get(axis).unwrap_or(&0);
                match self.rng.random_range(0..4) {
                    0 if length > 1 => self.graph.select(x, index, axis),
                    1 if length > 1 => self.graph.gather(x, index, axis),
                    2 => self.graph.select_adjoint(x, index, axis, 2),
                    _ => self.graph.gather_adjoint(x, index, axis, 2),
                }
            }
            _ => Ok(self.graph.sum_rows(x)),
        }
    }

    /// Adds nodes with moderate values.
    fn grow(&mut self) {
        for _ in 0..STEPS {
            let Ok(id) = self.step() else { continue };
            let node = self.graph.node(id).clone();
            if node.shape.size() > 40 || node.shape.rank() > 4 {
                continue;
            }
            let Ok(values) = evaluate_nodes(&self.graph, &self.inputs, ROWS, &[id]) else { continue };
            // The sign of zero is not preserved, and it changes the angle.
            if node.op == Op::Binary(BinaryOp::Atan2) {
                let points = evaluate_nodes(&self.graph, &self.inputs, ROWS, &node.inputs).unwrap();
                if points.iter().any(|value| value.values.contains(&0.0)) {
                    continue;
                }
            }
            if values[0].values.iter().all(|value| value.abs() < LARGEST) {
                match node.kind {
                    Kind::Float => self.floats.push(id),
                    Kind::Int => self.integers.push(id),
                    Kind::Mask => self.masks.push(id),
                }
            }
        }
    }
}

/// Returns the values of the roots if all are finite and moderate.
fn values(graph: &Graph, inputs: &Inputs, roots: &[NodeId]) -> Option<Vec<f64>> {
    let values = evaluate_nodes(graph, inputs, ROWS, roots).unwrap();
    let values: Vec<f64> = values.into_iter().flat_map(|value| value.values).collect();
    values.iter().all(|value| value.abs() < LARGEST * LARGEST).then_some(values)
}

fn assert_close(expected: &[f64], inputs: &Inputs, found: &Optimized, what: &str) {
    let values = evaluate_nodes(&found.graph, inputs, ROWS, &found.roots).unwrap();
    let values: Vec<f64> = values.into_iter().flat_map(|value| value.values).collect();
    assert_eq!(expected.len(), values.len(), "{what}");
    for (a, b) in expected.iter().zip(&values) {
        assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs()), "{what}: {a} became {b}");
    }
}

fn gradient(graph: &mut Graph, root: NodeId) -> Result<Vec<NodeId>> {
    let leaves: Vec<NodeId> = graph.ids().filter(|id| matches!(graph.node(*id).op, Op::Parameter(_))).collect();
    let one = graph.scalar(1.0);
    Ok(differentiate(graph, root, one, &leaves, RowAdjoint::Sum)?.into_iter().flatten().collect())
}

/// Checks that a new operation is added to the tables above, or to the exceptions here.
#[test]
fn all_operations_are_drawn() {
    for op in UnaryOp::ALL {
        let drawn = UNARY.iter().any(|drawn| std::mem::discriminant(drawn) == std::mem::discriminant(op));
        let excluded = match op {
            // Step functions amplify rounding errors; `Floor` represents them.
            UnaryOp::Ceil | UnaryOp::Round | UnaryOp::Trunc => true,
            // The derivative of `Sinh`, which occurs in the gradients.
            UnaryOp::Cosh => true,
            // The results are masks; `Not` is drawn separately.
            UnaryOp::IsNan | UnaryOp::IsInfinite | UnaryOp::Not => true,
            _ => false,
        };
        assert!(drawn != excluded, "{op:?}");
    }
    for op in CompareOp::ALL {
        // These are others with exchanged operands.
        let excluded = matches!(op, CompareOp::GreaterEqual | CompareOp::Less);
        assert!(COMPARE.contains(op) != excluded, "{op:?}");
    }
}

#[test]
fn values_and_gradients_are_preserved() {
    let (mut compared, mut smaller, mut complete) = (0, 0, 0);
    for seed in 0..GRAPHS {
        let mut random = Random::new(seed).unwrap();
        random.grow();
        let Random { mut graph, inputs, floats, .. } = random;
        let mut roots: Vec<NodeId> = floats.iter().rev().take(3).copied().collect();
        let Some(expected) = values(&graph, &inputs, &roots) else { continue };
        let stable = stabilize(&graph, &roots).unwrap();
        assert_close(&expected, &inputs, &stable, &format!("graph {seed}, stabilized"));
        let Optimized { graph: mut forward, roots: mut stable_roots, .. } = stable;
        roots.extend(gradient(&mut graph, roots[0]).unwrap());
        stable_roots.extend(gradient(&mut forward, stable_roots[0]).unwrap());
        let Some(expected) = values(&graph, &inputs, &roots) else { continue };
        compared += 1;
        let optimized = optimize(&graph, &roots).unwrap();
        assert_close(&expected, &inputs, &optimized, &format!("graph {seed}, optimized"));
        let again = optimize(&optimized.graph, &optimized.roots).unwrap();
        assert_eq!(again.graph.nodes(), optimized.graph.nodes(), "graph {seed} has not reached a fixed point");
        smaller += usize::from(optimized.after < optimized.before);
        let expanded = expand_composites(&optimized.graph, &optimized.roots).unwrap();
        assert_close(&expected, &inputs, &expanded, &format!("graph {seed}, lowered"));
        if stable_roots.len() == roots.len() {
            let both = optimize(&forward, &stable_roots).unwrap();
            assert_close(&expected, &inputs, &both, &format!("graph {seed}, stabilized and differentiated"));
            complete += 1;
        }
    }
    println!("{compared} graphs with gradients, {smaller} of them smaller, {complete} also stabilized first");
    // Constant folding leaves some graphs without a gradient.
    assert!(complete > GRAPHS as usize / 2, "only {compared} and {complete}");
}
