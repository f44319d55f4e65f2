//! Matrix products: for each observation, of shared matrices, and summed over the observations.
//!
//! Rows of a data leaf that are only multiplied with vectors and matrices are read where they lie, not transposed.

use super::{Lowering, Value};
use crate::error::{Error, Result};
use crate::graph::{Kind, NodeId, Op, broadcast};
use crate::program::instruction::{Instruction, MatrixView};
use crate::program::view::{Store, View};

/// Data rows of fewer numbers are transposed: their products vectorise over the observations.
const IN_PLACE: usize = 8;
/// Products are unrolled over the axes before the last two, up to this many.
const MOST_PRODUCTS: usize = 1024;

/// A data leaf used as a vector.
struct DataVector {
    leaf: usize,
    width: usize,
}

impl Lowering<'_> {
    pub(super) fn matmul(&mut self, id: NodeId, a: NodeId, b: NodeId) -> Result<Value> {
        let (left, right) = (self.graph.shape(a).clone(), self.graph.shape(b).clone());
        if let Some(vector) = self.data_vector(a).filter(|_| !right.rows && row_of(&left.dims) && single(&right.dims)) {
            let matrix = self.view(b)?;
            return self.multiply_data(id, &vector, &matrix, [0, 1]);
        }
        if let Some(vector) = self.data_vector(b).filter(|_| !left.rows && column_of(&right.dims) && single(&left.dims))
        {
            let matrix = self.view(a)?;
            return self.multiply_data(id, &vector, &matrix, [1, 0]);
        }
        let out = self.fresh(id);
        let rows = self.graph.shape(id).rows;
        let pairs = self.matrices(id, a, b)?;
        for (number, (size, a, b)) in pairs.into_iter().enumerate() {
            let out_offset = number * size[0] * size[2];
            self.emit(id, Instruction::Matmul { size, a, b, out_offset, rows, out });
        }
        Ok(self.whole(out, id))
    }

    /// Σ over the observations of the product `product` of `a` and `b`.
    pub(super) fn contract(&mut self, id: NodeId, product: NodeId, a: NodeId, b: NodeId) -> Result<Option<Value>> {
        let (left, right) = (self.graph.shape(a).clone(), self.graph.shape(b).clone());
        if !left.rows && !right.rows {
            return Ok(None);
        }
        if let Some(vector) = self.data_vector(a).filter(|_| right.rows && column_of(&left.dims) && single(&right.dims))
        {
            let columns = right.size();
            return self.contract_data(id, &vector, b, [columns, 1]).map(Some);
        }
        if let Some(vector) = self.data_vector(b).filter(|_| left.rows && row_of(&right.dims) && single(&left.dims)) {
            return self.contract_data(id, &vector, a, [1, vector.width]).map(Some);
        }
        let pairs = self.matrices(product, a, b)?;
        let out = self.accumulator(id);
        for (number, (size, a, b)) in pairs.into_iter().enumerate() {
            let out_offset = number * size[0] * size[2];
            self.tile.push(Instruction::Contract { size, a, b, out_offset, out });
        }
        Ok(Some(self.whole(out, id)))
    }

    /// The products of a data row with a shared matrix, whose axes `axes` are the row's and the result's.
    fn multiply_data(&mut self, id: NodeId, vector: &DataVector, matrix: &View, axes: [usize; 2]) -> Result<Value> {
        let outer = matrix.dims.len() - 2;
        let columns = matrix.dims[outer + axes[1]];
        let matrix = if matrix.strides.iter().any(|stride| *stride < 0) || (columns == 1 && !matrix.is_contiguous()) {
            self.copy_before(id, matrix)
        } else {
            matrix.clone()
        };
        let out = self.fresh(id);
        let (width, offset) = (vector.width, matrix.offset);
        if columns == 1 {
            self.tile.push(Instruction::DotData { leaf: vector.leaf, width, vector: matrix.store, offset, out });
        } else {
            let copied = self.copied_rows(vector);
            let strides = axes.map(|axis| matrix.strides[outer + axis] as usize);
            let matrix = matrix.store;
            self.tile.push(Instruction::MultiplyData { copied, width, columns, matrix, offset, strides, out });
        }
        Ok(self.whole(out, id))
    }

    /// Σ over the observations of data row × coefficients, laid out with `strides` of the row's and of the coefficients' axis.
    fn contract_data(
        &mut self,
        id: NodeId,
        vector: &DataVector,
        coefficients: NodeId,
        strides: [usize; 2],
    ) -> Result<Value> {
        let coefficients = self.contiguous(coefficients)?;
        let out = self.accumulator(id);
        let (width, columns, offset) = (vector.width, coefficients.size(), coefficients.offset);
        let coefficients = coefficients.store;
        if columns == 1 {
            self.tile.push(Instruction::AccumulateData { leaf: vector.leaf, width, coefficients, offset, out });
        } else {
            let copied = self.copied_rows(vector);
            self.tile.push(Instruction::ContractData { copied, width, columns, coefficients, offset, strides, out });
        }
        Ok(self.whole(out, id))
    }

    /// The pairs of matrices a product consists of, one for each index of the axes before the last two.
    fn matrices(&mut self, id: NodeId, a: NodeId, b: NodeId) -> Result<Vec<([usize; 3], MatrixView, MatrixView)>> {
        let (a, b) = (self.matrix_operand(id, a)?, self.matrix_operand(id, b)?);
        let split = |view: &View| view.dims.len() - 2;
        let (m, k, n) = (a.dims[split(&a)], a.dims[split(&a) + 1], b.dims[split(&b) + 1]);
        let outer = broadcast(&a.dims[..split(&a)], &b.dims[..split(&b)]).unwrap_or_default();
        if outer.iter().product::<usize>() > MOST_PRODUCTS {
            return Err(Error::Unsupported { operation: format!("a matrix product over axes {outer:?}") });
        }
        let offsets = |view: &View| {
            let (dims, strides) = (view.dims[..split(view)].to_vec(), view.strides[..split(view)].to_vec());
            super::reduce::features(&View { dims, strides, ..view.clone() }, &outer)
        };
        let matrix = |view: &View, offset: usize| MatrixView {
            store: view.store,
            rows: view.rows,
            offset,
            strides: [view.strides[split(view)] as usize, view.strides[split(view) + 1] as usize],
        };
        let pairs = offsets(&a).into_iter().zip(offsets(&b));
        Ok(pairs.map(|(i, j)| ([m, k, n], matrix(&a, i), matrix(&b, j))).collect())
    }

    fn matrix_operand(&mut self, id: NodeId, x: NodeId) -> Result<View> {
        let view = self.view(x)?;
        if view.strides.iter().all(|stride| *stride >= 0) { Ok(view) } else { Ok(self.copy(id, &view)) }
    }

    /// A contiguous copy of a shared value, made before the rows.
    fn copy_before(&mut self, id: NodeId, view: &View) -> View {
        let tile = std::mem::take(&mut self.tile);
        let copied = self.copy(id, view);
        let copies = std::mem::replace(&mut self.tile, tile);
        self.before.extend(copies);
        copied
    }

    fn copied_rows(&mut self, vector: &DataVector) -> Store {
        if let Some(store) = self.copied.get(&vector.leaf) {
            return *store;
        }
        let out = self.buffer(false, vector.width, true);
        self.tile.push(Instruction::CopyRows { leaf: vector.leaf, width: vector.width, out });
        self.copied.insert(vector.leaf, out);
        out
    }

    /// The data leaf that node is, if only axes of size one were moved.
    fn data_vector(&self, id: NodeId) -> Option<DataVector> {
        let node = self.graph.node(id);
        match (&node.op, node.inputs.as_slice()) {
            (Op::Data(leaf), _) if node.kind == Kind::Float && node.shape.size() >= IN_PLACE => {
                Some(DataVector { leaf: *leaf, width: node.shape.size() })
            }
            (Op::Reshape, [x]) => self.data_vector(*x),
            (Op::Permute(_), [x]) if node.shape.dims.iter().filter(|size| **size != 1).count() <= 1 => {
                self.data_vector(*x)
            }
            _ => None,
        }
    }
}

/// Whether these are the dimensions of a row vector.
fn row_of(dims: &[usize]) -> bool {
    dims.iter().rev().skip(1).all(|size| *size == 1)
}

/// Whether these are the dimensions of one matrix.
fn single(dims: &[usize]) -> bool {
    dims.iter().rev().skip(2).all(|size| *size == 1)
}

/// Whether these are the dimensions of a column vector.
fn column_of(dims: &[usize]) -> bool {
    dims.last() == Some(&1) && single(dims)
}
