//! Checks of an imported model.

use burn_tensor::DType;

use sgmcmc_compiler::reference::{Inputs, evaluate};

use crate::engine::compiled::capture::{Likelihood, capture, check_row_count};
use crate::{Dataset, Model, TensorTree, TreeLayout};
use sgmcmc_gradient::data::Values;

/// Captures a model. Checks that its terms and prior are those of the evaluator, and that other numbers of observations
/// record the same operations.
pub(super) fn check<P: TensorTree, D: TensorTree>(name: &str, model: &Model<P, D>, data: &Dataset<D>, start: &P) {
    let posterior = model.with(data);
    let layout = model.layout(start).unwrap();
    let captured = capture(&posterior, start, &layout, DType::F64).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(captured.parameters.len(), layout.blocks().len(), "{name}");
    if let Some(likelihood) = captured.likelihood {
        assert!(captured.graph.shape(likelihood.node).dims.is_empty(), "{name}");
    }
    if let Some(prior) = captured.prior {
        let shape = captured.graph.shape(prior);
        assert!(shape.dims.is_empty() && !shape.rows, "{name}: {shape:?}");
    }
    let mut evaluator = posterior.evaluator(start).unwrap();
    let theta = TreeLayout::flatten(&layout, start).unwrap();
    let n = data.observations();
    let columns = data.columns().iter().map(|column| values(column.values())).collect();
    let parameters = layout.blocks().iter().map(|block| theta[block.range.clone()].to_vec()).collect();
    let inputs = Inputs { parameters, data: columns, weights: vec![1.0; n], ..Inputs::default() };
    let nodes = evaluate(&captured.graph, &inputs, n).unwrap();
    if let Some(Likelihood { node, summed: false }) = captured.likelihood {
        let mut expected = vec![0.0; n];
        evaluator.log_likelihood_per_observation(&theta, evaluator.all_rows(), &mut expected).unwrap();
        let found = &nodes[node.index()];
        for (row, expected) in expected.iter().enumerate() {
            close(&format!("{name}, row {row}"), found.row(row)[0], *expected);
        }
    }
    let expected = evaluator.prior(&theta, &mut vec![0.0; theta.len()]).unwrap();
    let found = captured.prior.map_or(0.0, |prior| nodes[prior.index()].values[0]);
    close(name, found, expected);
    for n in [2, 5, 64] {
        check_row_count(&posterior, start, &layout, DType::F64, n, &captured.signature)
            .unwrap_or_else(|error| panic!("{name} at {n} rows: {error}"));
    }
}

fn close(what: &str, found: f64, expected: f64) {
    let tolerance = 1e-10 * expected.abs().max(1.0);
    let same = found.to_bits() == expected.to_bits() || (found - expected).abs() <= tolerance;
    assert!(same, "{what}: {found} for {expected}");
}

fn values(values: &Values) -> Vec<f64> {
    match values {
        Values::F32(values) => values.iter().map(|value| f64::from(*value)).collect(),
        Values::F64(values) => values.to_vec(),
        Values::I32(values) => values.iter().map(|value| f64::from(*value)).collect(),
        Values::I64(values) => values.iter().map(|value| *value as f64).collect(),
        Values::Bool(values) => values.iter().map(|value| f64::from(u8::from(*value))).collect(),
        Values::BoolBytes(values) => values.iter().map(|value| f64::from(u8::from(*value != 0))).collect(),
    }
}
