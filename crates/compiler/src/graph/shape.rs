//! Shapes of the value of one observation.

/// The kind of the elements of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Floating-point numbers in the precision of the program.
    Float,
    /// Integers, exact up to 2⁵³.
    Int,
    /// Truth values.
    Mask,
}

/// The dimensions of a value, and whether each observation has its own value.
///
/// A batch of n vectors of length k has `dims = [k]` and `rows = true`: the axis of the n observations is implicit and
/// not part of `dims`. Values with `rows = false` depend on the parameters alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The dimensions of the value of one observation, or of the shared value.
    pub dims: Vec<usize>,
    /// True if each observation has its own value.
    pub rows: bool,
}

impl Shape {
    /// Creates the shape of a value that all observations share.
    pub fn shared(dims: impl Into<Vec<usize>>) -> Self {
        Self { dims: dims.into(), rows: false }
    }

    /// Creates the shape of a value that each observation has.
    pub fn per_row(dims: impl Into<Vec<usize>>) -> Self {
        Self { dims: dims.into(), rows: true }
    }

    /// Returns the number of elements per observation, or of the shared value.
    pub fn size(&self) -> usize {
        self.dims.iter().product()
    }

    /// Returns the number of axes.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }
}

/// Returns the dimensions that `a` and `b` broadcast to, aligned from the right.
pub fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let size = |dims: &[usize], axis: usize| (axis + dims.len()).checked_sub(rank).map_or(1, |axis| dims[axis]);
    (0..rank)
        .map(|axis| match (size(a, axis), size(b, axis)) {
            (a, b) if a == b => Some(a),
            (1, size) | (size, 1) => Some(size),
            _ => None,
        })
        .collect()
}

/// Returns the row-major strides.
pub fn strides(dims: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; dims.len()];
    for axis in (1..dims.len()).rev() {
        strides[axis - 1] = strides[axis] * dims[axis];
    }
    strides
}
