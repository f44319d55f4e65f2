//! Graphs: what a model computes for one observation, as nodes that know their shapes.
//!
//! A graph only grows, and a node's inputs come before it, so the order of the nodes is an order to compute them in. Pushing
//! a node that is already there gives the old one: there are no common subexpressions.

mod elementwise;
mod indexing;
mod movement;
mod op;
mod products;
mod rebuild;
mod reductions;
mod shape;

pub use op::{BinaryOp, CompareOp, LogicOp, Number, Op, ReduceOp, Stretch, UnaryOp};
pub use shape::{Kind, Shape, broadcast, strides};

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::hash::{self, Map};

/// A node of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// The place of the node in [`Graph::nodes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An operation, its inputs, and what it gives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The operation.
    pub op: Op,
    /// What it is applied to.
    pub inputs: Vec<NodeId>,
    /// The shape of the result.
    pub shape: Shape,
    /// What the result's elements are.
    pub kind: Kind,
}

/// Nodes, each after its inputs.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    /// The nodes by their hash; the next number is taken where another node has it.
    known: Map<u64, NodeId>,
    constants: Vec<Arc<[f64]>>,
    /// The numbers of the constants by their bits.
    known_constants: Map<Bits, usize>,
}

/// The values of a constant, equal where all bits are.
#[derive(Clone, Debug)]
struct Bits(Arc<[f64]>);

impl PartialEq for Bits {
    fn eq(&self, other: &Self) -> bool {
        let bits = |values: &Arc<[f64]>| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        Arc::ptr_eq(&self.0, &other.0) || bits(&self.0) == bits(&other.0)
    }
}

impl Eq for Bits {}

impl Hash for Bits {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.iter().for_each(|value| value.to_bits().hash(state));
    }
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// The nodes in order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All ids in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        self.ids_before(self.nodes.len())
    }

    /// The first `count` ids in order.
    pub(crate) fn ids_before(&self, count: usize) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..count.min(self.nodes.len()) as u32).map(NodeId)
    }

    /// The node of this id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The shape of a node.
    pub fn shape(&self, id: NodeId) -> &Shape {
        &self.node(id).shape
    }

    /// The values of constant number `constant`, row-major; integers and masks as numbers too.
    pub fn constant_values(&self, constant: usize) -> &Arc<[f64]> {
        &self.constants[constant]
    }

    /// The number a node has at every place, if it is an [`Op::Full`].
    pub fn number(&self, id: NodeId) -> Option<f64> {
        match self.node(id).op {
            Op::Full(number) => Some(number.0),
            _ => None,
        }
    }

    /// Parameter leaf number `leaf`.
    pub fn parameter(&mut self, leaf: usize, dims: impl Into<Vec<usize>>) -> NodeId {
        self.add(Op::Parameter(leaf), vec![], Shape::shared(dims), Kind::Float)
    }

    /// Data leaf number `leaf`; `dims` are those of one observation.
    pub fn data(&mut self, leaf: usize, dims: impl Into<Vec<usize>>, kind: Kind) -> NodeId {
        self.add(Op::Data(leaf), vec![], Shape::per_row(dims), kind)
    }

    /// The weight of an observation.
    pub fn weight(&mut self) -> NodeId {
        self.add(Op::Weight, vec![], Shape::per_row([]), Kind::Float)
    }

    /// `number` at every place.
    pub fn full(&mut self, number: f64, dims: impl Into<Vec<usize>>, kind: Kind) -> NodeId {
        self.add(Op::Full(Number(number)), vec![], Shape::shared(dims), kind)
    }

    /// One float.
    pub fn scalar(&mut self, number: f64) -> NodeId {
        self.full(number, [], Kind::Float)
    }

    /// Shared constants, row-major. Equal values everywhere become [`Op::Full`].
    ///
    /// # Errors
    ///
    /// If there are not as many values as `dims` say.
    pub fn constant(
        &mut self,
        values: impl Into<Arc<[f64]>>,
        dims: impl Into<Vec<usize>>,
        kind: Kind,
    ) -> Result<NodeId> {
        let (values, shape): (Arc<[f64]>, _) = (values.into(), Shape::shared(dims));
        if values.len() != shape.size() {
            return Err(Error::shape("a constant", format!("{} values for {:?}", values.len(), shape.dims)));
        }
        if let [first, rest @ ..] = &*values
            && rest.iter().all(|value| value.to_bits() == first.to_bits())
        {
            return Ok(self.full(*first, shape.dims, kind));
        }
        let number = *self.known_constants.entry(Bits(values)).or_insert_with_key(|values| {
            self.constants.push(values.0.clone());
            self.constants.len() - 1
        });
        Ok(self.add(Op::Constant(number), vec![], shape, kind))
    }

    fn like(&mut self, op: Op, x: NodeId, shape: Shape) -> NodeId {
        let kind = self.node(x).kind;
        self.add(op, vec![x], shape, kind)
    }

    fn add(&mut self, op: Op, inputs: Vec<NodeId>, shape: Shape, kind: Kind) -> NodeId {
        let node = Node { op, inputs, shape, kind };
        let mut key = hash::of(&node);
        while let Some(known) = self.known.get(&key) {
            if *self.node(*known) == node {
                return *known;
            }
            key = key.wrapping_add(1);
        }
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        self.known.insert(key, id);
        id
    }

    fn joint(&self, inputs: &[NodeId]) -> Result<Shape> {
        let mut joint = Shape::shared([]);
        for input in inputs {
            let Shape { dims, rows } = self.shape(*input);
            joint.rows |= rows;
            joint.dims = broadcast(&joint.dims, dims)
                .ok_or_else(|| Error::shape("an element-wise operation", format!("{:?} and {dims:?}", joint.dims)))?;
        }
        Ok(joint)
    }
}
