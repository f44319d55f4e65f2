//! Numbers: scalars of operations, filled tensors, and tensors made from lists.

use burn_ir::{ScalarIr, TensorIr};
use burn_tensor::TensorData;
use sgmcmc_compiler::graph::{Kind, NodeId};

use super::{Importer, Result, kind_of};
use crate::engine::compiled::reason::Reason;

/// A scalar as a number; true is one.
pub(super) fn scalar(scalar: ScalarIr) -> f64 {
    match scalar {
        ScalarIr::Float(value) => value,
        ScalarIr::Int(value) => value as f64,
        ScalarIr::UInt(value) => value as f64,
        ScalarIr::Bool(value) => f64::from(u8::from(value)),
    }
}

impl Importer<'_> {
    /// A tensor that has one number at every place.
    pub(super) fn filled(&mut self, out: &TensorIr, value: f64) -> Result<()> {
        let dims = self.extent(out).own();
        let node = self.graph.full(value, dims, kind_of(out.dtype));
        self.set(out, node)
    }

    /// One number of the kind of `like`.
    pub(super) fn number_like(&mut self, like: &TensorIr, value: f64) -> NodeId {
        self.graph.full(value, [], kind_of(like.dtype))
    }

    /// A tensor that was made from a list of numbers.
    pub(super) fn constant(&mut self, number: usize) -> Result<NodeId> {
        let Some(data) = self.recording.values.get(&number) else {
            // Only results that are not values of the model have none: the positions of maxima and the like.
            return Err(Reason::new(
                "positions found by `max_dim_with_indices` and its like cannot be used in a compiled closure",
            ));
        };
        let (values, kind) = numbers(data);
        let extent = self.extent_of(number);
        match (extent.row, values.as_slice()) {
            (None, _) => Ok(self.graph.constant(values, extent.full, kind)?),
            // That they are all the same was seen when recordings of different numbers of rows were compared.
            (Some(_), [first, ..]) => Ok(self.graph.full(*first, extent.own(), kind)),
            (Some(_), []) => Ok(self.graph.full(0.0, extent.own(), kind)),
        }
    }
}

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
