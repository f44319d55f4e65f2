//! The fingerprint of a data set. Checkpoints contain it, so that a run is not resumed with other data.

use super::{Column, Values};
use crate::fingerprint::{Fingerprint, Fingerprinter};

/// Returns a hash of the names, types, shapes and values of `columns`.
pub fn fingerprint(columns: &[Column]) -> Fingerprint {
    let mut hasher = Fingerprinter::new();
    for column in columns {
        hasher.text(column.name());
        column.row_shape().iter().for_each(|size| hasher.word(*size as u64));
        match column.values() {
            Values::F32(values) => blocks(&mut hasher, "f32", values, |value| value.to_le_bytes()),
            Values::F64(values) => blocks(&mut hasher, "f64", values, |value| value.to_le_bytes()),
            Values::I32(values) => blocks(&mut hasher, "i32", values, |value| value.to_le_bytes()),
            Values::I64(values) => blocks(&mut hasher, "i64", values, |value| value.to_le_bytes()),
            Values::Bool(values) => blocks(&mut hasher, "bool", values, |value| [u8::from(*value)]),
            Values::BoolBytes(values) => blocks(&mut hasher, "bool", values, |value| [u8::from(*value != 0)]),
        }
    }
    hasher.finish()
}

/// Adds the type, the number and the bytes of `values`, in blocks.
fn blocks<T, const N: usize>(hasher: &mut Fingerprinter, kind: &str, values: &[T], bytes: impl Fn(&T) -> [u8; N]) {
    const BLOCK: usize = 1024;
    hasher.text(kind);
    hasher.word(values.len() as u64);
    let mut block = Vec::with_capacity(BLOCK * N);
    for chunk in values.chunks(BLOCK) {
        block.clear();
        chunk.iter().for_each(|value| block.extend_from_slice(&bytes(value)));
        hasher.bytes(&block);
    }
}
