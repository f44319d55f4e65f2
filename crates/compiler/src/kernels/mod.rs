//! The numeric kernels: pure functions on slices, generic over `f32` and `f64`.
//!
//! Every kernel takes a [`Simd`], the instruction set detected at run time, and runs loops compiled for it. A value of
//! F numbers for t rows is stored as a structure of arrays: the t numbers of one feature are contiguous.

mod element;
mod elementwise;
mod index;
mod math;
mod matrix;
mod prefetch;
mod reduce;
mod rows;
mod selected;
mod simd;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod timings;
mod vector;

pub use element::Element;
pub(crate) use elementwise::{
    Function, LANES, Operand, Step, binary, compare, logic, run_numbers, run_steps, select_where, unary,
};
pub(crate) use index::{scatter_lanes, select_lanes};
pub(crate) use matrix::{Matrix, lanes_contract, lanes_matmul, lanes_solve, shared_matmul};
pub(crate) use prefetch::prefetch;
pub(crate) use reduce::{add_to_f64, combine, dot, load_f64, reduce, sum};
pub use rows::RowSelection;
pub(crate) use rows::{
    Rows, Strided, StridedMut, copies_size, panels_size, rows_accumulate, rows_contract, rows_dot, rows_multiply,
    rows_transpose,
};
pub(crate) use selected::{RowsAt, add_selected, dot_selected};
pub(crate) use simd::{Fma, Simd};
