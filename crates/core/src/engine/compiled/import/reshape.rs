//! Reshapes, permutations, expansions, repetitions and concatenations.
//!
//! A reshape maps (before, n, c, after) to (before′, n, c′, after′) in row-major order, where c entries are merged with
//! the axis of the n observations. The elements of each observation keep their order if the axes before that of the
//! observations have the same total size.

use burn_ir::{CatOpIr, RepeatDimOpIr, ShapeOpIr, TensorIr};

use super::{Importer, Result};
use crate::engine::compiled::compile_error::CompileError;

impl Importer<'_> {
    /// Imports a reshape.
    pub(super) fn reshaped(&mut self, ir: &ShapeOpIr) -> Result<()> {
        let (from, to) = (self.extent(&ir.input), self.extent(&ir.out));
        match (from.row, to.row) {
            (Some(a), Some(b)) => {
                let before = |dims: &[usize], axis: usize| dims[..axis].iter().product::<usize>();
                if before(&from.full, a.axis) != before(&to.full, b.axis) {
                    return Err(CompileError::new(
                        "a reshape moves elements from one row to another; \
                         swap axes with `swap_dims` or `permute` instead",
                    ));
                }
            }
            (None, None) => {}
            _ => return Err(self.mixed_rows()),
        }
        let node = self.node(&ir.input)?;
        let node = self.reshape(node, to.own())?;
        self.set(&ir.out, node)
    }

    /// Imports a permutation of axes.
    pub(super) fn permuted(&mut self, input: &TensorIr, axes: &[usize], out: &TensorIr) -> Result<()> {
        let from = self.extent(input);
        let kept = from.kept();
        let own: Vec<usize> = axes.iter().filter(|axis| kept.contains(axis)).map(|axis| from.axis(*axis)).collect();
        let mut node = self.node(input)?;
        if !own.iter().copied().eq(0..own.len()) {
            node = self.graph.permute(node, &own)?;
        }
        self.set(out, node)
    }

    /// Imports an expansion of axes of size one.
    pub(super) fn expanded(&mut self, input: &TensorIr, out: &TensorIr) -> Result<()> {
        let (from, to) = (self.extent(input), self.extent(out));
        let new = to.full.len() - from.full.len();
        let mut full = vec![1; new];
        full.extend(&from.full);
        let same_rows = match (from.row, to.row) {
            (Some(a), Some(b)) => a.axis + new == b.axis && a.inner == b.inner,
            (Some(_), None) => false,
            (None, _) => true,
        };
        if !same_rows {
            return Err(self.mixed_rows());
        }
        if let Some(row) = to.dropped() {
            full.remove(row);
        }
        let node = self.node(input)?;
        let node = self.reshape(node, full)?;
        let node = self.graph.expand(node, to.own())?;
        self.set(out, node)
    }

    /// Imports a repetition along an axis.
    pub(super) fn repeated(&mut self, ir: &RepeatDimOpIr) -> Result<()> {
        let (from, to) = (self.extent(&ir.tensor), self.extent(&ir.out));
        if from.full[ir.dim] == 1 && !from.is_row(ir.dim) {
            return self.expanded(&ir.tensor, &ir.out);
        }
        if ir.times != 1 && (from.is_row(ir.dim) || to.is_row(ir.dim)) {
            return Err(self.mixed_rows());
        }
        let node = self.node(&ir.tensor)?;
        let node = if ir.times == 1 { node } else { self.graph.cat(&vec![node; ir.times], from.axis(ir.dim))? };
        self.set(&ir.out, node)
    }

    /// Imports a concatenation.
    pub(super) fn concatenated(&mut self, ir: &CatOpIr) -> Result<()> {
        let to = self.extent(&ir.out);
        self.not_rows(&to, ir.dim)?;
        let parts = ir.tensors.iter().map(|tensor| self.node(tensor)).collect::<Result<Vec<_>>>()?;
        let node = self.graph.cat(&parts, to.axis(ir.dim))?;
        self.set(&ir.out, node)
    }
}
