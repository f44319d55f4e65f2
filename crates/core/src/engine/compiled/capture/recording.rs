//! The operations that Burn records in one call of the closures.

use std::collections::{BTreeMap, HashMap};

use burn_capture::TensorId;
use burn_ir::{IrVisitorMut, OperationIr, TensorIr, TensorStatus};
use burn_tensor::{CapturedGraph, DType, Device, Tensor, TensorData};

use super::device::with_device;
use super::leaves;
use crate::closure::{guarded, silence_panics};
use crate::engine::Posterior;
use crate::engine::compiled::compile_error::CompileError;
use crate::sequence::{Scan, record};
use crate::tree::TensorTree;
use sgmcmc_gradient::data::Rows;
use sgmcmc_gradient::layout::Layout;

/// The operations of one call. Tensors are numbered in the order of their appearance, so that two calls can be
/// compared.
#[derive(Debug)]
pub(in crate::engine::compiled) struct Recording {
    /// The number of observations in the call.
    pub(in crate::engine::compiled) rows: usize,
    pub(in crate::engine::compiled) operations: Vec<OperationIr>,
    /// The shape of each tensor.
    pub(in crate::engine::compiled) shapes: Vec<Vec<usize>>,
    /// The values of constant tensors.
    pub(in crate::engine::compiled) values: BTreeMap<usize, TensorData>,
    /// The tensors of the coordinates of each block.
    pub(in crate::engine::compiled) parameters: Vec<usize>,
    /// The tensors of the columns of the data.
    pub(in crate::engine::compiled) data: Vec<usize>,
    pub(in crate::engine::compiled) outputs: Outputs<usize>,
    /// The loops over time.
    pub(in crate::engine::compiled) scans: Vec<Scan<usize>>,
    /// The element types of the arguments of their bodies.
    pub(in crate::engine::compiled) dtypes: BTreeMap<usize, DType>,
}

/// The results of the closures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::compiled) struct Outputs<T> {
    pub(in crate::engine::compiled) likelihood: Option<T>,
    pub(in crate::engine::compiled) prior: Option<T>,
    pub(in crate::engine::compiled) log_jacobian: Option<T>,
}

/// Burn's identifiers of the arguments and results of a call.
struct Boundary {
    parameters: Vec<Option<TensorId>>,
    data: Vec<Option<TensorId>>,
    outputs: Outputs<TensorId>,
    scans: Vec<Scan<TensorId>>,
}

impl Recording {
    /// Records one call of the closures of `posterior` with `rows` observations.
    ///
    /// # Errors
    ///
    /// Returns an error if a closure fails or cannot be recorded.
    pub(super) fn new<P: TensorTree, D: TensorTree>(
        posterior: &Posterior<P, D>,
        template: &P,
        layout: &Layout,
        dtype: DType,
        rows: usize,
    ) -> Result<Self, CompileError> {
        with_device(leaves::settings(template), |device| {
            let mut called = None;
            let captured = silence_panics(|| {
                device.capture_scope(|scope| {
                    let (boundary, scans) = record(|| call(posterior, template, layout, dtype, rows, device));
                    called = Some(boundary.map(|boundary| Boundary { scans, ..boundary }));
                    scope.complete([], [])
                })
            });
            let boundary = called.transpose()?;
            match (captured, boundary) {
                (Ok(captured), Some(boundary)) => Self::numbered(captured, boundary, rows),
                (Err(error), _) => Err(CompileError::new(format!("the closures cannot be recorded: {error}"))),
                (Ok(_), None) => Err(CompileError::new("the closures cannot be recorded")),
            }
        })
    }

    /// Replaces Burn's identifiers by numbers in the order of appearance.
    fn numbered(captured: CapturedGraph, boundary: Boundary, rows: usize) -> Result<Self, CompileError> {
        let mut numbers = TensorNumbering::default();
        let mut operations = captured.graph.operations;
        operations.iter_mut().for_each(|operation| operation.visit_mut(&mut numbers));
        let values = captured.values.into_iter();
        let values = values.map(|(id, data)| (numbers.get_or_assign(id, data.shape()), data)).collect();
        let known = |id: TensorId| numbers.known.get(&id).copied().ok_or_else(outside);
        let leaf = |id: &Option<TensorId>| id.ok_or_else(outside).and_then(known);
        let Boundary { parameters, data, outputs, scans } = boundary;
        let outputs = Outputs {
            likelihood: outputs.likelihood.map(known).transpose()?,
            prior: outputs.prior.map(known).transpose()?,
            log_jacobian: outputs.log_jacobian.map(known).transpose()?,
        };
        let parameters = parameters.iter().map(leaf).collect::<Result<_, _>>()?;
        let data = data.iter().map(leaf).collect::<Result<_, _>>()?;
        let scans = scans.iter().map(|scan| scan.try_map(known)).collect::<Result<Vec<_>, _>>()?;
        let arguments: Vec<usize> =
            scans.iter().flat_map(|scan| scan.states.iter().chain(&scan.elements)).copied().collect();
        let mut dtypes = BTreeMap::new();
        if !arguments.is_empty() {
            let made = operations.iter().flat_map(OperationIr::outputs);
            let made = made.map(|tensor| (tensor.id.value() as usize, tensor.dtype));
            dtypes.extend(made.filter(|(number, _)| arguments.contains(number)));
        }
        Ok(Self { rows, operations, shapes: numbers.shapes, values, parameters, data, outputs, scans, dtypes })
    }
}

/// Runs the constraints, the log-prior and the log-likelihood with leaves without values.
fn call<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    template: &P,
    layout: &Layout,
    dtype: DType,
    rows: usize,
    device: &Device,
) -> Result<Boundary, CompileError> {
    let (model, dataset) = (posterior.model(), posterior.data());
    let failed = |error| CompileError::failed_call(&error);
    let made =
        guarded(sgmcmc_gradient::error::Closure::LogPrior, || leaves::parameters(template, layout, device, dtype));
    let leaves::Parameters { params, log_jacobian, ids } = made.map_err(failed)?;
    let prior = model.log_prior(copy(&params)).map_err(failed)?;
    let (mut data, mut likelihood) = (vec![], None);
    if model.has_likelihood() && dataset.observations() > 0 {
        // One observation on a plain device has the structure of the data.
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
    Ok(Boundary { parameters: ids, data, outputs, scans: vec![] })
}

/// Returns the identifier of a result.
fn output(tensor: Option<&Tensor<1>>) -> Result<Option<TensorId>, CompileError> {
    tensor.map(|tensor| leaves::id(tensor).ok_or_else(outside)).transpose()
}

/// Returns the error for a tensor that is not in the recording.
fn outside() -> CompileError {
    CompileError::new("a closure returns a tensor that is not made from its arguments")
}

/// Clones a tree.
fn copy<P: TensorTree>(params: &P) -> P {
    params.rebuild(&mut leaves::Copies)
}

/// Assigns numbers to tensors in the order of their appearance.
#[derive(Default)]
struct TensorNumbering {
    known: HashMap<TensorId, usize>,
    shapes: Vec<Vec<usize>>,
}

impl TensorNumbering {
    /// Returns the number of a tensor, and assigns one if it is new.
    fn get_or_assign(&mut self, id: TensorId, shape: &[usize]) -> usize {
        *self.known.entry(id).or_insert_with(|| {
            self.shapes.push(shape.to_vec());
            self.shapes.len() - 1
        })
    }
}

impl IrVisitorMut for TensorNumbering {
    fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
        tensor.id = TensorId::new(self.get_or_assign(tensor.id, &tensor.shape) as u64);
        // The status depends on the time at which clones are dropped, not on the computation.
        tensor.status = TensorStatus::ReadOnly;
    }
}
