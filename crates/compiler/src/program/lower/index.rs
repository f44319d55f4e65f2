//! Lowering of selections, gathers and their adjoints.

use super::reduce::features;
use super::{Lowering, Value};
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::program::indexed::{GatherOperands, SelectOperands, Table};
use crate::program::instruction::Instruction;
use crate::program::view::{BufferId, View};

impl Lowering<'_> {
    pub(super) fn select(&mut self, id: NodeId, source: NodeId, at: NodeId, axis: usize) -> Result<Value> {
        let dims = self.graph.shape(source).dims.clone();
        // A parameter is read in place, because most of its rows are not selected.
        let table = match self.read_in_place(id, source) {
            Some(leaf) => Table::Parameter(leaf),
            None => {
                let view = self.contiguous(source)?;
                let view = if view.offset == 0 { view } else { self.copy(source, &view) };
                Table::Buffer(view.buffer)
            }
        };
        let out = self.buffer_for(id);
        let values = self.graph.shape(id).clone();
        let selection = self.select_operands(table, &dims, axis, at, out, values.rows)?;
        self.emit(id, Instruction::Select(selection));
        Ok(self.whole(out, id))
    }

    /// Returns the parameter leaf that selection `id` from `source` reads in place, if it does.
    pub(super) fn read_in_place(&self, id: NodeId, source: NodeId) -> Option<usize> {
        match self.graph.node(source).op {
            Op::Parameter(leaf) if self.graph.shape(id).rows => Some(leaf),
            _ => None,
        }
    }

    /// Lowers the adjoint of a selection in which each observation has its own sums, or everything is shared.
    pub(super) fn select_adjoint(&mut self, id: NodeId, values: NodeId, at: NodeId, axis: usize) -> Result<Value> {
        let shape = self.graph.shape(id).clone();
        let out = self.buffer_for(id);
        self.emit(id, Instruction::Clear { features: shape.size(), rows: shape.rows, out });
        let selection = self.select_adjoint_operands(Table::Buffer(out), &shape.dims, axis, values, at)?;
        let instruction =
            if shape.rows { Instruction::SelectAdjointRows(selection) } else { Instruction::SelectAdjoint(selection) };
        self.emit(id, instruction);
        Ok(self.whole(out, id))
    }

    pub(super) fn sum_select_adjoint(
        &mut self,
        id: NodeId,
        values: NodeId,
        at: NodeId,
        axis: usize,
    ) -> Result<Option<Value>> {
        let dims = self.graph.shape(id).dims.clone();
        let out = self.accumulator(id);
        let selection = self.select_adjoint_operands(Table::Buffer(out), &dims, axis, values, at)?;
        self.tile.push(Instruction::SelectAdjoint(selection));
        Ok(Some(self.whole(out, id)))
    }

    /// Returns the operands of the adjoint of a selection from a table of dimensions `dims`.
    pub(super) fn select_adjoint_operands(
        &mut self,
        table: Table,
        dims: &[usize],
        axis: usize,
        values: NodeId,
        at: NodeId,
    ) -> Result<SelectOperands> {
        let view = self.contiguous(values)?;
        let view = if view.offset == 0 { view } else { self.copy(values, &view) };
        self.select_operands(table, dims, axis, at, view.buffer, view.rows)
    }

    fn select_operands(
        &mut self,
        table: Table,
        dims: &[usize],
        axis: usize,
        at: NodeId,
        values: BufferId,
        values_rows: bool,
    ) -> Result<SelectOperands> {
        let index = self.view(at)?;
        Ok(SelectOperands {
            table,
            outer: dims[..axis].iter().product(),
            length: dims[axis],
            inner: dims[axis + 1..].iter().product(),
            index: index.buffer,
            indices: features(&index, &index.dims),
            index_rows: index.rows,
            values,
            values_rows,
            factor: 1.0,
        })
    }

    pub(super) fn gather(&mut self, id: NodeId, source: NodeId, at: NodeId, axis: usize) -> Result<Value> {
        let (table, index) = (self.view(source)?, self.view(at)?);
        let out = self.buffer_for(id);
        let gathering = gather_operands(&table, &index, axis, out, self.graph.shape(id).rows);
        self.emit(id, Instruction::Gather(gathering));
        Ok(self.whole(out, id))
    }

    pub(super) fn gather_adjoint(&mut self, id: NodeId, values: NodeId, at: NodeId, axis: usize) -> Result<Value> {
        let shape = self.graph.shape(id).clone();
        let out = self.buffer_for(id);
        self.emit(id, Instruction::Clear { features: shape.size(), rows: shape.rows, out });
        let gathering = self.gather_adjoint_operands(id, values, at, axis, out)?;
        self.emit(id, Instruction::GatherAdjoint(gathering));
        Ok(self.whole(out, id))
    }

    pub(super) fn sum_gather_adjoint(
        &mut self,
        id: NodeId,
        values: NodeId,
        at: NodeId,
        axis: usize,
    ) -> Result<Option<Value>> {
        let out = self.accumulator(id);
        let gathering = self.gather_adjoint_operands(id, values, at, axis, out)?;
        self.tile.push(Instruction::GatherAdjoint(gathering));
        Ok(Some(self.whole(out, id)))
    }

    fn gather_adjoint_operands(
        &mut self,
        id: NodeId,
        values: NodeId,
        at: NodeId,
        axis: usize,
        out: BufferId,
    ) -> Result<GatherOperands> {
        let shape = self.graph.shape(id).clone();
        let picked = self.contiguous(values)?;
        let picked = if picked.offset == 0 { picked } else { self.copy(values, &picked) };
        let index = self.view(at)?;
        let table = View::whole(out, shape.rows, &shape.dims);
        Ok(gather_operands(&table, &index, axis, picked.buffer, picked.rows))
    }
}

fn gather_operands(table: &View, index: &View, axis: usize, values: BufferId, values_rows: bool) -> GatherOperands {
    let mut first = table.clone();
    first.dims[axis] = 1;
    first.strides[axis] = 0;
    let begins = features(&first, &index.dims);
    let positions = begins.into_iter().zip(features(index, &index.dims)).map(|(begin, at)| [begin, at]).collect();
    GatherOperands {
        table: table.buffer,
        table_rows: table.rows,
        stride: table.strides[axis],
        length: table.dims[axis],
        index: index.buffer,
        index_rows: index.rows,
        positions,
        values,
        values_rows,
    }
}
