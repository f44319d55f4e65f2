//! Lowering of Cholesky factors and triangular systems.

use super::{Lowering, Value};
use crate::error::Result;
use crate::graph::NodeId;
use crate::program::instruction::{Instruction, MatrixCall, MatrixFunction, MatrixView};
use crate::program::view::View;

impl Lowering<'_> {
    /// Lowers a function of the matrices `a` and `b`, for each index of the leading axes.
    pub(super) fn matrix_function(
        &mut self,
        id: NodeId,
        function: MatrixFunction,
        a: NodeId,
        b: NodeId,
    ) -> Result<Value> {
        let shape = self.graph.shape(id).clone();
        let (outer, matrix) = shape.dims.split_at(shape.dims.len() - 2);
        let (dim, columns) = (matrix[0], matrix[1]);
        let operands = [self.matrix_operand(id, a)?, self.matrix_operand(id, b)?];
        let [of_a, of_b] = operands.each_ref().map(|view| starts(view, outer));
        let starts = of_a.into_iter().zip(of_b).map(|(a, b)| [a, b]).collect();
        // Two matrices and two vectors.
        let scratch = self.new_buffer(true, dim * (dim + columns + 2), false);
        let out = self.buffer_for(id);
        let operands = operands.map(|view| matrix_view(&view));
        let rows = shape.rows;
        self.emit(
            id,
            Instruction::MatrixFunction(MatrixCall { function, dim, columns, operands, starts, scratch, rows, out }),
        );
        Ok(self.whole(out, id))
    }
}

/// Returns the first feature of each matrix of a view, for each index of the leading axes.
fn starts(view: &View, outer: &[usize]) -> Vec<usize> {
    let split = view.dims.len() - 2;
    let (dims, strides) = (view.dims[..split].to_vec(), view.strides[..split].to_vec());
    super::reduce::features(&View { dims, strides, ..view.clone() }, outer)
}

/// Returns the matrix of the last two axes. Its offset is not used.
fn matrix_view(view: &View) -> MatrixView {
    let split = view.dims.len() - 2;
    let strides = [view.strides[split] as usize, view.strides[split + 1] as usize];
    MatrixView { buffer: view.buffer, rows: view.rows, offset: 0, strides }
}
