//! Access of programs to the data.

use sgmcmc_compiler::program::{Column as Slice, Columns};

use sgmcmc_gradient::data::{Column, Values};

/// The leaves of a data set, read without copying.
#[derive(Clone, Copy, Debug)]
pub(super) struct InPlace<'a>(pub(super) &'a [Column]);

impl Columns for InPlace<'_> {
    fn column(&self, leaf: usize) -> Slice<'_> {
        match self.0[leaf].values() {
            Values::F32(values) => Slice::F32(values),
            Values::F64(values) => Slice::F64(values),
            Values::I32(values) => Slice::I32(values),
            Values::I64(values) => Slice::I64(values),
            Values::Bool(values) => Slice::Bool(values),
            Values::BoolBytes(values) => Slice::Bytes(values),
        }
    }
}
