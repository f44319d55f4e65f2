//! Random bodies.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{INPUTS, INVARIANTS, STATES};
use crate::graph::{AxisSlice, BinaryOp, CompareOp, Graph, Kind, NodeId, ReduceOp, Shape, UnaryOp};
use crate::scan::Body;

/// A body under construction.
pub(super) struct Grower<'a> {
    graph: Graph,
    pool: Vec<NodeId>,
    rng: &'a mut Xoshiro256PlusPlus,
    smooth: bool,
}

impl Grower<'_> {
    /// Returns a body of random operations.
    pub(super) fn body(rng: &mut Xoshiro256PlusPlus, operations: usize) -> Body {
        Grower { graph: Graph::new(), pool: vec![], rng, smooth: false }.grown(operations)
    }

    /// Returns a body of random smooth operations.
    pub(super) fn smooth(rng: &mut Xoshiro256PlusPlus, operations: usize) -> Body {
        Grower { graph: Graph::new(), pool: vec![], rng, smooth: true }.grown(operations)
    }

    fn grown(mut self, operations: usize) -> Body {
        let mut variables = |list: &[&[usize]], first: usize| -> Vec<NodeId> {
            let variable = |(number, dims): (usize, &&[usize])| {
                self.graph.variable(first + number, Shape::shared(dims.to_vec()), Kind::Float)
            };
            list.iter().enumerate().map(variable).collect()
        };
        let states = variables(&STATES, 0);
        let inputs = variables(&INPUTS, STATES.len());
        let invariants = variables(&INVARIANTS, STATES.len() + INPUTS.len());
        self.pool = states.iter().chain(&inputs).chain(&invariants).copied().collect();
        let mut grown = 0;
        while grown < operations {
            if let Some(node) = self.grow() {
                // Values stay of moderate size.
                let bounded =
                    if self.rng.random_range(0..3) == 0 { self.graph.unary(UnaryOp::Tanh, node) } else { node };
                if self.graph.shape(bounded).size() <= 12 {
                    self.pool.push(bounded);
                    grown += 1;
                }
            }
        }
        let next = states.iter().map(|state| self.next(*state)).collect();
        let outputs = (0..2).map(|_| self.pick()).collect();
        Body { graph: self.graph, states, inputs, invariants, next, outputs }
    }

    /// Returns a new state of bounded size.
    fn next(&mut self, state: NodeId) -> NodeId {
        let dims = self.graph.shape(state).dims.clone();
        if self.rng.random_range(0..8) == 0 {
            let same: Vec<NodeId> = self.pool.iter().copied().filter(|id| self.graph.shape(*id).dims == dims).collect();
            return same[self.rng.random_range(0..same.len())];
        }
        let mut terms = vec![];
        for _ in 0..2 {
            let x = self.pick();
            let size = self.graph.shape(x).size();
            let flat = self.graph.reshape(x, [size]).unwrap();
            let sum = self.graph.sum(flat, [0]).unwrap();
            terms.push(if size == dims.iter().product::<usize>() {
                self.graph.reshape(x, dims.clone()).unwrap()
            } else {
                let unit = self.graph.reshape(sum, vec![1; dims.len()]).unwrap();
                self.graph.expand(unit, dims.clone()).unwrap()
            });
        }
        let sum = self.graph.add(terms[0], terms[1]).unwrap();
        self.graph.unary(UnaryOp::Tanh, sum)
    }

    fn pick(&mut self) -> NodeId {
        // Recent nodes are preferred.
        let recent = self.rng.random_range(0..self.pool.len()).max(self.rng.random_range(0..self.pool.len()));
        self.pool[recent]
    }

    fn axis(&mut self, x: NodeId) -> Option<usize> {
        let rank = self.graph.shape(x).rank();
        if rank == 0 { None } else { Some(self.rng.random_range(0..rank)) }
    }

    fn grow(&mut self) -> Option<NodeId> {
        let (x, y) = (self.pick(), self.pick());
        let shape = self.graph.shape(x).clone();
        let graph = &mut self.graph;
        match self.rng.random_range(0..if self.smooth { 14 } else { 19 }) {
            0 | 1 => {
                let ops = [UnaryOp::Tanh, UnaryOp::Sin, UnaryOp::Sigmoid, UnaryOp::Square, UnaryOp::LogSigmoid];
                let bounded = graph.unary(UnaryOp::Tanh, x);
                Some(graph.unary(ops[self.rng.random_range(0..ops.len())], bounded))
            }
            2..=5 => {
                let ops = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul];
                graph.binary(ops[self.rng.random_range(0..ops.len())], x, y).ok()
            }
            6 => {
                let bounded = graph.unary(UnaryOp::Tanh, y);
                let below = graph.affine(bounded, 0.4, 1.5);
                graph.binary(BinaryOp::Div, x, below).ok()
            }
            7 | 8 => graph.matmul(x, y).ok(),
            9 => {
                let axis = self.axis(x)?;
                let graph = &mut self.graph;
                match self.rng.random_range(0..3) {
                    0 => graph.log_sum_exp(x, axis),
                    1 => graph.softmax(x, axis),
                    _ => graph.log_softmax(x, axis),
                }
                .ok()
            }
            10 => {
                let mut axes: Vec<usize> = (0..shape.rank()).collect();
                axes.reverse();
                graph.permute(x, &axes).ok()
            }
            11 => {
                let unit = graph.reshape(x, [&[1], shape.dims.as_slice()].concat()).ok()?;
                graph.expand(unit, [&[2], shape.dims.as_slice()].concat()).ok()
            }
            12 => {
                let axis = self.axis(x)?;
                if self.rng.random() {
                    self.graph.cumsum(x, axis, self.rng.random()).ok()
                } else {
                    self.graph.reduce(ReduceOp::Sum, x, axis).ok()
                }
            }
            13 => {
                let axis = self.axis(x)?;
                let mut slices: Vec<AxisSlice> = shape.dims.iter().map(|size| AxisSlice::all(*size)).collect();
                let size = shape.dims[axis];
                if self.rng.random() {
                    slices[axis] = AxisSlice { start: size - 1, length: size, step: -1 };
                    self.graph.slice(x, slices).ok()
                } else {
                    slices[axis] = AxisSlice { start: 1, length: size, step: 1 };
                    let dims: Vec<usize> =
                        shape.dims.iter().enumerate().map(|(i, size)| size + usize::from(i == axis)).collect();
                    self.graph.unslice(x, slices, dims).ok()
                }
            }
            14 => {
                let mask = graph.compare(CompareOp::Greater, x, y).ok()?;
                graph.select_where(mask, x, y).ok()
            }
            15 => graph.binary(BinaryOp::Max, x, y).ok(),
            16 => {
                let axis = self.axis(x)?;
                let op = [ReduceOp::Max, ReduceOp::Min, ReduceOp::Prod][self.rng.random_range(0..3)];
                self.graph.reduce(op, x, axis).ok()
            }
            17 => {
                let axis = shape.dims.iter().position(|size| *size >= 2)?;
                let mut dims = shape.dims.clone();
                dims[axis] = 3;
                let places: Vec<f64> =
                    (0..dims.iter().product()).map(|place: usize| f64::from(place % 3 != 1)).collect();
                let index = graph.constant(places, dims, Kind::Int).ok()?;
                graph.gather(x, index, axis).ok()
            }
            _ => {
                let axis = self.axis(x)?;
                self.graph.cat(&[x, y], axis).or_else(|_| self.graph.cat(&[x, x], axis)).ok()
            }
        }
    }
}
