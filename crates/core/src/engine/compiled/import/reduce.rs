//! Sums, products and extremes along axes. Sums over the observations are not computed, see the [parent module](super).

use burn_ir::{ReduceOpIr, TensorIr};
use sgmcmc_compiler::graph::{NodeId, ReduceOp, UnaryOp};

use super::{Importer, Result, Value, number};
use crate::engine::compiled::compile_error::CompileError;

impl Importer<'_> {
    /// Imports a reduction of all elements.
    pub(super) fn total(&mut self, op: ReduceOp, ir: &ReduceOpIr) -> Result<()> {
        let axes = 0..self.extent(&ir.input).full.len();
        self.reduce(op, &ir.input, axes, &ir.out)
    }

    /// Imports a reduction along these axes. The axis of a sum may be that of the observations.
    pub(super) fn reduce(
        &mut self,
        op: ReduceOp,
        input: &TensorIr,
        axes: impl IntoIterator<Item = usize>,
        out: &TensorIr,
    ) -> Result<()> {
        let axes: Vec<usize> = axes.into_iter().collect();
        let extent = self.extent(input);
        let over_rows = axes.iter().any(|axis| extent.is_row(*axis));
        let node = self.node(input)?;
        if over_rows && op == ReduceOp::Sum {
            let full = self.full(input)?;
            let node = self.graph.sum(full, axes)?;
            let node = self.reshape(node, self.extent(out).own())?;
            self.values[number(out)] = Some(Value { node, summed: true });
            return Ok(());
        }
        let node = self.reduced(op, node, input, axes)?;
        let node = self.reshape(node, self.extent(out).own())?;
        self.set(out, node)
    }

    /// Adds a reduction of `node`, which has the shape of `input`, along axes other than that of the observations.
    pub(super) fn reduced(
        &mut self,
        op: ReduceOp,
        node: NodeId,
        input: &TensorIr,
        axes: impl IntoIterator<Item = usize>,
    ) -> Result<NodeId> {
        let extent = self.extent(input);
        let mut node = node;
        for axis in axes {
            self.not_rows(&extent, axis)?;
            node = self.graph.reduce(op, node, extent.axis(axis))?;
        }
        Ok(node)
    }

    /// Imports the mean of all elements or along an axis.
    pub(super) fn mean(&mut self, input: &TensorIr, axis: Option<usize>, out: &TensorIr) -> Result<()> {
        let extent = self.extent(input);
        let axes: Vec<usize> = axis.map_or_else(|| (0..extent.full.len()).collect(), |axis| vec![axis]);
        if axes.iter().any(|axis| extent.is_row(*axis)) {
            return Err(CompileError::new(
                "a mean is taken over the rows, which depends on which rows are in the minibatch; \
                 return one term per row, or subtract means from the data beforehand",
            ));
        }
        let count: usize = axes.iter().map(|axis| extent.full[*axis]).product();
        let node = self.node(input)?;
        let sum = self.reduced(ReduceOp::Sum, node, input, axes)?;
        let mean = self.graph.affine(sum, 1.0 / count as f64, 0.0);
        let node = self.reshape(mean, self.extent(out).own())?;
        self.set(out, node)
    }

    /// Imports the largest absolute value of all elements or along an axis.
    pub(super) fn largest_size(&mut self, input: &TensorIr, axis: Option<usize>, out: &TensorIr) -> Result<()> {
        let rank = self.extent(input).full.len();
        let axes = axis.map_or(0..rank, |axis| axis..axis + 1);
        let node = self.node(input)?;
        let sizes = self.graph.unary(UnaryOp::Abs, node);
        let node = self.reduced(ReduceOp::Max, sizes, input, axes)?;
        let node = self.reshape(node, self.extent(out).own())?;
        self.set(out, node)
    }
}
