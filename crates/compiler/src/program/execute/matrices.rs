//! Execution of Cholesky factors and triangular systems.
//!
//! Matrices are factored in double precision, one observation after another: a factor is much more sensitive to
//! rounding than a sum. Systems with a shared factor are solved for all observations of a tile at once, in the precision
//! of the program.

use sgmcmc_numerics::triangular::{cholesky, cholesky_adjoint, solve_lower, solve_lower_transposed};

use super::{Executor, Real};
use crate::kernels::{Strided, lanes_solve};
use crate::program::instruction::{MatrixCall, MatrixFunction, MatrixView};
use crate::program::view::BufferId;

impl<T: Real> Executor<'_, T> {
    /// Computes a function of matrices, for each of `t` observations or of shared matrices.
    pub(super) fn matrix_function(&mut self, call: &MatrixCall, t: usize) {
        let (BufferId::Native(out), BufferId::Wide(scratch)) = (call.out, call.scratch) else { return };
        let mut target = std::mem::take(&mut self.native[out]);
        let lanes = if call.rows { t } else { 1 };
        let size = call.dim * call.columns;
        let [factor, rhs] = &call.operands;
        let solves = matches!(call.function, MatrixFunction::SolveLower | MatrixFunction::SolveLowerTransposed);
        let parts = target.chunks_mut((size * lanes).max(1));
        if solves && rhs.rows && !factor.rows {
            parts.zip(&call.starts).for_each(|(out, starts)| self.solve_tile(call, *starts, t, out));
        } else {
            let mut work = std::mem::take(&mut self.wide[scratch]);
            for (out, starts) in parts.zip(&call.starts) {
                for lane in 0..lanes {
                    self.compute_lane(call, *starts, [lane, t], &mut work, out);
                }
            }
            self.wide[scratch] = work;
        }
        self.native[out] = target;
    }

    /// Solves a system with a shared factor for all observations.
    fn solve_tile(&self, call: &MatrixCall, [of_factor, of_rhs]: [usize; 2], t: usize, out: &mut [T]) {
        let MatrixCall { function, dim, columns, operands: [factor, rhs], .. } = call;
        let [row, column] = rhs.strides;
        let values = self.buffer(rhs.buffer);
        for (at, out) in out.chunks_exact_mut(t).take(dim * columns).enumerate() {
            let feature = of_rhs + at / columns * row + at % columns * column;
            out.copy_from_slice(&values[feature * t..][..t]);
        }
        let [row, col] = factor.strides;
        let factor = Strided { data: &self.buffer(factor.buffer)[of_factor..], row, col };
        let transposed = *function == MatrixFunction::SolveLowerTransposed;
        lanes_solve(self.simd, *dim, transposed, factor, out, columns * t);
    }

    /// Computes the result for one observation of `t`, or the shared result.
    fn compute_lane(
        &self,
        call: &MatrixCall,
        starts: [usize; 2],
        [lane, t]: [usize; 2],
        work: &mut [f64],
        out: &mut [T],
    ) {
        let MatrixCall { function, dim, columns, operands, .. } = call;
        let (dim, columns) = (*dim, *columns);
        let (first, rest) = work.split_at_mut(dim * dim);
        let (second, work) = rest.split_at_mut(dim * columns);
        self.read_matrix(&operands[0], starts[0], dim, [lane, t], first);
        let result: &[f64] = match function {
            MatrixFunction::Cholesky => {
                if cholesky(first, dim).is_err() {
                    first.fill(f64::NAN);
                }
                first
            }
            function => {
                self.read_matrix(&operands[1], starts[1], columns, [lane, t], second);
                match function {
                    MatrixFunction::CholeskyAdjoint => cholesky_adjoint(first, second, dim, work),
                    MatrixFunction::SolveLowerTransposed => solve_lower_transposed(first, dim, second, columns),
                    MatrixFunction::Cholesky | MatrixFunction::SolveLower => solve_lower(first, dim, second, columns),
                }
                second
            }
        };
        let (stride, lane) = if call.rows { (t, lane) } else { (1, 0) };
        let out = out[lane..].iter_mut().step_by(stride);
        out.zip(result).for_each(|(out, value)| *out = T::from_f64(*value));
    }

    /// Copies a matrix with this number of columns to `out`, for one observation of `t`.
    fn read_matrix(&self, view: &MatrixView, start: usize, columns: usize, [lane, t]: [usize; 2], out: &mut [f64]) {
        let values = self.buffer(view.buffer);
        let [row, column] = view.strides;
        let (stride, lane) = if view.rows { (t, lane) } else { (1, 0) };
        for (i, out) in out.chunks_exact_mut(columns.max(1)).enumerate() {
            for (j, out) in out.iter_mut().enumerate() {
                *out = values[(start + i * row + j * column) * stride + lane].to_f64();
            }
        }
    }
}
