//! The fingerprint of a data set, to see whether a checkpoint belongs to the data it is used with.

use crate::data::{Column, Values};
use crate::fingerprint::{Fingerprint, Fingerprinter};

/// Hashes the names, types, shapes and values of `columns`.
pub(super) fn of(columns: &[Column]) -> Fingerprint {
    let mut parts = Fingerprinter::new();
    for column in columns {
        parts.text(column.name());
        column.row_shape().iter().for_each(|size| parts.word(*size as u64));
        match column.values() {
            Values::F32(values) => blocks(&mut parts, "f32", values, |value| value.to_le_bytes()),
            Values::F64(values) => blocks(&mut parts, "f64", values, |value| value.to_le_bytes()),
            Values::I32(values) => blocks(&mut parts, "i32", values, |value| value.to_le_bytes()),
            Values::I64(values) => blocks(&mut parts, "i64", values, |value| value.to_le_bytes()),
            Values::Bool(values) => blocks(&mut parts, "bool", values, |value| [u8::from(*value)]),
            Values::BoolBytes(values) => blocks(&mut parts, "bool", values, |value| [u8::from(*value != 0)]),
        }
    }
    parts.finish()
}

/// Adds the type, the number and the bytes of `values`.
fn blocks<T, const N: usize>(parts: &mut Fingerprinter, kind: &str, values: &[T], bytes: impl Fn(&T) -> [u8; N]) {
    const BLOCK: usize = 1024;
    parts.text(kind);
    parts.word(values.len() as u64);
    let mut block = Vec::with_capacity(BLOCK * N);
    for chunk in values.chunks(BLOCK) {
        block.clear();
        chunk.iter().for_each(|value| block.extend_from_slice(&bytes(value)));
        parts.bytes(&block);
    }
}
