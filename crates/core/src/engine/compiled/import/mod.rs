//! Conversion of a recording of Burn operations to a graph for one observation.
//!
//! A Burn tensor may have an axis of the observations at any position. The node of the graph does not have this axis.
//! If a reshape merged the axis of the n observations with axes after it into n · c entries, the node has an axis of
//! size c instead. Tensors that are the same for all observations keep their shape. A tensor may have an axis of the
//! observations without depending on them; its node is shared.
//!
//! The final sum over the observations of a summed likelihood is not computed. Operations on it are linear and are
//! applied to the term of each observation instead: Σ c aᵢ = Σ (c aᵢ).

mod activation;
mod base;
mod boolean;
mod constant;
mod elementwise;
mod extent;
mod float;
mod indexing;
mod integer;
mod matmul;
mod matrices;
mod numeric;
mod reduce;
mod reshape;
mod scan;
mod slice;
mod summed;
#[cfg(test)]
mod tests;

use burn_ir::{OperationIr, TensorIr};
use burn_tensor::DType;
use sgmcmc_compiler::graph::{BinaryOp, Graph, Kind, NodeId, Op};

use self::extent::Extent;
use super::capture::{Likelihood, Recording, Signature, name_of};
use super::compile_error::CompileError;
use sgmcmc_gradient::data::Column;
use sgmcmc_gradient::layout::Layout;

type Result<T> = std::result::Result<T, CompileError>;

/// The graph of a recording. [`Captured`](super::capture::Captured) documents the fields.
#[derive(Debug)]
pub(super) struct Imported {
    pub(super) graph: Graph,
    pub(super) parameters: Vec<NodeId>,
    pub(super) likelihood: Option<Likelihood>,
    pub(super) prior: Option<NodeId>,
}

/// Converts `recording` to a graph. The sizes of its tensors are those of `signature`. Loops have the first `limit` steps
/// only, and the last output stands for the others, as in [`within`](crate::sequence::within).
///
/// # Errors
///
/// Returns an error if an operation cannot be compiled.
pub(super) fn import(
    recording: &Recording,
    signature: &Signature,
    columns: &[Column],
    layout: &Layout,
    dtype: DType,
    prior_power: f64,
    limit: usize,
) -> Result<Imported> {
    let mut importer = Importer {
        graph: Graph::new(),
        recording,
        signature,
        dtype,
        values: vec![None; recording.shapes.len()],
        current: None,
        limit,
    };
    let parameters = importer.parameters(layout);
    importer.data(columns);
    importer.loop_variables();
    importer.operations()?;
    let likelihood = importer.likelihood()?;
    let prior = importer.prior(prior_power)?;
    Ok(Imported { graph: importer.graph, parameters, likelihood, prior })
}

/// The representation of a Burn tensor in the graph.
#[derive(Clone, Copy, Debug)]
struct Value {
    node: NodeId,
    /// True if the tensor is the sum of the node over the observations.
    summed: bool,
}

/// The state of a conversion.
struct Importer<'a> {
    graph: Graph,
    recording: &'a Recording,
    signature: &'a Signature,
    dtype: DType,
    /// The representations of tensors, by their numbers in the recording.
    values: Vec<Option<Value>>,
    /// The operation being imported, for messages.
    current: Option<&'a OperationIr>,
    /// The largest number of steps of a loop.
    limit: usize,
}

impl Importer<'_> {
    /// Adds the parameters.
    fn parameters(&mut self, layout: &Layout) -> Vec<NodeId> {
        let mut nodes = vec![];
        for (leaf, (block, number)) in layout.blocks().iter().zip(&self.recording.parameters).enumerate() {
            let dims = if block.constraint.is_some() { block.group_shape().to_vec() } else { block.shape.clone() };
            let node = self.graph.parameter(leaf, dims);
            self.values[*number] = Some(Value { node, summed: false });
            nodes.push(node);
        }
        nodes
    }

    /// Adds the leaves of the data.
    fn data(&mut self, columns: &[Column]) {
        for (leaf, (column, number)) in columns.iter().zip(&self.recording.data).enumerate() {
            let node = self.graph.data(
                leaf,
                column.row_shape().to_vec(),
                kind_of(crate::data::element_dtype(column.element_type())),
            );
            self.values[*number] = Some(Value { node, summed: false });
        }
    }

    /// Imports the operations that the results depend on.
    fn operations(&mut self) -> Result<()> {
        let recording = self.recording;
        let outputs = recording.outputs;
        let mut needed = vec![false; recording.shapes.len()];
        for output in [outputs.likelihood, outputs.prior, outputs.log_jacobian].into_iter().flatten() {
            needed[output] = true;
        }
        let mut steps = vec![];
        for operation in recording.operations.iter().rev() {
            if operation.outputs().any(|tensor| needed[number(tensor)]) {
                operation.inputs().for_each(|tensor| needed[number(tensor)] = true);
                for scan in operation.outputs().filter_map(|tensor| self.loop_of(number(tensor))) {
                    let inside = scan.next.iter().chain(&scan.step_outputs);
                    inside.chain(&scan.initial).chain(&scan.sequences).for_each(|number| needed[*number] = true);
                }
                steps.push(operation);
            }
        }
        for operation in steps.into_iter().rev() {
            let known = operation.outputs().all(|tensor| self.values[number(tensor)].is_some());
            if !known {
                self.current = Some(operation);
                let scan = operation.outputs().find_map(|tensor| self.loop_of(number(tensor))).cloned();
                match scan {
                    Some(scan) => self.unrolled(&scan)?,
                    None => self.operation(operation)?,
                }
            }
        }
        Ok(())
    }

    /// Imports an operation.
    fn operation(&mut self, operation: &OperationIr) -> Result<()> {
        self.check_precision(operation)?;
        let summed = self.keeps_sum(operation)?;
        match operation {
            OperationIr::BaseFloat(op) | OperationIr::BaseInt(op) | OperationIr::BaseBool(op) => self.base(op)?,
            OperationIr::NumericFloat(_, op) | OperationIr::NumericInt(_, op) => self.numeric(op)?,
            OperationIr::Float(_, op) => self.float(op)?,
            OperationIr::Int(op) => self.integer(op)?,
            OperationIr::Bool(op) => self.boolean(op)?,
            OperationIr::Activation(op) => self.activation(op)?,
            OperationIr::Module(op) => self.module(op)?,
            // The values are in the recording and are imported on first use.
            OperationIr::Init(_) => {}
            OperationIr::Custom(op) => self.custom(op)?,
            OperationIr::Drop(_) | OperationIr::Distributed(_) => return Err(self.unsupported()),
        }
        if summed {
            for tensor in operation.outputs() {
                if let Some(value) = &mut self.values[number(tensor)] {
                    value.summed = true;
                }
            }
        }
        Ok(())
    }

    /// Returns log p(xᵢ|θ), or `None` if there is no likelihood.
    fn likelihood(&mut self) -> Result<Option<Likelihood>> {
        let Some(output) = self.recording.outputs.likelihood else { return Ok(None) };
        let value = self.value(output)?;
        let per_row = self.extent_of(output).row.is_some();
        if !per_row && !value.summed {
            return Err(CompileError::new(
                "the log-likelihood returns one number that is not a sum over the rows; return one term per row",
            ));
        }
        Ok(Some(Likelihood { node: self.reshape(value.node, vec![])?, summed: value.summed }))
    }

    /// Returns `power` · log p(θ) + log |∂x/∂y|, or `None` if there is neither a prior nor a constraint.
    fn prior(&mut self, power: f64) -> Result<Option<NodeId>> {
        let outputs = self.recording.outputs;
        let mut total = None;
        for (output, factor) in [(outputs.prior, power), (outputs.log_jacobian, 1.0)] {
            let Some(output) = output else { continue };
            let value = self.value(output)?;
            let node = self.reshape(value.node, vec![])?;
            #[expect(clippy::float_cmp, reason = "exactly one is the common case and needs no operation")]
            let node = if factor == 1.0 { node } else { self.graph.affine(node, factor, 0.0) };
            total = Some(match total {
                Some(sum) => self.graph.binary(BinaryOp::Add, sum, node)?,
                None => node,
            });
        }
        Ok(total)
    }

    /// Returns the representation of tensor `number` in the graph.
    fn value(&mut self, number: usize) -> Result<Value> {
        if let Some(value) = self.values[number] {
            return Ok(value);
        }
        let node = self.constant(number)?;
        let value = Value { node, summed: false };
        self.values[number] = Some(value);
        Ok(value)
    }

    /// Returns the node of a tensor.
    fn node(&mut self, tensor: &TensorIr) -> Result<NodeId> {
        Ok(self.value(number(tensor))?.node)
    }

    /// Returns the node of a tensor, reshaped to all axes of the tensor. The axis of the observations has size one, or
    /// the number of entries per observation that were merged with it.
    fn full(&mut self, tensor: &TensorIr) -> Result<NodeId> {
        let node = self.node(tensor)?;
        let dims = self.extent(tensor).full;
        self.reshape(node, dims)
    }

    /// Sets the node of a tensor.
    ///
    /// # Errors
    ///
    /// Returns an error if the node does not have the shape of the tensor without the axis of the observations.
    fn set(&mut self, tensor: &TensorIr, node: NodeId) -> Result<()> {
        let (expected, found) = (self.extent(tensor).own(), &self.graph.shape(node).dims);
        if expected != *found {
            let operation = self.current();
            return Err(CompileError::new(format!(
                "the operation `{operation}` cannot be compiled for these shapes ({found:?} for {expected:?})"
            )));
        }
        self.values[number(tensor)] = Some(Value { node, summed: false });
        Ok(())
    }

    /// Sets the node of a tensor to a node with all axes of the tensor.
    fn set_full(&mut self, tensor: &TensorIr, node: NodeId) -> Result<()> {
        let node = self.reshape(node, self.extent(tensor).own())?;
        self.set(tensor, node)
    }

    /// Adds a reshape. A reshape of a reshape becomes a single one.
    fn reshape(&mut self, node: NodeId, dims: Vec<usize>) -> Result<NodeId> {
        let from = self.graph.node(node);
        let node = if from.op == Op::Reshape { from.inputs[0] } else { node };
        Ok(self.graph.reshape(node, dims)?)
    }

    /// Returns the extent of a tensor.
    fn extent(&self, tensor: &TensorIr) -> Extent {
        self.extent_of(number(tensor))
    }

    /// Returns the extent of tensor `number`.
    fn extent_of(&self, number: usize) -> Extent {
        Extent::new(&self.signature.dims[number])
    }

    /// Returns the name of the operation being imported.
    fn current(&self) -> String {
        self.current.map_or_else(|| "an operation".into(), name_of)
    }

    /// Returns the error that the current operation is not supported.
    fn unsupported(&self) -> CompileError {
        CompileError::unsupported(&self.current())
    }

    /// Returns the error that the current operation combines observations.
    fn mixed_rows(&self) -> CompileError {
        CompileError::mixed_rows(&self.current())
    }

    /// Checks that `axis` is not the axis of the observations.
    fn not_rows(&self, extent: &Extent, axis: usize) -> Result<()> {
        if extent.is_row(axis) { Err(self.mixed_rows()) } else { Ok(()) }
    }

    /// Checks that floats are computed in the type of the program. Operations that only move elements or convert
    /// integers are exact in every type.
    fn check_precision(&self, operation: &OperationIr) -> Result<()> {
        let computes = matches!(
            operation,
            OperationIr::NumericFloat(..)
                | OperationIr::Float(..)
                | OperationIr::Activation(_)
                | OperationIr::Module(_)
                | OperationIr::Custom(_)
        );
        let other = |tensor: &&TensorIr| tensor.dtype.is_float() && tensor.dtype != self.dtype;
        match operation.nodes().into_iter().find(|tensor| computes && other(tensor)) {
            Some(tensor) => {
                let (operation, found, expected) = (self.current(), tensor.dtype.name(), self.dtype.name());
                Err(CompileError::new(format!(
                    "`{operation}` computes in {found} where the parameters are {expected}; \
                     convert with `.cast(…)` before computing"
                )))
            }
            None => Ok(()),
        }
    }
}

/// Returns the number of a tensor in the recording.
fn number(tensor: &TensorIr) -> usize {
    tensor.id.value() as usize
}

/// Returns the kind of an element type.
fn kind_of(dtype: DType) -> Kind {
    match dtype {
        DType::Bool(_) => Kind::Mask,
        _ if dtype.is_float() => Kind::Float,
        _ => Kind::Int,
    }
}
