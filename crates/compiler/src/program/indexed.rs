//! What instructions index by integers of the data.

use super::view::Store;

/// A table of `outer × length × inner` numbers of which `length` is indexed by `indices` integers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Selection {
    /// A buffer, or a parameter leaf read (written) in place.
    pub(crate) table: Table,
    pub(crate) outer: usize,
    pub(crate) length: usize,
    pub(crate) inner: usize,
    pub(crate) index: Store,
    /// Where each of the integers lies; whether each observation has its own.
    pub(crate) indices: Vec<usize>,
    pub(crate) index_rows: bool,
    /// The selected values, contiguous `outer × indices × inner`; whether each observation has its own.
    pub(crate) values: Store,
    pub(crate) values_rows: bool,
    /// What the values are multiplied with on their way into the table.
    pub(crate) factor: f64,
}

/// A row of a parameter matrix, or of its gradient, at an integer that each observation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SelectedRow {
    pub(crate) leaf: usize,
    /// How many rows there are.
    pub(crate) length: usize,
    /// Where the integer lies.
    pub(crate) index: Store,
    pub(crate) feature: usize,
}

/// What is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    /// A buffer.
    Buffer(Store),
    /// A parameter leaf; its gradient when written.
    Parameter(usize),
}

/// Elements of an axis picked one by one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gathering {
    /// What is picked from, or added to.
    pub(crate) table: Store,
    pub(crate) table_rows: bool,
    /// From one element of the axis to the next, and how many there are.
    pub(crate) stride: isize,
    pub(crate) length: usize,
    pub(crate) index: Store,
    pub(crate) index_rows: bool,
    /// For each picked value: where the axis begins in the table, and where its integer lies.
    pub(crate) positions: Vec<[usize; 2]>,
    /// The picked values, contiguous.
    pub(crate) values: Store,
    pub(crate) values_rows: bool,
}

impl Table {
    pub(super) fn store(&self) -> Option<Store> {
        match self {
            Self::Buffer(store) => Some(*store),
            Self::Parameter(_) => None,
        }
    }

    pub(super) fn store_mut(&mut self) -> Option<&mut Store> {
        match self {
            Self::Buffer(store) => Some(store),
            Self::Parameter(_) => None,
        }
    }
}
