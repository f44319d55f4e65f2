//! The shape of a Burn tensor, and where its rows are.

use crate::engine::compiled::capture::Dim;

/// The axis of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) axis: usize,
    /// Entries per row along this axis: more than one where a reshape merged the rows with axes after them.
    pub(super) inner: usize,
}

/// The shape of a Burn tensor, and where its rows are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// The dimensions, with `inner` in the place of the rows.
    pub(super) full: Vec<usize>,
    pub(super) row: Option<Row>,
}

impl Extent {
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

    /// The dimensions of the node: without the axis of the rows.
    pub(super) fn own(&self) -> Vec<usize> {
        let mut own = self.full.clone();
        if let Some(axis) = self.dropped() {
            own.remove(axis);
        }
        own
    }

    /// The axis the tensor has and the node has not.
    pub(super) fn dropped(&self) -> Option<usize> {
        self.row.filter(|row| row.inner == 1).map(|row| row.axis)
    }

    pub(super) fn is_row(&self, axis: usize) -> bool {
        self.row.is_some_and(|row| row.axis == axis)
    }

    /// The axis of the node that is this axis of the tensor, which is not that of the rows.
    pub(super) fn axis(&self, axis: usize) -> usize {
        match self.dropped() {
            Some(row) if axis > row => axis - 1,
            _ => axis,
        }
    }

    /// The axes of the tensor that the node has too.
    pub(super) fn kept(&self) -> Vec<usize> {
        let dropped = self.dropped();
        (0..self.full.len()).filter(|axis| Some(*axis) != dropped).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_of_the_rows_is_not_in_the_node() {
        let plain = Extent::new(&[Dim::Fixed(4), Dim::Rows(1), Dim::Fixed(3)]);
        assert_eq!((plain.own(), plain.axis(2), plain.kept()), (vec![4, 3], 1, vec![0, 2]));
        let merged = Extent::new(&[Dim::Fixed(4), Dim::Rows(5)]);
        assert_eq!((merged.own(), merged.dropped()), (vec![4, 5], None));
        assert!(merged.is_row(1));
        let shared = Extent::new(&[Dim::Fixed(4)]);
        assert_eq!((shared.own(), shared.row), (vec![4], None));
    }
}
