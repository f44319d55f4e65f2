//! Computation graphs of the value of one observation.
//!
//! Nodes are only ever appended, and each node comes after its inputs, so that the order of the nodes is a topological
//! order. Adding a node that exists already returns the existing one: a graph has no common subexpressions.

mod elementwise;
mod indexing;
mod matrices;
mod movement;
mod op;
mod products;
mod rebuild;
mod recurrence;
mod reductions;
mod shape;

pub use op::{AxisSlice, BinaryOp, CompareOp, LogicOp, Number, Op, ReduceOp, UnaryOp};
pub use recurrence::Recurrence;
pub use shape::{Kind, Shape, broadcast, strides};

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::hash::{self, Map};

/// The identifier of a node in a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// Returns the index of the node in [`Graph::nodes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node: an operation with its inputs and the shape and kind of its result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The operation.
    pub op: Op,
    /// The inputs of the operation.
    pub inputs: Vec<NodeId>,
    /// The shape of the result.
    pub shape: Shape,
    /// The kind of the elements of the result.
    pub kind: Kind,
}

/// A computation graph. Each node comes after its inputs.
///
/// # Examples
///
/// ```
/// use sgmcmc_compiler::graph::{Graph, UnaryOp};
///
/// let mut graph = Graph::new();
/// let x = graph.parameter(0, [3]);
/// let y = graph.unary(UnaryOp::Exp, x);
/// assert_eq!(graph.shape(y).dims, [3]);
/// // Adding the same node again returns the existing one.
/// assert_eq!(graph.unary(UnaryOp::Exp, x), y);
/// assert_eq!(graph.nodes().len(), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    /// The nodes by their hash. On a collision, the key is incremented (linear probing).
    interned: Map<u64, NodeId>,
    constants: Vec<Arc<[f64]>>,
    /// The indices of the constants by their values.
    interned_constants: Map<Bits, usize>,
}

/// The values of a constant. Equality compares bits.
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
    /// Creates an empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the nodes in topological order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns all identifiers in topological order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        self.ids_before(self.nodes.len())
    }

    /// Returns the first `count` identifiers in topological order.
    pub(crate) fn ids_before(&self, count: usize) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..count.min(self.nodes.len()) as u32).map(NodeId)
    }

    /// Returns the node with this identifier.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Returns the shape of a node.
    pub fn shape(&self, id: NodeId) -> &Shape {
        &self.node(id).shape
    }

    /// Returns the values of constant `constant` in row-major order. Integers and masks are stored as floats.
    pub fn constant_values(&self, constant: usize) -> &Arc<[f64]> {
        &self.constants[constant]
    }

    /// Returns the value of all elements if the node is an [`Op::Full`].
    pub fn number(&self, id: NodeId) -> Option<f64> {
        match self.node(id).op {
            Op::Full(number) => Some(number.0),
            _ => None,
        }
    }

    /// Adds parameter leaf `leaf`.
    pub fn parameter(&mut self, leaf: usize, dims: impl Into<Vec<usize>>) -> NodeId {
        self.insert(Op::Parameter(leaf), vec![], Shape::shared(dims), Kind::Float)
    }

    /// Adds data leaf `leaf`. The dimensions are those of one observation.
    pub fn data(&mut self, leaf: usize, dims: impl Into<Vec<usize>>, kind: Kind) -> NodeId {
        self.insert(Op::Data(leaf), vec![], Shape::per_row(dims), kind)
    }

    /// Adds the weight of an observation.
    pub fn weight(&mut self) -> NodeId {
        self.insert(Op::Weight, vec![], Shape::per_row([]), Kind::Float)
    }

    /// Adds variable `number` of the body of a loop.
    pub fn variable(&mut self, number: usize, shape: Shape, kind: Kind) -> NodeId {
        self.insert(Op::Variable(number), vec![], shape, kind)
    }

    /// Adds an array with `number` in all elements.
    pub fn full(&mut self, number: f64, dims: impl Into<Vec<usize>>, kind: Kind) -> NodeId {
        self.insert(Op::Full(Number(number)), vec![], Shape::shared(dims), kind)
    }

    /// Adds a float without dimensions.
    pub fn scalar(&mut self, number: f64) -> NodeId {
        self.full(number, [], Kind::Float)
    }

    /// Adds a shared constant with values in row-major order. If all values are equal, the node is an [`Op::Full`].
    ///
    /// # Errors
    ///
    /// Returns an error if the number of values differs from the size of `dims`.
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
        let number = *self.interned_constants.entry(Bits(values)).or_insert_with_key(|values| {
            self.constants.push(values.0.clone());
            self.constants.len() - 1
        });
        Ok(self.insert(Op::Constant(number), vec![], shape, kind))
    }

    fn insert_like(&mut self, op: Op, x: NodeId, shape: Shape) -> NodeId {
        let kind = self.node(x).kind;
        self.insert(op, vec![x], shape, kind)
    }

    fn insert(&mut self, op: Op, inputs: Vec<NodeId>, shape: Shape, kind: Kind) -> NodeId {
        let node = Node { op, inputs, shape, kind };
        let mut key = hash::hash_one(&node);
        while let Some(known) = self.interned.get(&key) {
            if *self.node(*known) == node {
                return *known;
            }
            key = key.wrapping_add(1);
        }
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        self.interned.insert(key, id);
        id
    }

    fn broadcast_shape(&self, inputs: &[NodeId]) -> Result<Shape> {
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
