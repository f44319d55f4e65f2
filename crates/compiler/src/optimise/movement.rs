//! Movement: what only renames or repeats elements goes outwards past element-wise work, so that this is done on fewer elements,
//! and meets its like there.

use super::{Site, Stage};
use crate::error::Result;
use crate::graph::{Graph, NodeId, Op, ReduceOp, Shape, Stretch, broadcast};

pub(super) fn apply(site: &mut Site<'_>, _: Stage) -> Result<Option<NodeId>> {
    let inputs = site.inputs;
    match (&site.node.op, inputs) {
        (Op::Unary(_) | Op::Binary(_) | Op::Compare(_) | Op::Logic(_) | Op::Where | Op::Cast, _) => elementwise(site),
        (Op::Reshape, [x]) => reshape(site, *x),
        (Op::Permute(axes), [x]) => permute(site.graph, *x, axes),
        (Op::Expand, [x]) => match source(site.graph, *x, &Op::Expand) {
            Some(x) => site.graph.expand(x, site.node.shape.dims.clone()).map(Some),
            None => Ok(None),
        },
        (Op::Slice(stretches), [x]) => slice(site.graph, *x, stretches),
        (Op::Reduce(ReduceOp::Sum, axis), [x]) if site.graph.node(*x).op == Op::Expand => {
            sum(site.graph, *x, *axis).map(Some)
        }
        // All that was spread along the axis.
        (Op::Reduce(ReduceOp::Sum, axis), [x]) if matches!(site.graph.node(*x).op, Op::GatherAdjoint { axis: spread, .. } if spread == *axis) =>
        {
            let values = site.graph.node(*x).inputs[0];
            site.graph.sum(values, [*axis]).map(Some)
        }
        (
            Op::Reduce(_, axis)
            | Op::CumSum { axis, .. }
            | Op::LogSumExp(axis)
            | Op::Softmax(axis)
            | Op::LogSoftmax(axis)
            | Op::Gather(axis),
            _,
        ) => along_axis(site, *axis),
        (Op::Matmul, [a, b]) => matmul(site.graph, *a, *b),
        _ => Ok(None),
    }
}

/// The input of `id` if it is this operation.
fn source(graph: &Graph, id: NodeId, op: &Op) -> Option<NodeId> {
    let node = graph.node(id);
    (node.op == *op).then(|| node.inputs[0])
}

/// Element-wise operations repeat their inputs themselves, and do not mind how their elements are arranged.
fn elementwise(site: &mut Site<'_>) -> Result<Option<NodeId>> {
    let graph = &mut *site.graph;
    let rank = site.node.shape.rank();
    let direct: Vec<Option<NodeId>> = site.inputs.iter().map(|input| repeated_alike(graph, *input, rank)).collect();
    if direct.iter().any(Option::is_some) {
        let inputs: Vec<NodeId> =
            direct.iter().zip(site.inputs).map(|(inner, input)| inner.unwrap_or(*input)).collect();
        return graph.rebuild(site.node, &inputs, &Graph::new()).map(Some);
    }
    // f(reshape a, reshape b) of like dimensions is a reshape of f(a, b). Single numbers fit everywhere, and what is shared is
    // reshaped the other way for what is per row.
    let Shape { dims, rows } = site.node.shape.clone();
    let inner = |graph: &Graph, id: NodeId| {
        source(graph, id, &Op::Reshape).filter(|_| graph.shape(id).dims == dims && graph.shape(id).rows == rows)
    };
    let Some(first) = site.inputs.iter().find_map(|input| inner(graph, *input)) else { return Ok(None) };
    let from = graph.shape(first).dims.clone();
    let mut inputs = Vec::new();
    for input in site.inputs {
        let shape = graph.shape(*input).clone();
        inputs.push(match inner(graph, *input) {
            Some(inner) if graph.shape(inner).dims == from => inner,
            None if shape.size() == 1 => graph.reshape(*input, [])?,
            None if rows && !shape.rows && shape.dims == dims => graph.reshape(*input, from.clone())?,
            _ => return Ok(None),
        });
    }
    let result = graph.rebuild(site.node, &inputs, &Graph::new())?;
    if graph.shape(result).dims != from {
        return Ok(None);
    }
    graph.reshape(result, dims).map(Some)
}

/// What is expanded, or has other axes of size one in front only: element-wise operations of `rank` axes make no difference.
fn repeated_alike(graph: &Graph, id: NodeId, rank: usize) -> Option<NodeId> {
    source(graph, id, &Op::Expand).or_else(|| {
        let inner = source(graph, id, &Op::Reshape)?;
        let (to, from) = (&graph.shape(id).dims, &graph.shape(inner).dims);
        let ones = |dims: &[usize]| dims.iter().take_while(|size| **size == 1).count();
        (from.len() <= rank && to[ones(to)..] == from[ones(from)..]).then_some(inner)
    })
}

fn reshape(site: &mut Site<'_>, x: NodeId) -> Result<Option<NodeId>> {
    let graph = &mut *site.graph;
    let dims = site.node.shape.dims.clone();
    if let Some(inner) = source(graph, x, &Op::Reshape) {
        return graph.reshape(inner, dims).map(Some);
    }
    // Of one repeated number only the count matters.
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
    // Axes of size one do not matter for the order of the elements.
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

fn slice(graph: &mut Graph, x: NodeId, stretches: &[Stretch]) -> Result<Option<NodeId>> {
    let node = graph.node(x).clone();
    match &node.op {
        Op::Slice(inner) => {
            let along = |(outer, inner): (&Stretch, &Stretch)| Stretch {
                start: inner.start.wrapping_add_signed(inner.step * outer.start as isize),
                length: outer.length,
                step: inner.step * outer.step,
            };
            let merged = stretches.iter().zip(inner).map(along).collect();
            graph.slice(node.inputs[0], merged).map(Some)
        }
        Op::Unslice(inner) if inner == stretches => Ok(Some(node.inputs[0])),
        Op::Cat(axis) => {
            let mut start = 0;
            for part in &node.inputs {
                let end = start + graph.shape(*part).dims[*axis];
                if stretches[*axis].length > 0 && stretches[*axis].indices().all(|index| (start..end).contains(&index))
                {
                    let mut inside = stretches.to_vec();
                    inside[*axis].start -= start;
                    return graph.slice(*part, inside).map(Some);
                }
                start = end;
            }
            Ok(None)
        }
        Op::Expand => {
            // A slice of the source, of which the repeated axes are whole, repeated.
            let inner = node.inputs[0];
            let from = graph.shape(inner).dims.clone();
            let added = stretches.len() - from.len();
            let kept = from.iter().zip(&stretches[added..]);
            let kept = kept.map(|(size, stretch)| if *size == 1 { Stretch::all(1) } else { *stretch }).collect();
            let part = graph.slice(inner, kept)?;
            let dims: Vec<usize> = stretches.iter().map(|stretch| stretch.length).collect();
            graph.expand(part, dims).map(Some)
        }
        _ => Ok(None),
    }
}

/// The size of `dims` along an axis of `rank` axes aligned from the right.
pub(super) fn size_along(dims: &[usize], axis: usize, rank: usize) -> usize {
    (axis + dims.len()).checked_sub(rank).map_or(1, |axis| dims[axis])
}

/// The sum along an axis of an expansion.
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

/// An operation along one axis of a reshape that only added or removed axes of size one.
fn along_axis(site: &mut Site<'_>, axis: usize) -> Result<Option<NodeId>> {
    let graph = &mut *site.graph;
    let Some(inner) = source(graph, site.inputs[0], &Op::Reshape) else { return Ok(None) };
    let (to, from) = (graph.shape(site.inputs[0]).dims.clone(), graph.shape(inner).dims.clone());
    let long = |dims: &[usize]| -> Vec<usize> { (0..dims.len()).filter(|axis| dims[*axis] != 1).collect() };
    let (to_axes, from_axes) = (long(&to), long(&from));
    let same = to_axes.iter().map(|axis| to[*axis]).eq(from_axes.iter().map(|axis| from[*axis]));
    let Some(place) = to_axes.iter().position(|long| *long == axis).filter(|_| same) else { return Ok(None) };
    let own = from_axes[place];
    let result = match &site.node.op {
        Op::Reduce(op, _) => graph.reduce(*op, inner, own)?,
        Op::CumSum { reverse, .. } => graph.cumsum(inner, own, *reverse)?,
        Op::LogSumExp(_) => graph.log_sum_exp(inner, own)?,
        Op::Softmax(_) => graph.softmax(inner, own)?,
        Op::LogSoftmax(_) => graph.log_softmax(inner, own)?,
        Op::Gather(_) => {
            let mut dims = from;
            dims[own] = site.node.shape.dims[axis];
            let index = graph.reshape(site.inputs[1], dims)?;
            graph.gather(inner, index, own)?
        }
        _ => return Ok(None),
    };
    graph.reshape(result, site.node.shape.dims.clone()).map(Some)
}

/// A product repeats its operands over the axes before the last two.
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
