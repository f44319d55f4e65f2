//! Matrices S that turn noise into movement. S Sᵀ is the inverse of the mass, a guess of the posterior covariance.

/// A matrix S, known by its products; it changes nothing but its work space.
pub(super) trait Scaling {
    /// `out` = S v.
    fn multiply(&mut self, v: &[f64], out: &mut [f64]);

    /// `out` = Sᵀ v.
    fn multiply_transposed(&mut self, v: &[f64], out: &mut [f64]);
}
