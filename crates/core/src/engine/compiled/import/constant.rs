//! Constants: scalars of operations, filled tensors, and tensors with given values.

use burn_ir::{ScalarIr, TensorIr};
use burn_tensor::TensorData;
use sgmcmc_compiler::graph::{Kind, NodeId};

use super::{Importer, Result, kind_of};
use crate::engine::compiled::compile_error::CompileError;

/// Converts a scalar to a number. `true` is 1.
pub(super) fn scalar(scalar: ScalarIr) -> f64 {
    match scalar {
        ScalarIr::Float(value) => value,
        ScalarIr::Int(value) => value as f64,
        ScalarIr::UInt(value) => value as f64,
        ScalarIr::Bool(value) => f64::from(u8::from(value)),
    }
}

impl Importer<'_> {
    /// Imports a tensor with all elements equal to `value`.
    pub(super) fn filled(&mut self, out: &TensorIr, value: f64) -> Result<()> {
        let dims = self.extent(out).own();
        let node = self.graph.full(value, dims, kind_of(out.dtype));
        self.set(out, node)
    }

    /// Adds a scalar of the kind of `like`.
    pub(super) fn number_like(&mut self, like: &TensorIr, value: f64) -> NodeId {
        self.graph.full(value, [], kind_of(like.dtype))
    }

    /// Adds a tensor with the values in the recording.
    pub(super) fn constant(&mut self, number: usize) -> Result<NodeId> {
        let Some(data) = self.recording.values.get(&number) else {
            // Only unsupported second results have no values, such as the positions of maxima.
            return Err(CompileError::new(
                "positions found by `max_dim_with_indices` and its like cannot be used in a compiled closure",
            ));
        };
        let (values, kind) = numbers(data);
        let extent = self.extent_of(number);
        match (extent.row, values.as_slice()) {
            (None, _) => Ok(self.graph.constant(values, extent.full, kind)?),
            // The comparison of recordings has verified that all elements are equal.
            (Some(_), [first, ..]) => Ok(self.graph.full(*first, extent.own(), kind)),
            (Some(_), []) => Ok(self.graph.full(0.0, extent.own(), kind)),
        }
    }
}

/// Returns the values of a tensor as numbers, and their kind.
fn numbers(data: &TensorData) -> (Vec<f64>, Kind) {
    let dtype = data.dtype();
    let kind = kind_of(dtype);
    let values = match kind {
        Kind::Mask => data.iter::<bool>().map(|value| f64::from(u8::from(value))).collect(),
        Kind::Int => data.iter::<i64>().map(|value| value as f64).collect(),
        Kind::Float => data.iter::<f64>().collect(),
    };
    (values, kind)
}
