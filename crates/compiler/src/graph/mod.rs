//! Graphs: what a model computes for one observation, as nodes that know their shapes.
//!
//! A graph only grows, and a node's inputs come before it, so the order of the nodes is an order to compute them in. Pushing
//! a node that is already there gives the old one: there are no common subexpressions.

mod op;
mod shape;

pub use op::{BinaryOp, CompareOp, LogicOp, Number, Op, ReduceOp, Stretch, UnaryOp};
pub use shape::{Kind, Shape, broadcast, strides};

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{Error, Result};

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
    known: HashMap<Node, NodeId>,
    constants: Vec<Arc<[f64]>>,
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
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
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
    pub fn constant(&mut self, values: Vec<f64>, dims: impl Into<Vec<usize>>, kind: Kind) -> Result<NodeId> {
        let shape = Shape::shared(dims);
        if values.len() != shape.size() {
            return Err(Error::shape("a constant", format!("{} values for {:?}", values.len(), shape.dims)));
        }
        if let [first, rest @ ..] = values.as_slice()
            && rest.iter().all(|value| value.to_bits() == first.to_bits())
        {
            return Ok(self.full(*first, shape.dims, kind));
        }
        let same = |known: &Arc<[f64]>| {
            known.len() == values.len() && known.iter().zip(&values).all(|(a, b)| a.to_bits() == b.to_bits())
        };
        let number = self.constants.iter().position(same).unwrap_or_else(|| {
            self.constants.push(values.into());
            self.constants.len() - 1
        });
        Ok(self.add(Op::Constant(number), vec![], shape, kind))
    }

    /// f(x).
    pub fn unary(&mut self, op: UnaryOp, x: NodeId) -> NodeId {
        let shape = self.shape(x).clone();
        let kind = match op {
            UnaryOp::IsNan | UnaryOp::IsInfinite | UnaryOp::Not => Kind::Mask,
            _ => self.node(x).kind,
        };
        self.add(Op::Unary(op), vec![x], shape, kind)
    }

    /// scale · x + shift.
    pub fn affine(&mut self, x: NodeId, scale: f64, shift: f64) -> NodeId {
        self.unary(UnaryOp::Affine { scale: Number(scale), shift: Number(shift) }, x)
    }

    /// f(a, b).
    ///
    /// # Errors
    ///
    /// If the shapes do not broadcast.
    pub fn binary(&mut self, op: BinaryOp, a: NodeId, b: NodeId) -> Result<NodeId> {
        let shape = self.joint(&[a, b])?;
        let kind = self.node(a).kind;
        Ok(self.add(Op::Binary(op), vec![a, b], shape, kind))
    }

    /// Whether a ∘ b.
    ///
    /// # Errors
    ///
    /// If the shapes do not broadcast.
    pub fn compare(&mut self, op: CompareOp, a: NodeId, b: NodeId) -> Result<NodeId> {
        let shape = self.joint(&[a, b])?;
        Ok(self.add(Op::Compare(op), vec![a, b], shape, Kind::Mask))
    }

    /// A function of two masks.
    ///
    /// # Errors
    ///
    /// If the shapes do not broadcast.
    pub fn logic(&mut self, op: LogicOp, a: NodeId, b: NodeId) -> Result<NodeId> {
        let shape = self.joint(&[a, b])?;
        Ok(self.add(Op::Logic(op), vec![a, b], shape, Kind::Mask))
    }

    /// `mask ? a : b`.
    ///
    /// # Errors
    ///
    /// If the shapes do not broadcast.
    pub fn select_where(&mut self, mask: NodeId, a: NodeId, b: NodeId) -> Result<NodeId> {
        let shape = self.joint(&[mask, a, b])?;
        let kind = self.node(a).kind;
        Ok(self.add(Op::Where, vec![mask, a, b], shape, kind))
    }

    /// x as another kind.
    pub fn cast(&mut self, x: NodeId, kind: Kind) -> NodeId {
        if self.node(x).kind == kind {
            return x;
        }
        let shape = self.shape(x).clone();
        self.add(Op::Cast, vec![x], shape, kind)
    }

    /// The same elements under other dimensions.
    ///
    /// # Errors
    ///
    /// If the sizes differ.
    pub fn reshape(&mut self, x: NodeId, dims: impl Into<Vec<usize>>) -> Result<NodeId> {
        let dims = dims.into();
        let Shape { dims: from, rows } = self.shape(x).clone();
        if dims == from {
            return Ok(x);
        }
        if from.iter().product::<usize>() != dims.iter().product::<usize>() {
            return Err(Error::shape("a reshape", format!("{from:?} to {dims:?}")));
        }
        Ok(self.like(Op::Reshape, x, Shape { dims, rows }))
    }

    /// Axes in another order.
    ///
    /// # Errors
    ///
    /// If `axes` is not a permutation.
    pub fn permute(&mut self, x: NodeId, axes: &[usize]) -> Result<NodeId> {
        let Shape { dims, rows } = self.shape(x).clone();
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..dims.len()) {
            return Err(Error::shape("a permutation", format!("{axes:?} of {dims:?}")));
        }
        let dims = axes.iter().map(|axis| dims[*axis]).collect();
        Ok(self.like(Op::Permute(axes.to_vec()), x, Shape { dims, rows }))
    }

    /// The last two axes swapped.
    ///
    /// # Errors
    ///
    /// If there are fewer than two.
    pub fn transpose(&mut self, x: NodeId) -> Result<NodeId> {
        let rank = self.shape(x).rank();
        if rank < 2 {
            return Err(Error::shape("a transpose", format!("rank {rank}")));
        }
        let mut axes: Vec<usize> = (0..rank).collect();
        axes.swap(rank - 1, rank - 2);
        self.permute(x, &axes)
    }

    /// A part of every axis.
    ///
    /// # Errors
    ///
    /// If a stretch leaves its axis.
    pub fn slice(&mut self, x: NodeId, stretches: Vec<Stretch>) -> Result<NodeId> {
        let Shape { dims, rows } = self.shape(x).clone();
        check_stretches(&stretches, &dims)?;
        if stretches.iter().zip(&dims).all(|(stretch, size)| *stretch == Stretch::all(*size)) {
            return Ok(x);
        }
        let dims = stretches.iter().map(|stretch| stretch.length).collect();
        Ok(self.like(Op::Slice(stretches), x, Shape { dims, rows }))
    }

    /// Zeros of `dims` with x at these places.
    ///
    /// # Errors
    ///
    /// If a stretch leaves its axis or is not as long as that of x.
    pub fn unslice(&mut self, x: NodeId, stretches: Vec<Stretch>, dims: impl Into<Vec<usize>>) -> Result<NodeId> {
        let dims = dims.into();
        let Shape { dims: from, rows } = self.shape(x).clone();
        check_stretches(&stretches, &dims)?;
        if !stretches.iter().map(|stretch| stretch.length).eq(from.iter().copied()) {
            return Err(Error::shape("the adjoint of a slice", format!("{from:?} at {stretches:?}")));
        }
        Ok(self.like(Op::Unslice(stretches), x, Shape { dims, rows }))
    }

    /// Dimensions of size one repeated, new ones added in front.
    ///
    /// # Errors
    ///
    /// If a dimension other than one would change.
    pub fn expand(&mut self, x: NodeId, dims: impl Into<Vec<usize>>) -> Result<NodeId> {
        let dims = dims.into();
        let Shape { dims: from, rows } = self.shape(x).clone();
        if from == dims {
            return Ok(x);
        }
        if broadcast(&from, &dims).as_ref() != Some(&dims) {
            return Err(Error::shape("an expansion", format!("{from:?} to {dims:?}")));
        }
        Ok(self.like(Op::Expand, x, Shape { dims, rows }))
    }

    /// One after another along `axis`.
    ///
    /// # Errors
    ///
    /// If the other dimensions differ.
    pub fn cat(&mut self, parts: &[NodeId], axis: usize) -> Result<NodeId> {
        let Some(first) = parts.first() else { return Err(Error::shape("a concatenation", "of nothing".into())) };
        if parts.len() == 1 {
            return Ok(*first);
        }
        let mut dims = self.shape(*first).dims.clone();
        let rows = parts.iter().any(|part| self.shape(*part).rows);
        let mut length = 0;
        for part in parts {
            let other = &self.shape(*part).dims;
            let fits = other.len() == dims.len()
                && axis < dims.len()
                && other.iter().zip(&dims).enumerate().all(|(i, (a, b))| i == axis || a == b);
            if !fits {
                return Err(Error::shape("a concatenation", format!("{dims:?} and {other:?} along axis {axis}")));
            }
            length += other[axis];
        }
        dims[axis] = length;
        Ok(self.add(Op::Cat(axis), parts.to_vec(), Shape { dims, rows }, self.node(*first).kind))
    }

    /// A reduction of `axis`, which stays with size one.
    ///
    /// # Errors
    ///
    /// If there is no such axis.
    pub fn reduce(&mut self, op: ReduceOp, x: NodeId, axis: usize) -> Result<NodeId> {
        let mut shape = self.shape(x).clone();
        *axis_mut(&mut shape, axis)? = 1;
        if self.shape(x).dims[axis] == 1 {
            return Ok(x);
        }
        Ok(self.like(Op::Reduce(op, axis), x, shape))
    }

    /// Σ over these axes, which stay with size one.
    ///
    /// # Errors
    ///
    /// If there is no such axis.
    pub fn sum(&mut self, x: NodeId, axes: impl IntoIterator<Item = usize>) -> Result<NodeId> {
        axes.into_iter().try_fold(x, |x, axis| self.reduce(ReduceOp::Sum, x, axis))
    }

    /// Running sums along `axis`.
    ///
    /// # Errors
    ///
    /// If there is no such axis.
    pub fn cumsum(&mut self, x: NodeId, axis: usize, reverse: bool) -> Result<NodeId> {
        let mut shape = self.shape(x).clone();
        axis_mut(&mut shape, axis)?;
        Ok(self.like(Op::CumSum { axis, reverse }, x, shape))
    }

    /// The sum over all observations. A shared value stays as it is.
    pub fn sum_rows(&mut self, x: NodeId) -> NodeId {
        let Shape { dims, rows } = self.shape(x).clone();
        if rows { self.like(Op::SumRows, x, Shape::shared(dims)) } else { x }
    }

    /// log Σ exp(x) along `axis`, which stays with size one.
    ///
    /// # Errors
    ///
    /// If there is no such axis.
    pub fn log_sum_exp(&mut self, x: NodeId, axis: usize) -> Result<NodeId> {
        let mut shape = self.shape(x).clone();
        *axis_mut(&mut shape, axis)? = 1;
        Ok(self.like(Op::LogSumExp(axis), x, shape))
    }

    /// exp(x) / Σ exp(x) along `axis`.
    ///
    /// # Errors
    ///
    /// If there is no such axis.
    pub fn softmax(&mut self, x: NodeId, axis: usize) -> Result<NodeId> {
        let mut shape = self.shape(x).clone();
        axis_mut(&mut shape, axis)?;
        Ok(self.like(Op::Softmax(axis), x, shape))
    }

    /// x − log Σ exp(x) along `axis`.
    ///
    /// # Errors
    ///
    /// If there is no such axis.
    pub fn log_softmax(&mut self, x: NodeId, axis: usize) -> Result<NodeId> {
        let mut shape = self.shape(x).clone();
        axis_mut(&mut shape, axis)?;
        Ok(self.like(Op::LogSoftmax(axis), x, shape))
    }

    /// The matrix product of the last two axes.
    ///
    /// # Errors
    ///
    /// If the shapes do not fit.
    pub fn matmul(&mut self, a: NodeId, b: NodeId) -> Result<NodeId> {
        let (left, right) = (self.shape(a).clone(), self.shape(b).clone());
        let wrong = || Error::shape("a matrix product", format!("{:?} by {:?}", left.dims, right.dims));
        let ([outer @ .., m, k], [other @ .., l, n]) = (left.dims.as_slice(), right.dims.as_slice()) else {
            return Err(wrong());
        };
        let mut dims = broadcast(outer, other).filter(|_| k == l).ok_or_else(wrong)?;
        dims.extend([*m, *n]);
        let shape = Shape { dims, rows: left.rows || right.rows };
        Ok(self.add(Op::Matmul, vec![a, b], shape, Kind::Float))
    }

    /// The axis of `source` replaced by the axes of `index`.
    ///
    /// # Errors
    ///
    /// If there is no such axis or each observation has its own source.
    pub fn select(&mut self, source: NodeId, index: NodeId, axis: usize) -> Result<NodeId> {
        let (from, at) = (self.shape(source).clone(), self.shape(index).clone());
        if from.rows || axis >= from.rank() {
            return Err(Error::shape("a selection", format!("axis {axis} of {from:?}")));
        }
        let mut dims = from.dims[..axis].to_vec();
        dims.extend(&at.dims);
        dims.extend(&from.dims[axis + 1..]);
        let kind = self.node(source).kind;
        Ok(self.add(Op::Select(axis), vec![source, index], Shape { dims, rows: at.rows }, kind))
    }

    /// Sums of `values` at `index` along an axis of `length`: the adjoint of [`select`](Self::select).
    ///
    /// # Errors
    ///
    /// If `values` has not the axes of `index` at `axis`.
    pub fn select_adjoint(&mut self, values: NodeId, index: NodeId, axis: usize, length: usize) -> Result<NodeId> {
        let (from, at) = (self.shape(values).clone(), self.shape(index).clone());
        let end = axis + at.rank();
        if from.dims.get(axis..end) != Some(at.dims.as_slice()) {
            return Err(Error::shape("the adjoint of a selection", format!("{from:?} at {at:?}, axis {axis}")));
        }
        let mut dims = from.dims[..axis].to_vec();
        dims.push(length);
        dims.extend(&from.dims[end..]);
        let shape = Shape { dims, rows: from.rows || at.rows };
        Ok(self.add(Op::SelectAdjoint { axis, length }, vec![values, index], shape, Kind::Float))
    }

    /// Element i of `axis` is that of `source` at `index[i]`.
    ///
    /// # Errors
    ///
    /// If the other dimensions differ.
    pub fn gather(&mut self, source: NodeId, index: NodeId, axis: usize) -> Result<NodeId> {
        let (from, at) = (self.shape(source).clone(), self.shape(index).clone());
        check_gather(&from.dims, &at.dims, axis)?;
        let kind = self.node(source).kind;
        Ok(self.add(Op::Gather(axis), vec![source, index], Shape { dims: at.dims, rows: from.rows || at.rows }, kind))
    }

    /// Sums of `values` at `index` along an axis of `length`: the adjoint of [`gather`](Self::gather).
    ///
    /// # Errors
    ///
    /// If `values` and `index` differ in their dimensions.
    pub fn gather_adjoint(&mut self, values: NodeId, index: NodeId, axis: usize, length: usize) -> Result<NodeId> {
        let (from, at) = (self.shape(values).clone(), self.shape(index).clone());
        if from.dims != at.dims {
            return Err(Error::shape("the adjoint of a gather", format!("{:?} at {:?}", from.dims, at.dims)));
        }
        let mut shape = Shape { dims: from.dims, rows: from.rows || at.rows };
        *axis_mut(&mut shape, axis)? = length;
        Ok(self.add(Op::GatherAdjoint { axis, length }, vec![values, index], shape, Kind::Float))
    }

    /// The node `op` of other inputs, where the operation says all that is needed: for passes that rebuild a graph.
    ///
    /// `like` is the node it was in the graph it comes from.
    ///
    /// # Errors
    ///
    /// If the shapes do not fit.
    pub fn rebuild(&mut self, like: &Node, inputs: &[NodeId], from: &Graph) -> Result<NodeId> {
        match (&like.op, inputs) {
            (Op::Constant(number), _) => {
                let values = from.constant_values(*number).to_vec();
                self.constant(values, like.shape.dims.clone(), like.kind)
            }
            (Op::Parameter(_) | Op::Data(_) | Op::Weight | Op::Full(_), _) => {
                Ok(self.add(like.op.clone(), vec![], like.shape.clone(), like.kind))
            }
            (Op::Unary(op), [x]) => Ok(self.unary(*op, *x)),
            (Op::Binary(op), [a, b]) => self.binary(*op, *a, *b),
            (Op::Compare(op), [a, b]) => self.compare(*op, *a, *b),
            (Op::Logic(op), [a, b]) => self.logic(*op, *a, *b),
            (Op::Where, [mask, a, b]) => self.select_where(*mask, *a, *b),
            (Op::Cast, [x]) => Ok(self.cast(*x, like.kind)),
            (Op::Reshape, [x]) => self.reshape(*x, like.shape.dims.clone()),
            (Op::Permute(axes), [x]) => self.permute(*x, axes),
            (Op::Slice(stretches), [x]) => self.slice(*x, stretches.clone()),
            (Op::Unslice(stretches), [x]) => self.unslice(*x, stretches.clone(), like.shape.dims.clone()),
            (Op::Expand, [x]) => self.expand(*x, like.shape.dims.clone()),
            (Op::Cat(axis), parts) => self.cat(parts, *axis),
            (Op::Reduce(op, axis), [x]) => self.reduce(*op, *x, *axis),
            (Op::CumSum { axis, reverse }, [x]) => self.cumsum(*x, *axis, *reverse),
            (Op::SumRows, [x]) => Ok(self.sum_rows(*x)),
            (Op::LogSumExp(axis), [x]) => self.log_sum_exp(*x, *axis),
            (Op::Softmax(axis), [x]) => self.softmax(*x, *axis),
            (Op::LogSoftmax(axis), [x]) => self.log_softmax(*x, *axis),
            (Op::Matmul, [a, b]) => self.matmul(*a, *b),
            (Op::Select(axis), [source, index]) => self.select(*source, *index, *axis),
            (Op::SelectAdjoint { axis, length }, [values, index]) => {
                self.select_adjoint(*values, *index, *axis, *length)
            }
            (Op::Gather(axis), [source, index]) => self.gather(*source, *index, *axis),
            (Op::GatherAdjoint { axis, length }, [values, index]) => {
                self.gather_adjoint(*values, *index, *axis, *length)
            }
            (op, inputs) => Err(Error::shape("a node", format!("{op:?} with {} inputs", inputs.len()))),
        }
    }

    fn like(&mut self, op: Op, x: NodeId, shape: Shape) -> NodeId {
        let kind = self.node(x).kind;
        self.add(op, vec![x], shape, kind)
    }

    fn add(&mut self, op: Op, inputs: Vec<NodeId>, shape: Shape, kind: Kind) -> NodeId {
        let node = Node { op, inputs, shape, kind };
        if let Some(known) = self.known.get(&node) {
            return *known;
        }
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.known.insert(node, id);
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

fn axis_mut(shape: &mut Shape, axis: usize) -> Result<&mut usize> {
    let dims = shape.dims.clone();
    shape.dims.get_mut(axis).ok_or_else(|| Error::shape("an axis", format!("{axis} of {dims:?}")))
}

fn check_stretches(stretches: &[Stretch], dims: &[usize]) -> Result<()> {
    let inside = |(stretch, size): (&Stretch, &usize)| stretch.indices().all(|index| index < *size);
    if stretches.len() == dims.len() && stretches.iter().zip(dims).all(inside) {
        Ok(())
    } else {
        Err(Error::shape("a slice", format!("{stretches:?} of {dims:?}")))
    }
}

fn check_gather(dims: &[usize], index: &[usize], axis: usize) -> Result<()> {
    let fits = dims.len() == index.len()
        && axis < dims.len()
        && dims.iter().zip(index).enumerate().all(|(i, (a, b))| i == axis || a == b);
    if fits { Ok(()) } else { Err(Error::shape("a gather", format!("{index:?} of {dims:?} along axis {axis}"))) }
}
