//! The squared exponential kernel.

use burn_tensor::Tensor;

use super::{Kernel, scaled, squared_distance};
use crate::distributions::{Combine, Param};

/// The squared exponential kernel, whose processes are smooth.
///
/// ```text
/// k(a, b) = scale² exp(−½ r²),   r² = Σⱼ ((a[j] − b[j])/length[j])²
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `scale` | standard deviation of the process | number or `[…, 1, 1]` | positive |
/// | `length` | distance over which the process varies | number, `[…, 1, 1]` or `[…, 1, k]` | positive |
///
/// # Examples
///
/// ```
/// use sgmcmc::kernels::{Kernel, SquaredExponential};
///
/// let (a, b) = (sgmcmc::array(vec![0.0], [1, 1])?, sgmcmc::array(vec![2.0], [1, 1])?);
/// let covariance = SquaredExponential::new(3.0, 2.0).between(a, b).into_scalar::<f64>();
/// assert!((covariance - 9.0 * (-0.5_f64).exp()).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SquaredExponential<const D: usize> {
    scale: Param<D>,
    length: Param<D>,
}

impl<const D: usize> SquaredExponential<D> {
    /// Creates the kernel.
    ///
    /// # Panics
    ///
    /// Panics if a parameter is a number that is not positive and finite. Tensors are not checked.
    pub fn new(scale: impl Into<Param<D>>, length: impl Into<Param<D>>) -> Self {
        Self {
            scale: scale.into().positive("SquaredExponential", "scale"),
            length: length.into().positive("SquaredExponential", "length"),
        }
    }
}

impl<const D: usize> Kernel<D> for SquaredExponential<D> {
    fn between(&self, a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
        let squared = squared_distance(a.over(&self.length), b.over(&self.length));
        scaled((squared * -0.5).exp(), &self.scale)
    }
}
