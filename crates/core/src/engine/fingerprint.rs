//! A number that tells data sets apart, to see whether a checkpoint belongs to the data it is used with.

use crate::data::{Column, Values};

/// FNV-1a over the names, shapes and values of `columns`.
pub(super) fn of(columns: &[Column]) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for column in columns {
        column.name().bytes().for_each(|byte| hash.take(u64::from(byte)));
        column.row_shape().iter().for_each(|size| hash.take(*size as u64));
        match column.values() {
            Values::F32(values) => values.iter().for_each(|value| hash.take(u64::from(value.to_bits()))),
            Values::F64(values) => values.iter().for_each(|value| hash.take(value.to_bits())),
            Values::I32(values) => values.iter().for_each(|value| hash.take(value.cast_unsigned().into())),
            Values::I64(values) => values.iter().for_each(|value| hash.take(value.cast_unsigned())),
            Values::Bool(values) => values.iter().for_each(|value| hash.take(u64::from(*value))),
            Values::BoolBytes(values) => values.iter().for_each(|value| hash.take(u64::from(*value != 0))),
        }
    }
    hash.0
}

struct Fnv(u64);

impl Fnv {
    fn take(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0100_0000_01b3);
    }
}
