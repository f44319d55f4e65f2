//! The root S of an inverse mass matrix S Sᵀ, which approximates the posterior covariance.

/// A matrix S that is defined by its products. The receiver is mutable because implementations may own work buffers.
pub(crate) trait MassRoot {
    /// Writes S v into `out`.
    fn multiply(&mut self, v: &[f64], out: &mut [f64]);

    /// Writes Sᵀ v into `out`.
    fn multiply_transposed(&mut self, v: &[f64], out: &mut [f64]);
}
