//! Strided views of buffers, and loops over several views.
//!
//! A per-row value of dimensions F is stored as F × t numbers, with the t observations of a tile innermost. Movement of
//! axes changes the offset and the strides, which count features, not numbers.

use crate::graph::{AxisSlice, strides};

/// The identifier of a buffer of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BufferId {
    /// A buffer of floats and masks in the precision of the program.
    Native(usize),
    /// A buffer of integers, stored as `f64`.
    Wide(usize),
}

/// A position in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) buffer: BufferId,
    /// The first feature.
    pub(crate) offset: usize,
}

/// The loop of an instruction over a tile of `t` observations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TileLoop<'a> {
    pub(crate) plan: &'a LoopPlan,
    pub(crate) t: usize,
}

impl TileLoop<'_> {
    /// Returns the numbers per feature.
    pub(crate) fn lanes(self) -> usize {
        if self.plan.rows { self.t } else { 1 }
    }
}

/// A strided view of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct View {
    pub(crate) buffer: BufferId,
    /// True if each observation has its own value.
    pub(crate) rows: bool,
    pub(crate) offset: usize,
    pub(crate) dims: Vec<usize>,
    pub(crate) strides: Vec<isize>,
}

impl View {
    /// Creates the row-major view of a whole buffer.
    pub(crate) fn whole(buffer: BufferId, rows: bool, dims: &[usize]) -> Self {
        let strides = strides(dims).into_iter().map(|stride| stride as isize).collect();
        Self { buffer, rows, offset: 0, dims: dims.to_vec(), strides }
    }

    /// Returns the position of the first element.
    pub(crate) fn location(&self) -> Location {
        Location { buffer: self.buffer, offset: self.offset }
    }

    pub(crate) fn size(&self) -> usize {
        self.dims.iter().product()
    }

    /// Returns whether the elements are contiguous in row-major order.
    pub(crate) fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        for (size, stride) in self.dims.iter().zip(&self.strides).rev() {
            if *size != 1 && *stride != expected {
                return false;
            }
            expected *= *size as isize;
        }
        true
    }

    pub(crate) fn permute(&self, axes: &[usize]) -> Self {
        let dims = axes.iter().map(|axis| self.dims[*axis]).collect();
        let strides = axes.iter().map(|axis| self.strides[*axis]).collect();
        Self { dims, strides, ..self.clone() }
    }

    pub(crate) fn slice(&self, slices: &[AxisSlice]) -> Self {
        let mut view = self.clone();
        for (axis, slice) in slices.iter().enumerate() {
            view.offset = view.offset.wrapping_add_signed(self.strides[axis] * slice.start as isize);
            view.dims[axis] = slice.length;
            view.strides[axis] *= slice.step;
        }
        view
    }

    pub(crate) fn expand(&self, dims: &[usize]) -> Self {
        Self { dims: dims.to_vec(), strides: self.broadcast_strides(dims), ..self.clone() }
    }

    /// Returns a view with other dimensions, or `None` if strides cannot represent it.
    pub(crate) fn reshape(&self, dims: &[usize]) -> Option<Self> {
        if self.is_contiguous() {
            return Some(Self { offset: self.offset, ..Self::whole(self.buffer, self.rows, dims) });
        }
        // Dimensions of size one can be added and removed; the others must be equal.
        let kept = |dims: &[usize]| dims.iter().copied().filter(|size| *size != 1).collect::<Vec<_>>();
        if kept(&self.dims) != kept(dims) {
            return None;
        }
        let mut old = self.dims.iter().zip(&self.strides).filter(|(size, _)| **size != 1);
        let strides = dims.iter().map(|size| if *size == 1 { Some(0) } else { old.next().map(|(_, stride)| *stride) });
        Some(Self { dims: dims.to_vec(), strides: strides.collect::<Option<_>>()?, ..self.clone() })
    }

    /// Returns the strides over `dims`, which this view broadcasts to.
    pub(crate) fn broadcast_strides(&self, dims: &[usize]) -> Vec<isize> {
        let missing = dims.len() - self.dims.len();
        let own = |axis: usize| if self.dims[axis] == 1 { 0 } else { self.strides[axis] };
        (0..dims.len()).map(|axis| axis.checked_sub(missing).map_or(0, own)).collect()
    }
}

/// A loop over runs of consecutive features. All runs have the same length.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoopPlan {
    /// True if a run consists of `run` features of t observations each, false if it consists of `run` numbers.
    pub(crate) rows: bool,
    /// The number of features per run.
    pub(crate) run: usize,
    /// For each run, the first feature of the result and of each operand. There are at most three operands.
    pub(crate) starts: Vec<[usize; 4]>,
    /// For each operand, whether a run reads a single number instead of one for each number of the result.
    pub(crate) splat: Vec<bool>,
}

/// Plans the loop that computes a contiguous result of dimensions `dims` from `operands`, with runs of maximal length.
///
/// Operands are views with strides over `dims`, which are zero along repeated axes.
pub(crate) fn plan_loop(dims: &[usize], rows: bool, operands: &[(&View, Vec<isize>)]) -> LoopPlan {
    let mut axes = collapsed(dims, operands);
    // If the result is per row, a run of one feature is always possible: a shared operand is a single number.
    let is_splat = |view: &View, stride: isize| if rows { !view.rows } else { stride == 0 };
    let fits = |axis: &Axis| {
        axis.strides[0] == 1
            && operands.iter().zip(&axis.strides[1..]).all(|((view, _), stride)| match (rows, view.rows) {
                (true, false) => *stride == 0,
                (true, true) => *stride == 1,
                (false, _) => *stride == 0 || *stride == 1,
            })
    };
    let inner = axes.last().filter(|axis| fits(axis)).cloned();
    if inner.is_some() {
        axes.pop();
    }
    let run = inner.as_ref().map_or(1, |axis| axis.size);
    let splat = operands
        .iter()
        .enumerate()
        .map(|(i, (view, _))| is_splat(view, inner.as_ref().map_or(0, |axis| axis.strides[i + 1])))
        .collect();
    let mut first = [0; 4];
    first[1..].iter_mut().zip(operands).for_each(|(start, (view, _))| *start = view.offset);
    let mut starts = vec![first];
    for axis in &axes {
        let moved = |start: &[usize; 4], i: isize| {
            let mut moved = *start;
            moved.iter_mut().zip(&axis.strides).for_each(|(at, stride)| *at = at.wrapping_add_signed(stride * i));
            moved
        };
        starts = starts.iter().flat_map(|start| (0..axis.size as isize).map(move |i| moved(start, i))).collect();
    }
    if dims.contains(&0) {
        starts.clear();
    }
    LoopPlan { rows, run, starts, splat }
}

#[derive(Clone, Debug)]
struct Axis {
    size: usize,
    /// The strides of the result and of the operands.
    strides: Vec<isize>,
}

/// Returns the axes, outermost first. Adjacent axes are merged if all values are contiguous across them.
fn collapsed(dims: &[usize], operands: &[(&View, Vec<isize>)]) -> Vec<Axis> {
    let result = strides(dims);
    let mut axes: Vec<Axis> = Vec::new();
    for (axis, size) in dims.iter().enumerate().filter(|(_, size)| **size != 1) {
        let own = operands.iter().map(|(_, strides)| strides[axis]);
        let next = Axis { size: *size, strides: std::iter::once(result[axis] as isize).chain(own).collect() };
        match axes.last_mut() {
            Some(last) if last.strides.iter().zip(&next.strides).all(|(a, b)| *a == b * next.size as isize) => {
                last.size *= next.size;
                last.strides = next.strides;
            }
            _ => axes.push(next),
        }
    }
    axes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(dims: &[usize], rows: bool) -> View {
        View::whole(BufferId::Native(0), rows, dims)
    }

    #[test]
    fn equal_shapes_are_one_run() {
        let (a, b) = (whole(&[3, 4], true), whole(&[3, 4], true));
        let planned = plan_loop(&[3, 4], true, &[(&a, a.strides.clone()), (&b, b.strides.clone())]);
        assert_eq!((planned.run, planned.starts), (12, vec![[0; 4]]));
    }

    #[test]
    fn shared_vector_is_broadcast_in_each_run() {
        let (a, b) = (whole(&[3, 4], true), whole(&[3, 1], false));
        let strides = b.broadcast_strides(&[3, 4]);
        let planned = plan_loop(&[3, 4], true, &[(&a, a.strides.clone()), (&b, strides)]);
        assert_eq!(planned.run, 4);
        assert_eq!(planned.starts, [[0, 0, 0, 0], [4, 4, 1, 0], [8, 8, 2, 0]]);
        assert_eq!(planned.splat, [false, true]);
    }

    #[test]
    fn transposed_shared_matrix_has_runs_of_one_number() {
        let a = whole(&[2, 3], false).permute(&[1, 0]);
        let planned = plan_loop(&[3, 2], false, &[(&a, a.strides.clone())]);
        assert_eq!((planned.run, planned.starts.len()), (1, 6));
        assert_eq!(planned.starts[1], [1, 3, 0, 0]);
    }

    #[test]
    fn reshape_preserves_strides_if_possible() {
        let view = whole(&[2, 3], true).permute(&[1, 0]);
        assert!(view.reshape(&[6]).is_none());
        assert_eq!(view.reshape(&[3, 1, 2]).unwrap().strides, [1, 0, 3]);
        let flipped = whole(&[4], true).slice(&[AxisSlice { start: 3, length: 4, step: -1 }]);
        assert_eq!((flipped.offset, flipped.strides.as_slice()), (3, [-1].as_slice()));
    }
}
