//! The linear kernel.

use burn_tensor::Tensor;

use super::{Kernel, coordinates, scaled};
use crate::distributions::{Combine, Param};

/// The linear kernel, whose processes are linear functions with the value zero at `center`.
///
/// ```text
/// k(a, b) = scale² Σⱼ (a[j] − center[j]) (b[j] − center[j])
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `scale` | standard deviation of the slopes | number or `[…, 1, 1]` | positive |
/// | `center` | point at which the process is zero | number, `[…, 1, 1]` or `[…, 1, k]` | any real |
///
/// # Examples
///
/// ```
/// use sgmcmc::kernels::{Kernel, Linear};
///
/// let (a, b) = (sgmcmc::array(vec![3.0], [1, 1])?, sgmcmc::array(vec![5.0], [1, 1])?);
/// assert_eq!(Linear::new(2.0, 1.0).between(a, b).into_scalar::<f64>(), 32.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Linear<const D: usize> {
    scale: Param<D>,
    center: Param<D>,
}

impl<const D: usize> Linear<D> {
    /// Creates the kernel.
    ///
    /// # Panics
    ///
    /// Panics if `scale` is a number that is not positive and finite, or if `center` is a number that is not finite.
    /// Tensors are not checked.
    pub fn new(scale: impl Into<Param<D>>, center: impl Into<Param<D>>) -> Self {
        Self { scale: scale.into().positive("Linear", "scale"), center: center.into().finite("Linear", "center") }
    }
}

impl<const D: usize> Kernel<D> for Linear<D> {
    fn between(&self, a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
        coordinates(&a, &b);
        let b = b.minus(&self.center).swap_dims(D - 2, D - 1);
        scaled(a.minus(&self.center).matmul(b), &self.scale)
    }
}
