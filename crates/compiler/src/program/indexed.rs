//! Operands of the instructions that index by integers of the data.

use super::view::BufferId;

/// The operands of a selection: a table of `outer × length × inner` numbers whose axis `length` is indexed by the
/// integers `indices`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SelectOperands {
    /// A buffer, or a parameter leaf that is read (or whose gradient is written) in place.
    pub(crate) table: Table,
    pub(crate) outer: usize,
    pub(crate) length: usize,
    pub(crate) inner: usize,
    pub(crate) index: BufferId,
    /// The feature of each integer in the index buffer.
    pub(crate) indices: Vec<usize>,
    /// True if each observation has its own integers.
    pub(crate) index_rows: bool,
    /// The selected values, contiguous with dimensions `outer × indices × inner`.
    pub(crate) values: BufferId,
    /// True if each observation has its own values.
    pub(crate) values_rows: bool,
    /// The factor of the values when they are added to the table.
    pub(crate) factor: f64,
}

/// A row of a parameter matrix, or of its gradient, at an integer index of each observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SelectedRow {
    pub(crate) leaf: usize,
    /// The number of rows of the matrix.
    pub(crate) length: usize,
    /// The buffer of the integer index.
    pub(crate) index: BufferId,
    /// The feature of the integer index.
    pub(crate) feature: usize,
}

/// The table that is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    /// A buffer.
    Buffer(BufferId),
    /// A parameter leaf, or its gradient if the table is written.
    Parameter(usize),
}

/// The operands of a gather along an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GatherOperands {
    /// The table that is read or added to.
    pub(crate) table: BufferId,
    pub(crate) table_rows: bool,
    /// The stride of the axis.
    pub(crate) stride: isize,
    /// The length of the axis.
    pub(crate) length: usize,
    pub(crate) index: BufferId,
    pub(crate) index_rows: bool,
    /// For each gathered value, the start of the axis in the table and the feature of the integer.
    pub(crate) positions: Vec<[usize; 2]>,
    /// The gathered values, contiguous.
    pub(crate) values: BufferId,
    pub(crate) values_rows: bool,
}

impl Table {
    pub(super) fn buffer(&self) -> Option<BufferId> {
        match self {
            Self::Buffer(buffer) => Some(*buffer),
            Self::Parameter(_) => None,
        }
    }

    pub(super) fn buffer_mut(&mut self) -> Option<&mut BufferId> {
        match self {
            Self::Buffer(buffer) => Some(buffer),
            Self::Parameter(_) => None,
        }
    }
}
