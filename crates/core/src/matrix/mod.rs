//! Functions of matrices: Cholesky factors, triangular systems, determinants.
//!
//! The matrices are the last two axes of a tensor. The axes before them are a batch, in which axes of length one are
//! broadcast. All functions are differentiable in both engines.
//!
//! In the eager engine, values are computed on the host in double precision, and gradients flow through products with
//! the inverse of the factor. The compiled engine has instructions for factors, systems and their derivatives. It
//! factors matrices in double precision as well.
//!
//! **Not positive definite.** The factor of a matrix that is not positive definite is NaN, and so are all values
//! computed from it and their gradients. Samplers reject such points. A pivot of the size of the rounding error counts as
//! zero. For matrices that are close to singular, such as those of Gaussian processes, use [`add_diagonal`].
//!
//! # Examples
//!
//! ```
//! use sgmcmc::array;
//! use sgmcmc::matrix::{cholesky, log_determinant, solve_positive_definite};
//!
//! let a = array(vec![4.0, 2.0, 2.0, 5.0], [2, 2])?;
//! let determinant = log_determinant(cholesky(a.clone())).into_scalar::<f64>().exp();
//! assert!((determinant - 16.0).abs() < 1e-12);
//! let x = solve_positive_definite(a, array(vec![8.0, 12.0], [2, 1])?);
//! assert_eq!(x.into_data().iter::<f64>().collect::<Vec<_>>(), [1.0, 2.0]);
//! # Ok::<(), sgmcmc::Error>(())
//! ```

mod diagonal;
mod eager;
mod factor;
mod recorded;
mod solve;

pub use diagonal::{add_diagonal, diagonal, log_determinant, lower_triangle};
pub use factor::cholesky;
pub(crate) use recorded::MatrixFunction;
pub use solve::{
    solve_factored, solve_lower, solve_lower_transposed, solve_positive_definite, solve_upper, solve_upper_transposed,
};

/// Panics if the last two axes of a tensor are not square matrices. Returns the number of rows.
fn square<const D: usize>(function: &str, dims: [usize; D]) -> usize {
    match dims.as_slice() {
        [.., rows, columns] if rows == columns => *rows,
        _ => panic!("{function}: the last two axes must be square matrices, not {dims:?}"),
    }
}
