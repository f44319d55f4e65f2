//! Lowering of matrix products: per observation, of shared matrices, and summed over the observations.
//!
//! Rows of a data leaf that are only multiplied by vectors and matrices are read in place, without transposition.

use super::{IN_PLACE_WIDTH, Lowering, Value};
use crate::error::{Error, Result};
use crate::graph::{BinaryOp, Kind, NodeId, Op, broadcast};
use crate::kernels::{copies_size, panels_size};
use crate::program::instruction::{Instruction, MatrixView};
use crate::program::view::View;

/// The maximum number of products over the leading axes. They are unrolled.
const MAX_PRODUCTS: usize = 1024;

/// A data leaf that is used as a vector.
pub(super) struct DataVector {
    leaf: usize,
    width: usize,
}

/// The product of a data leaf, which is read in place, with a shared matrix.
pub(super) struct DataProduct {
    vector: DataVector,
    pub(super) matrix: NodeId,
    /// The axes of the matrix that belong to the leaf and to the result.
    axes: [usize; 2],
}

/// The sum over the observations of the outer product of a data leaf, which is read in place, with coefficients.
pub(super) struct DataContraction {
    vector: DataVector,
    pub(super) coefficients: NodeId,
    /// The strides of the result along the axes of the leaf and of the coefficients.
    strides: [usize; 2],
}

impl Lowering<'_> {
    pub(super) fn matmul(&mut self, id: NodeId, a: NodeId, b: NodeId) -> Result<Value> {
        if let Some(DataProduct { vector, matrix, axes }) = self.multiplied(a, b) {
            let matrix = self.view(matrix)?;
            return self.multiply_data(id, &vector, &matrix, axes);
        }
        let out = self.buffer_for(id);
        let rows = self.graph.shape(id).rows;
        let pairs = self.matrices(id, a, b)?;
        for (number, (size, a, b)) in pairs.into_iter().enumerate() {
            let out_offset = number * size[0] * size[2];
            self.emit(id, Instruction::Matmul { size, a, b, out_offset, rows, out });
        }
        Ok(self.whole(out, id))
    }

    /// Returns the product of `a` and `b` as one that reads a data leaf in place, if possible.
    pub(super) fn multiplied(&self, a: NodeId, b: NodeId) -> Option<DataProduct> {
        let (left, right) = (self.graph.shape(a), self.graph.shape(b));
        let first = || self.data_vector(a).filter(|_| !right.rows && row_of(&left.dims) && single(&right.dims));
        let second = || self.data_vector(b).filter(|_| !left.rows && column_of(&right.dims) && single(&left.dims));
        let product = |vector, matrix, axes| DataProduct { vector, matrix, axes };
        first().map(|vector| product(vector, b, [0, 1])).or_else(|| second().map(|vector| product(vector, a, [1, 0])))
    }

    /// Returns the sum over the observations of the product of `a` and `b` as one that reads a data leaf in place, if possible.
    pub(super) fn contracted(&self, a: NodeId, b: NodeId) -> Option<DataContraction> {
        let (left, right) = (self.graph.shape(a), self.graph.shape(b));
        let first = || self.data_vector(a).filter(|_| right.rows && column_of(&left.dims) && single(&right.dims));
        let second = || self.data_vector(b).filter(|_| left.rows && row_of(&right.dims) && single(&left.dims));
        let contraction = |vector, coefficients, strides| DataContraction { vector, coefficients, strides };
        first().map(|vector| contraction(vector, b, [right.size(), 1])).or_else(|| {
            second().map(|vector| {
                let strides = [1, vector.width];
                contraction(vector, a, strides)
            })
        })
    }

    /// Lowers the sum over the observations of the product `product` of `a` and `b`.
    pub(super) fn contract(&mut self, id: NodeId, product: NodeId, a: NodeId, b: NodeId) -> Result<Option<Value>> {
        if !self.graph.shape(a).rows && !self.graph.shape(b).rows {
            return Ok(None);
        }
        if let Some(DataContraction { vector, coefficients, strides }) = self.contracted(a, b) {
            return self.contract_data(id, &vector, coefficients, strides).map(Some);
        }
        let pairs = self.matrices(product, a, b)?;
        let out = self.accumulator(id);
        for (number, (size, a, b)) in pairs.into_iter().enumerate() {
            let out_offset = number * size[0] * size[2];
            self.tile.push(Instruction::Contract { size, a, b, out_offset, out });
        }
        Ok(Some(self.whole(out, id)))
    }

    /// Lowers the product of a data row with a shared matrix. `axes` are the axes of the matrix that belong to the row
    /// and to the result.
    fn multiply_data(&mut self, id: NodeId, vector: &DataVector, matrix: &View, axes: [usize; 2]) -> Result<Value> {
        let outer = matrix.dims.len() - 2;
        let columns = matrix.dims[outer + axes[1]];
        let matrix = if matrix.strides.iter().any(|stride| *stride < 0) || (columns == 1 && !matrix.is_contiguous()) {
            self.copy_before(id, matrix)
        } else {
            matrix.clone()
        };
        let out = self.buffer_for(id);
        let (width, offset) = (vector.width, matrix.offset);
        if columns == 1 {
            self.tile.push(Instruction::DotData { leaf: vector.leaf, width, vector: matrix.buffer, offset, out });
        } else {
            let strides = axes.map(|axis| matrix.strides[outer + axis] as usize);
            let panels = self.new_buffer(false, panels_size(width, columns), false);
            let (leaf, matrix) = (vector.leaf, matrix.buffer);
            self.tile.push(Instruction::MultiplyData { leaf, width, columns, matrix, offset, strides, panels, out });
        }
        Ok(self.whole(out, id))
    }

    /// Lowers the sum over the observations of data row × coefficients. `strides` are the strides of the result along
    /// the axes of the row and of the coefficients.
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
        let coefficients = coefficients.buffer;
        if columns == 1 {
            self.tile.push(Instruction::AccumulateData { leaf: vector.leaf, width, coefficients, offset, out });
        } else {
            let copies = self.new_buffer(false, copies_size(columns), true);
            let leaf = vector.leaf;
            self.tile.push(Instruction::ContractData {
                leaf,
                width,
                columns,
                coefficients,
                offset,
                strides,
                copies,
                out,
            });
        }
        Ok(self.whole(out, id))
    }

    /// Returns the pairs of matrices of a product, one for each index of the leading axes.
    fn matrices(&mut self, id: NodeId, a: NodeId, b: NodeId) -> Result<Vec<([usize; 3], MatrixView, MatrixView)>> {
        let (mut a, mut b) = (self.matrix_operand(id, a)?, self.matrix_operand(id, b)?);
        let split = |view: &View| view.dims.len() - 2;
        if !a.rows && !b.rows {
            // The kernel for two shared matrices requires contiguous operands. Only a product with a vector may read a
            // matrix by columns.
            let ([a_by_rows, a_by_columns], [b_by_rows, b_by_columns]) = (in_order(&a), in_order(&b));
            let vector = a.dims[split(&a)] == 1 || b.dims[split(&b) + 1] == 1;
            if !a_by_rows && !a_by_columns {
                a = self.copy(id, &a);
            }
            if !(b_by_rows || b_by_columns && vector) {
                b = self.copy(id, &b);
            }
        }
        let (m, k, n) = (a.dims[split(&a)], a.dims[split(&a) + 1], b.dims[split(&b) + 1]);
        let outer = broadcast(&a.dims[..split(&a)], &b.dims[..split(&b)]).unwrap_or_default();
        if outer.iter().product::<usize>() > MAX_PRODUCTS {
            return Err(Error::Unsupported { operation: format!("a matrix product over axes {outer:?}") });
        }
        let offsets = |view: &View| {
            let (dims, strides) = (view.dims[..split(view)].to_vec(), view.strides[..split(view)].to_vec());
            super::reduce::features(&View { dims, strides, ..view.clone() }, &outer)
        };
        let matrix = |view: &View, offset: usize| MatrixView {
            buffer: view.buffer,
            rows: view.rows,
            offset,
            strides: [view.strides[split(view)] as usize, view.strides[split(view) + 1] as usize],
        };
        let pairs = offsets(&a).into_iter().zip(offsets(&b));
        Ok(pairs.map(|(i, j)| ([m, k, n], matrix(&a, i), matrix(&b, j))).collect())
    }

    pub(super) fn matrix_operand(&mut self, id: NodeId, x: NodeId) -> Result<View> {
        let view = self.view(x)?;
        if view.strides.iter().all(|stride| *stride >= 0) { Ok(view) } else { Ok(self.copy(id, &view)) }
    }

    /// Copies a shared value to a contiguous buffer before the rows.
    fn copy_before(&mut self, id: NodeId, view: &View) -> View {
        let tile = std::mem::take(&mut self.tile);
        let copied = self.copy(id, view);
        let copies = std::mem::replace(&mut self.tile, tile);
        self.before.extend(copies);
        copied
    }

    /// Returns the data leaf and the node of the coefficient per observation if node `id` is their product.
    pub(super) fn multiple_of_data(&self, id: NodeId) -> Option<(usize, NodeId)> {
        let node = self.graph.node(id);
        let ([a, b], Op::Matmul | Op::Binary(BinaryOp::Mul)) = (node.inputs.as_slice(), &node.op) else { return None };
        let multiple = |vector: NodeId, number: NodeId| {
            let vector = self.data_vector(vector)?;
            let shape = self.graph.shape(number);
            (shape.rows && shape.size() == 1).then_some((vector.leaf, number))
        };
        multiple(*a, *b).or_else(|| multiple(*b, *a))
    }

    /// Returns the data leaf of a node if only axes of size one were moved.
    fn data_vector(&self, id: NodeId) -> Option<DataVector> {
        let mut node = self.graph.node(id);
        loop {
            node = match (&node.op, node.inputs.as_slice()) {
                (Op::Data(leaf), _) if node.kind == Kind::Float && node.shape.size() >= IN_PLACE_WIDTH => {
                    return Some(DataVector { leaf: *leaf, width: node.shape.size() });
                }
                (Op::Reshape, [x]) => self.graph.node(*x),
                (Op::Permute(_), [x]) if node.shape.dims.iter().filter(|size| **size != 1).count() <= 1 => {
                    self.graph.node(*x)
                }
                _ => return None,
            }
        }
    }
}

/// Returns whether each matrix of a view is contiguous in row-major order and in column-major order.
fn in_order(view: &View) -> [bool; 2] {
    let [.., rows, columns] = view.dims[..] else { return [false; 2] };
    let [.., row, column] = view.strides[..] else { return [false; 2] };
    let steps = |length: usize, stride: isize, expected: usize| length <= 1 || stride == expected as isize;
    [steps(rows, row, columns) && steps(columns, column, 1), steps(rows, row, 1) && steps(columns, column, rows)]
}

/// Returns whether these are the dimensions of a row vector.
fn row_of(dims: &[usize]) -> bool {
    dims.iter().rev().skip(1).all(|size| *size == 1)
}

/// Returns whether these are the dimensions of a single matrix.
fn single(dims: &[usize]) -> bool {
    dims.iter().rev().skip(2).all(|size| *size == 1)
}

/// Returns whether these are the dimensions of a column vector.
fn column_of(dims: &[usize]) -> bool {
    dims.last() == Some(&1) && single(dims)
}
