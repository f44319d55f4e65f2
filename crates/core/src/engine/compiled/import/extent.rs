//! The shape of a Burn tensor and its axis of the observations.

use crate::engine::compiled::capture::Dim;

/// The axis of the observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) axis: usize,
    /// The number of entries per observation along this axis. It is larger than one if a reshape merged the axis with
    /// axes after it.
    pub(super) inner: usize,
}

/// The shape of a Burn tensor and its axis of the observations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// The sizes of all axes. The size of the axis of the observations is `inner`.
    pub(super) full: Vec<usize>,
    pub(super) row: Option<Row>,
}

impl Extent {
    /// Creates the extent of a tensor with these sizes.
    pub(super) fn new(dims: &[Dim]) -> Self {
        let mut row = None;
        let full = dims.iter().enumerate().map(|(axis, dim)| match *dim {
            Dim::Fixed(size) => size,
            Dim::Rows(inner) => {
                row = Some(Row { axis, inner });
                inner
            }
        });
        Self { full: full.collect(), row }
    }

    /// Returns the shape of the node, which does not have the axis of the observations.
    pub(super) fn own(&self) -> Vec<usize> {
        let mut own = self.full.clone();
        if let Some(axis) = self.dropped() {
            own.remove(axis);
        }
        own
    }

    /// Returns the axis of the tensor that the node does not have.
    pub(super) fn dropped(&self) -> Option<usize> {
        self.row.filter(|row| row.inner == 1).map(|row| row.axis)
    }

    /// Returns whether `axis` is the axis of the observations.
    pub(super) fn is_row(&self, axis: usize) -> bool {
        self.row.is_some_and(|row| row.axis == axis)
    }

    /// Returns the axis of the node for an axis of the tensor other than that of the observations.
    pub(super) fn axis(&self, axis: usize) -> usize {
        match self.dropped() {
            Some(row) if axis > row => axis - 1,
            _ => axis,
        }
    }

    /// Returns the axes of the tensor that the node also has.
    pub(super) fn kept(&self) -> Vec<usize> {
        let dropped = self.dropped();
        (0..self.full.len()).filter(|axis| Some(*axis) != dropped).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_do_not_have_the_axis_of_the_observations() {
        let plain = Extent::new(&[Dim::Fixed(4), Dim::Rows(1), Dim::Fixed(3)]);
        assert_eq!((plain.own(), plain.axis(2), plain.kept()), (vec![4, 3], 1, vec![0, 2]));
        let merged = Extent::new(&[Dim::Fixed(4), Dim::Rows(5)]);
        assert_eq!((merged.own(), merged.dropped()), (vec![4, 5], None));
        assert!(merged.is_row(1));
        let shared = Extent::new(&[Dim::Fixed(4)]);
        assert_eq!((shared.own(), shared.row), (vec![4], None));
    }
}
