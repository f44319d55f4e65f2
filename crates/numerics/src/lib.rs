//! Linear algebra for quasi-Newton and Riemannian samplers.
//!
//! - [`Lbfgs`]: the limited-memory BFGS matrix, its inverse and its square root.
//! - [`Bfgs`]: the dense BFGS matrix.
//! - [`Cholesky`]: Cholesky factors, linear solves, inverses and determinants.
//! - [`SymmetricEigen`]: eigenvalues and eigenvectors of symmetric matrices.
//! - [`triangular`]: factorization and triangular systems in place on slices, with derivatives.
//! - [`vector`]: products and sums of vectors.
//!
//! Vectors and matrices are `f64` slices, and matrices are in row-major order. Every type owns its work buffers, so no
//! method allocates after the first call.
//!
//! The decompositions are part of this crate because a linear algebra library takes longer to build than the rest of
//! the workspace (faer 0.24 with only `std` and `linalg`: two minutes of CPU time), and the matrices have at most a
//! few thousand rows.

mod bfgs;
mod cholesky;
mod eigen;
mod error;
mod lbfgs;
#[cfg(test)]
mod testing;
pub mod triangular;
pub mod vector;

pub use bfgs::Bfgs;
pub use cholesky::Cholesky;
pub use eigen::SymmetricEigen;
pub use error::Error;
pub use lbfgs::{InitialScale, Lbfgs};

/// The smallest sᵀy relative to |s| |y| at which a pair (s, y) is used.
///
/// Pairs with less curvature are skipped, because the matrix would not stay positive definite.
pub const LEAST_CURVATURE: f64 = 1e-10;

/// Returns sᵀy if it is finite and exceeds [`LEAST_CURVATURE`] |s| |y|.
fn curvature(s: &[f64], y: &[f64]) -> Option<f64> {
    let sy = vector::dot(s, y);
    let scale = (vector::dot(s, s) * vector::dot(y, y)).sqrt();
    (sy.is_finite() && scale.is_finite() && sy > LEAST_CURVATURE * scale).then_some(sy)
}
