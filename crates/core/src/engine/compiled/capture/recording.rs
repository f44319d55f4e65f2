//! What Burn wrote down about one call of the closures.

use std::collections::{BTreeMap, HashMap};

use burn_capture::TensorId;
use burn_ir::{IrVisitorMut, OperationIr, TensorIr, TensorStatus};
use burn_tensor::{CapturedGraph, DType, Device, Tensor, TensorData};

use super::device::with_device;
use super::leaves;
use crate::data::Rows;
use crate::engine::Posterior;
use crate::engine::compiled::reason::Reason;
use crate::layout::Layout;
use crate::model::{guarded, quietly};
use crate::tree::TensorTree;

/// The operations of one call. Tensors are numbered in the order they appear, so that two calls can be compared.
#[derive(Debug)]
pub(in crate::engine::compiled) struct Recording {
    /// How many rows the closures were given.
    pub(in crate::engine::compiled) rows: usize,
    pub(in crate::engine::compiled) operations: Vec<OperationIr>,
    /// The shape of each tensor.
    pub(in crate::engine::compiled) shapes: Vec<Vec<usize>>,
    /// The tensors made from numbers.
    pub(in crate::engine::compiled) values: BTreeMap<usize, TensorData>,
    /// The coordinates of each block.
    pub(in crate::engine::compiled) parameters: Vec<usize>,
    /// Each column of the data.
    pub(in crate::engine::compiled) data: Vec<usize>,
    pub(in crate::engine::compiled) outputs: Outputs<usize>,
}

/// What the closures returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::compiled) struct Outputs<T> {
    pub(in crate::engine::compiled) likelihood: Option<T>,
    pub(in crate::engine::compiled) prior: Option<T>,
    pub(in crate::engine::compiled) log_jacobian: Option<T>,
}

/// The leaves and results of a call, as Burn names them.
struct Boundary {
    parameters: Vec<Option<TensorId>>,
    data: Vec<Option<TensorId>>,
    outputs: Outputs<TensorId>,
}

impl Recording {
    /// One call of the closures of `posterior` on `rows` rows.
    pub(super) fn of<P: TensorTree, D: TensorTree>(
        posterior: &Posterior<P, D>,
        template: &P,
        layout: &Layout,
        dtype: DType,
        rows: usize,
    ) -> Result<Self, Reason> {
        with_device(leaves::settings(template), |device| {
            let mut called = None;
            let captured = quietly(|| {
                device.capture_scope(|scope| {
                    called = Some(call(posterior, template, layout, dtype, rows, device));
                    scope.complete([], [])
                })
            });
            let boundary = called.transpose()?;
            match (captured, boundary) {
                (Ok(captured), Some(boundary)) => Self::number(captured, boundary, rows),
                (Err(error), _) => Err(Reason::new(format!("the closures cannot be recorded: {error}"))),
                (Ok(_), None) => Err(Reason::new("the closures cannot be recorded")),
            }
        })
    }

    fn number(captured: CapturedGraph, boundary: Boundary, rows: usize) -> Result<Self, Reason> {
        let mut numbers = Numbers::default();
        let mut operations = captured.graph.operations;
        operations.iter_mut().for_each(|operation| operation.visit_mut(&mut numbers));
        let values = captured.values.into_iter();
        let values = values.map(|(id, data)| (numbers.of(id, data.shape()), data)).collect();
        let known = |id: TensorId| numbers.known.get(&id).copied().ok_or_else(outside);
        let leaf = |id: &Option<TensorId>| id.ok_or_else(outside).and_then(known);
        let Boundary { parameters, data, outputs } = boundary;
        let outputs = Outputs {
            likelihood: outputs.likelihood.map(known).transpose()?,
            prior: outputs.prior.map(known).transpose()?,
            log_jacobian: outputs.log_jacobian.map(known).transpose()?,
        };
        let parameters = parameters.iter().map(leaf).collect::<Result<_, _>>()?;
        let data = data.iter().map(leaf).collect::<Result<_, _>>()?;
        Ok(Self { rows, operations, shapes: numbers.shapes, values, parameters, data, outputs })
    }
}

/// Runs the constraints, the log-prior and the log-likelihood on leaves without values.
fn call<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    template: &P,
    layout: &Layout,
    dtype: DType,
    rows: usize,
    device: &Device,
) -> Result<Boundary, Reason> {
    let (model, dataset) = (posterior.model(), posterior.data());
    let failed = |error| Reason::failed_call(&error);
    let made = guarded(crate::error::Closure::LogPrior, || leaves::parameters(template, layout, device, dtype));
    let leaves::Parameters { params, log_jacobian, ids } = made.map_err(failed)?;
    let prior = model.log_prior(copy(&params)).map_err(failed)?;
    let (mut data, mut likelihood) = (vec![], None);
    if model.has_likelihood() && dataset.observations() > 0 {
        // One row on a plain device shows the structure of the data.
        let like = dataset.batch(Rows::range(0..1), &crate::array::default_device()).map_err(failed)?;
        let (observations, ids) = leaves::observations(&like, dataset.columns(), device, rows);
        likelihood = model.log_likelihood(params, observations, rows).map_err(failed)?;
        data = ids;
    }
    let outputs = Outputs {
        likelihood: output(likelihood.as_ref())?,
        prior: output(prior.as_ref())?,
        log_jacobian: output(log_jacobian.as_ref())?,
    };
    Ok(Boundary { parameters: ids, data, outputs })
}

fn output(tensor: Option<&Tensor<1>>) -> Result<Option<TensorId>, Reason> {
    tensor.map(|tensor| leaves::id(tensor).ok_or_else(outside)).transpose()
}

fn outside() -> Reason {
    Reason::new("a closure returns a tensor that is not made from its arguments")
}

/// The same tree again, of the same tensors.
fn copy<P: TensorTree>(params: &P) -> P {
    params.rebuild(&mut leaves::Copies)
}

/// Gives tensors numbers in the order they appear.
#[derive(Default)]
struct Numbers {
    known: HashMap<TensorId, usize>,
    shapes: Vec<Vec<usize>>,
}

impl Numbers {
    fn of(&mut self, id: TensorId, shape: &[usize]) -> usize {
        *self.known.entry(id).or_insert_with(|| {
            self.shapes.push(shape.to_vec());
            self.shapes.len() - 1
        })
    }
}

impl IrVisitorMut for Numbers {
    fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
        tensor.id = TensorId::new(self.of(tensor.id, &tensor.shape) as u64);
        // How a tensor may be reused depends on when clones are dropped, not on what is computed.
        tensor.status = TensorStatus::ReadOnly;
    }
}
