//! Rewrites of movement. Operations that only rearrange or repeat elements move outward past element-wise operations,
//! which then process fewer elements, and are merged.

use super::{RewriteContext, Stage};
use crate::error::Result;
use crate::graph::{AxisSlice, Graph, NodeId, Op, ReduceOp, Shape, broadcast};

pub(super) fn apply(context: &mut RewriteContext<'_>, _: Stage) -> Result<Option<NodeId>> {
    let inputs = context.inputs;
    match (&context.node.op, inputs) {
        (Op::Unary(_) | Op::Binary(_) | Op::Compare(_) | Op::Logic(_) | Op::Where | Op::Cast, _) => {
            elementwise(context)
        }
        (Op::Reshape, [x]) => reshape(context, *x),
        (Op::Permute(axes), [x]) => permute(context.graph, *x, axes),
        (Op::Expand, [x]) => match source(context.graph, *x, &Op::Expand) {
            Some(x) => context.graph.expand(x, context.node.shape.dims.clone()).map(Some),
            None => Ok(None),
        },
        (Op::Slice(slices), [x]) => slice(context.graph, *x, slices),
        (Op::Reduce(ReduceOp::Sum, axis), [x]) if context.graph.node(*x).op == Op::Expand => {
            sum(context.graph, *x, *axis).map(Some)
        }
        // The sum of a scatter along the axis is the sum of the scattered values.
        (Op::Reduce(ReduceOp::Sum, axis), [x]) if matches!(context.graph.node(*x).op, Op::GatherAdjoint { axis: spread, .. } if spread == *axis) =>
        {
            let values = context.graph.node(*x).inputs[0];
            context.graph.sum(values, [*axis]).map(Some)
        }
        (
            Op::Reduce(_, axis)
            | Op::CumSum { axis, .. }
            | Op::LogSumExp(axis)
            | Op::Softmax(axis)
            | Op::LogSoftmax(axis)
            | Op::Gather(axis),
            _,
        ) => along_axis(context, *axis),
        (Op::Matmul, [a, b]) => matmul(context.graph, *a, *b),
        _ => Ok(None),
    }
}

/// Returns the input of `id` if its operation is `op`.
fn source(graph: &Graph, id: NodeId, op: &Op) -> Option<NodeId> {
    let node = graph.node(id);
    (node.op == *op).then(|| node.inputs[0])
}

/// Removes expansions and reshapes before element-wise operations, which broadcast their inputs and do not depend on
/// the arrangement of the elements.
fn elementwise(context: &mut RewriteContext<'_>) -> Result<Option<NodeId>> {
    let graph = &mut *context.graph;
    let rank = context.node.shape.rank();
    let direct: Vec<Option<NodeId>> = context.inputs.iter().map(|input| repeated_alike(graph, *input, rank)).collect();
    if direct.iter().any(Option::is_some) {
        let inputs: Vec<NodeId> =
            direct.iter().zip(context.inputs).map(|(inner, input)| inner.unwrap_or(*input)).collect();
        return graph.rebuild(context.node, &inputs, &Graph::new()).map(Some);
    }
    // f(reshape a, reshape b) with equal dimensions is a reshape of f(a, b). Single numbers fit all dimensions, and
    // shared inputs of a per-row operation are reshaped to the inner dimensions.
    let Shape { dims, rows } = context.node.shape.clone();
    let inner = |graph: &Graph, id: NodeId| {
        source(graph, id, &Op::Reshape).filter(|_| graph.shape(id).dims == dims && graph.shape(id).rows == rows)
    };
    let Some(first) = context.inputs.iter().find_map(|input| inner(graph, *input)) else { return Ok(None) };
    let from = graph.shape(first).dims.clone();
    let mut inputs = Vec::new();
    for input in context.inputs {
        let shape = graph.shape(*input).clone();
        inputs.push(match inner(graph, *input) {
            Some(inner) if graph.shape(inner).dims == from => inner,
            None if shape.size() == 1 => graph.reshape(*input, [])?,
            None if rows && !shape.rows && shape.dims == dims => graph.reshape(*input, from.clone())?,
            _ => return Ok(None),
        });
    }
    let result = graph.rebuild(context.node, &inputs, &Graph::new())?;
    if graph.shape(result).dims != from {
        return Ok(None);
    }
    graph.reshape(result, dims).map(Some)
}

/// Returns the input of an expansion, or of a reshape that only adds or removes leading axes of size one. Element-wise
/// operations with `rank` axes have the same result for it.
fn repeated_alike(graph: &Graph, id: NodeId, rank: usize) -> Option<NodeId> {
    source(graph, id, &Op::Expand).or_else(|| {
        let inner = source(graph, id, &Op::Reshape)?;
        let (to, from) = (&graph.shape(id).dims, &graph.shape(inner).dims);
        let ones = |dims: &[usize]| dims.iter().take_while(|size| **size == 1).count();
        (from.len() <= rank && to[ones(to)..] == from[ones(from)..]).then_some(inner)
    })
}

fn reshape(context: &mut RewriteContext<'_>, x: NodeId) -> Result<Option<NodeId>> {
    let graph = &mut *context.graph;
    let dims = context.node.shape.dims.clone();
    if let Some(inner) = source(graph, x, &Op::Reshape) {
        return graph.reshape(inner, dims).map(Some);
    }
    // A single repeated number fits all dimensions.
    if let Some(inner) = source(graph, x, &Op::Expand).filter(|inner| graph.shape(*inner).size() == 1) {
        let number = graph.reshape(inner, [])?;
        return graph.expand(number, dims).map(Some);
    }
    Ok(None)
}

fn permute(graph: &mut Graph, x: NodeId, axes: &[usize]) -> Result<Option<NodeId>> {
    let node = graph.node(x).clone();
    if let Op::Permute(inner) = &node.op {
        let axes: Vec<usize> = axes.iter().map(|axis| inner[*axis]).collect();
        return graph.permute(node.inputs[0], &axes).map(Some);
    }
    // Axes of size one do not affect the order of the elements.
    let dims = &node.shape.dims;
    let long: Vec<usize> = axes.iter().copied().filter(|axis| dims[*axis] != 1).collect();
    if long.is_sorted() {
        let dims: Vec<usize> = axes.iter().map(|axis| dims[*axis]).collect();
        return graph.reshape(x, dims).map(Some);
    }
    if let Some(inner) = source(graph, x, &Op::Expand).filter(|inner| graph.shape(*inner).size() == 1) {
        let number = graph.reshape(inner, [])?;
        let dims: Vec<usize> = axes.iter().map(|axis| dims[*axis]).collect();
        return graph.expand(number, dims).map(Some);
    }
    Ok(None)
}

fn slice(graph: &mut Graph, x: NodeId, slices: &[AxisSlice]) -> Result<Option<NodeId>> {
    let node = graph.node(x).clone();
    match &node.op {
        Op::Slice(inner) => {
            let along = |(outer, inner): (&AxisSlice, &AxisSlice)| AxisSlice {
                start: inner.start.wrapping_add_signed(inner.step * outer.start as isize),
                length: outer.length,
                step: inner.step * outer.step,
            };
            let merged = slices.iter().zip(inner).map(along).collect();
            graph.slice(node.inputs[0], merged).map(Some)
        }
        Op::Unslice(inner) if inner == slices => Ok(Some(node.inputs[0])),
        Op::Cat(axis) => {
            let mut start = 0;
            for part in &node.inputs {
                let end = start + graph.shape(*part).dims[*axis];
                if slices[*axis].length > 0 && slices[*axis].indices().all(|index| (start..end).contains(&index)) {
                    let mut inside = slices.to_vec();
                    inside[*axis].start -= start;
                    return graph.slice(*part, inside).map(Some);
                }
                start = end;
            }
            Ok(None)
        }
        Op::Expand => {
            // Slices the source, except along its repeated axes, and expands the result.
            let inner = node.inputs[0];
            let from = graph.shape(inner).dims.clone();
            let added = slices.len() - from.len();
            let kept = from.iter().zip(&slices[added..]);
            let kept = kept.map(|(size, slice)| if *size == 1 { AxisSlice::all(1) } else { *slice }).collect();
            let part = graph.slice(inner, kept)?;
            let dims: Vec<usize> = slices.iter().map(|slice| slice.length).collect();
            graph.expand(part, dims).map(Some)
        }
        _ => Ok(None),
    }
}

/// Returns the size of `dims` along an axis of `rank` axes, aligned from the right.
pub(super) fn size_along(dims: &[usize], axis: usize, rank: usize) -> usize {
    (axis + dims.len()).checked_sub(rank).map_or(1, |axis| dims[axis])
}

/// Sums an expansion along an axis.
fn sum(graph: &mut Graph, x: NodeId, axis: usize) -> Result<NodeId> {
    let Shape { mut dims, .. } = graph.shape(x).clone();
    let inner = graph.node(x).inputs[0];
    let from = graph.shape(inner).dims.clone();
    let (rank, length) = (dims.len(), dims[axis]);
    dims[axis] = 1;
    let part = if size_along(&from, axis, rank) == 1 {
        graph.affine(inner, length as f64, 0.0)
    } else {
        graph.sum(inner, [axis + from.len() - rank])?
    };
    graph.expand(part, dims)
}

/// Moves a reshape that only adds or removes axes of size one past an operation along an axis.
fn along_axis(context: &mut RewriteContext<'_>, axis: usize) -> Result<Option<NodeId>> {
    let graph = &mut *context.graph;
    let Some(inner) = source(graph, context.inputs[0], &Op::Reshape) else { return Ok(None) };
    let (to, from) = (graph.shape(context.inputs[0]).dims.clone(), graph.shape(inner).dims.clone());
    let long = |dims: &[usize]| -> Vec<usize> { (0..dims.len()).filter(|axis| dims[*axis] != 1).collect() };
    let (to_axes, from_axes) = (long(&to), long(&from));
    let same = to_axes.iter().map(|axis| to[*axis]).eq(from_axes.iter().map(|axis| from[*axis]));
    let Some(position) = to_axes.iter().position(|long| *long == axis).filter(|_| same) else { return Ok(None) };
    let own = from_axes[position];
    let result = match &context.node.op {
        Op::Reduce(op, _) => graph.reduce(*op, inner, own)?,
        Op::CumSum { reverse, .. } => graph.cumsum(inner, own, *reverse)?,
        Op::LogSumExp(_) => graph.log_sum_exp(inner, own)?,
        Op::Softmax(_) => graph.softmax(inner, own)?,
        Op::LogSoftmax(_) => graph.log_softmax(inner, own)?,
        Op::Gather(_) => {
            let mut dims = from;
            dims[own] = context.node.shape.dims[axis];
            let index = graph.reshape(context.inputs[1], dims)?;
            graph.gather(inner, index, own)?
        }
        _ => return Ok(None),
    };
    graph.reshape(result, context.node.shape.dims.clone()).map(Some)
}

/// Removes expansions before a matrix product, which broadcasts its operands over the leading axes.
fn matmul(graph: &mut Graph, a: NodeId, b: NodeId) -> Result<Option<NodeId>> {
    let dims = graph.shape(a).dims.clone();
    let other = graph.shape(b).dims.clone();
    let outer = |dims: &[usize]| dims[..dims.len() - 2].to_vec();
    let whole = broadcast(&outer(&dims), &outer(&other));
    for (this, from, that, left) in [(a, &dims, b, true), (b, &other, a, false)] {
        let Some(inner) = source(graph, this, &Op::Expand) else { continue };
        let small = graph.shape(inner).dims.clone();
        let Some(cut) = small.len().checked_sub(2) else { continue };
        let opposite = outer(&graph.shape(that).dims);
        if small[cut..] == from[from.len() - 2..] && broadcast(&small[..cut], &opposite) == whole {
            return if left { graph.matmul(inner, that) } else { graph.matmul(that, inner) }.map(Some);
        }
    }
    Ok(None)
}
