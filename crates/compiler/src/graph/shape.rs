//! Shapes of one observation.

/// What the elements of a node are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Floating-point numbers, of the precision the program runs in.
    Float,
    /// Integers, exact up to 2⁵³.
    Int,
    /// True or false.
    Mask,
}

/// The dimensions of a value, and whether each observation has its own.
///
/// A batch of n vectors of length k is `dims = [k], rows = true` wherever its axis of length n may be: that axis is not
/// part of `dims`. Values with `rows = false` depend on the parameters alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The dimensions of one observation's value, or of the shared value.
    pub dims: Vec<usize>,
    /// Whether each observation has its own value.
    pub rows: bool,
}

impl Shape {
    /// A value shared by all observations.
    pub fn shared(dims: impl Into<Vec<usize>>) -> Self {
        Self { dims: dims.into(), rows: false }
    }

    /// A value for each observation.
    pub fn per_row(dims: impl Into<Vec<usize>>) -> Self {
        Self { dims: dims.into(), rows: true }
    }

    /// Elements per observation, or of the shared value.
    pub fn size(&self) -> usize {
        self.dims.iter().product()
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }
}

/// The dimensions that `a` and `b` broadcast to, aligned from the right.
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

/// Row-major strides.
pub fn strides(dims: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; dims.len()];
    for axis in (1..dims.len()).rev() {
        strides[axis - 1] = strides[axis] * dims[axis];
    }
    strides
}
