//! What every imported model must satisfy.

use burn_tensor::DType;

use crate::engine::compiled::capture::{capture, same_at};
use crate::{Dataset, Model, TensorTree};

/// Captures the model of `name`, which must work, give a term of one number, and be the same at other numbers of rows.
pub(super) fn check<P: TensorTree, D: TensorTree>(name: &str, model: &Model<P, D>, data: &Dataset<D>, start: &P) {
    let posterior = model.with(data);
    let layout = model.layout(start).unwrap();
    let captured = capture(&posterior, start, &layout, DType::F64).unwrap_or_else(|reason| panic!("{name}: {reason}"));
    assert_eq!(captured.parameters.len(), layout.blocks().len(), "{name}");
    if let Some(likelihood) = captured.likelihood {
        assert!(captured.graph.shape(likelihood.node).dims.is_empty(), "{name}");
    }
    if let Some(prior) = captured.prior {
        let shape = captured.graph.shape(prior);
        assert!(shape.dims.is_empty() && !shape.rows, "{name}: {shape:?}");
    }
    for n in [2, 5, 64] {
        same_at(&posterior, start, &layout, DType::F64, n, &captured.signature)
            .unwrap_or_else(|reason| panic!("{name} at {n} rows: {reason}"));
    }
}
