//! The linear algebra of quasi-Newton and Riemannian samplers: [`Lbfgs`] with its square root, dense [`Bfgs`], [`Cholesky`].
//!
//! Plain `f64` slices, matrices row by row, work space owned by what uses it: nothing here allocates after it is made.
//! Decompositions are written by hand because a library of them takes longer to build than the rest of the workspace (faer 0.24
//! with only `std` and `linalg`: two minutes of processor time), for matrices of at most a few thousand rows.

mod bfgs;
mod cholesky;
mod error;
mod lbfgs;
#[cfg(test)]
mod testing;
pub mod vector;

pub use bfgs::Bfgs;
pub use cholesky::Cholesky;
pub use error::Error;
pub use lbfgs::{Initial, Lbfgs};

/// The share of |s| |y| that sᵀy must exceed for a pair (s, y) to say anything of the curvature.
pub const LEAST_CURVATURE: f64 = 1e-10;

/// sᵀy, if it is large enough against |s| |y| for the pair to be used.
fn curvature(s: &[f64], y: &[f64]) -> Option<f64> {
    let sy = vector::dot(s, y);
    let scale = (vector::dot(s, s) * vector::dot(y, y)).sqrt();
    (sy.is_finite() && scale.is_finite() && sy > LEAST_CURVATURE * scale).then_some(sy)
}
