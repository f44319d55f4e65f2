//! Values at integers that each observation has, and their adjoints.

use super::reduce::features;
use super::{Lowering, Value};
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::program::indexed::{Gathering, Selection, Table};
use crate::program::instruction::Instruction;
use crate::program::view::{Store, View};

impl Lowering<'_> {
    pub(super) fn select(&mut self, id: NodeId, source: NodeId, at: NodeId, axis: usize) -> Result<Value> {
        let dims = self.graph.shape(source).dims.clone();
        // A parameter is read where it lies: most of its rows are not needed.
        let table = match self.read_in_place(id, source) {
            Some(leaf) => Table::Parameter(leaf),
            None => {
                let view = self.contiguous(source)?;
                let view = if view.offset == 0 { view } else { self.copy(source, &view) };
                Table::Buffer(view.store)
            }
        };
        let out = self.fresh(id);
        let values = self.graph.shape(id).clone();
        let selection = self.selection(table, &dims, axis, at, (out, values.rows))?;
        self.emit(id, Instruction::Select(selection));
        Ok(self.whole(out, id))
    }

    /// The parameter leaf that a selection `id` from `source` reads where it lies.
    pub(super) fn read_in_place(&self, id: NodeId, source: NodeId) -> Option<usize> {
        match self.graph.node(source).op {
            Op::Parameter(leaf) if self.graph.shape(id).rows => Some(leaf),
            _ => None,
        }
    }

    /// The adjoint of a selection where each observation has its own sums, or all is shared.
    pub(super) fn select_adjoint(
        &mut self,
        id: NodeId,
        values: NodeId,
        at: NodeId,
        (axis, _): (usize, usize),
    ) -> Result<Value> {
        let shape = self.graph.shape(id).clone();
        let out = self.fresh(id);
        self.emit(id, Instruction::Clear { features: shape.size(), rows: shape.rows, out });
        let selection = self.adjoint(Table::Buffer(out), &shape.dims, axis, values, at)?;
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
        (axis, _): (usize, usize),
    ) -> Result<Option<Value>> {
        let dims = self.graph.shape(id).dims.clone();
        let out = self.accumulator(id);
        let selection = self.adjoint(Table::Buffer(out), &dims, axis, values, at)?;
        self.tile.push(Instruction::SelectAdjoint(selection));
        Ok(Some(self.whole(out, id)))
    }

    /// The adjoint of a selection from a table of `dims`.
    pub(super) fn adjoint(
        &mut self,
        table: Table,
        dims: &[usize],
        axis: usize,
        values: NodeId,
        at: NodeId,
    ) -> Result<Selection> {
        let view = self.contiguous(values)?;
        let view = if view.offset == 0 { view } else { self.copy(values, &view) };
        self.selection(table, dims, axis, at, (view.store, view.rows))
    }

    fn selection(
        &mut self,
        table: Table,
        dims: &[usize],
        axis: usize,
        at: NodeId,
        (values, values_rows): (Store, bool),
    ) -> Result<Selection> {
        let index = self.view(at)?;
        Ok(Selection {
            table,
            outer: dims[..axis].iter().product(),
            length: dims[axis],
            inner: dims[axis + 1..].iter().product(),
            index: index.store,
            indices: features(&index, &index.dims),
            index_rows: index.rows,
            values,
            values_rows,
            factor: 1.0,
        })
    }

    pub(super) fn gather(&mut self, id: NodeId, source: NodeId, at: NodeId, axis: usize) -> Result<Value> {
        let (table, index) = (self.view(source)?, self.view(at)?);
        let out = self.fresh(id);
        let gathering = gathering(&table, &index, axis, (out, self.graph.shape(id).rows));
        self.emit(id, Instruction::Gather(gathering));
        Ok(self.whole(out, id))
    }

    pub(super) fn gather_adjoint(&mut self, id: NodeId, values: NodeId, at: NodeId, axis: usize) -> Result<Value> {
        let shape = self.graph.shape(id).clone();
        let out = self.fresh(id);
        self.emit(id, Instruction::Clear { features: shape.size(), rows: shape.rows, out });
        let gathering = self.gathered_adjoint(id, values, at, axis, out)?;
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
        let gathering = self.gathered_adjoint(id, values, at, axis, out)?;
        self.tile.push(Instruction::GatherAdjoint(gathering));
        Ok(Some(self.whole(out, id)))
    }

    fn gathered_adjoint(
        &mut self,
        id: NodeId,
        values: NodeId,
        at: NodeId,
        axis: usize,
        out: Store,
    ) -> Result<Gathering> {
        let shape = self.graph.shape(id).clone();
        let picked = self.contiguous(values)?;
        let picked = if picked.offset == 0 { picked } else { self.copy(values, &picked) };
        let index = self.view(at)?;
        let table = View::whole(out, shape.rows, &shape.dims);
        Ok(gathering(&table, &index, axis, (picked.store, picked.rows)))
    }
}

fn gathering(table: &View, index: &View, axis: usize, (values, values_rows): (Store, bool)) -> Gathering {
    let mut first = table.clone();
    first.dims[axis] = 1;
    first.strides[axis] = 0;
    let begins = features(&first, &index.dims);
    let positions = begins.into_iter().zip(features(index, &index.dims)).map(|(begin, at)| [begin, at]).collect();
    Gathering {
        table: table.store,
        table_rows: table.rows,
        stride: table.strides[axis],
        length: table.dims[axis],
        index: index.store,
        index_rows: index.rows,
        positions,
        values,
        values_rows,
    }
}
