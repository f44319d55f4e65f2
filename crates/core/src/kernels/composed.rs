//! Sums and products of kernels.

use burn_tensor::Tensor;

use super::Kernel;

/// The sum of two kernels; see [`Kernel::plus`].
///
/// # Examples
///
/// ```
/// use sgmcmc::kernels::{Kernel, Linear, SquaredExponential, Sum};
///
/// let sum: Sum<Linear<2>, SquaredExponential<2>> = Linear::new(1.0, 0.0).plus(SquaredExponential::new(1.0, 1.0));
/// let x = sgmcmc::array(vec![2.0], [1, 1])?;
/// assert_eq!(sum.between(x.clone(), x).into_scalar::<f64>(), 5.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sum<A, B>(pub(super) A, pub(super) B);

impl<const D: usize, A: Kernel<D>, B: Kernel<D>> Kernel<D> for Sum<A, B> {
    fn between(&self, a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
        self.0.between(a.clone(), b.clone()) + self.1.between(a, b)
    }
}

/// The product of two kernels; see [`Kernel::times`].
///
/// # Examples
///
/// ```
/// use sgmcmc::kernels::{Kernel, Linear, Product, SquaredExponential};
///
/// let product: Product<Linear<2>, SquaredExponential<2>> =
///     Linear::new(1.0, 0.0).times(SquaredExponential::new(3.0, 1.0));
/// let x = sgmcmc::array(vec![2.0], [1, 1])?;
/// assert_eq!(product.between(x.clone(), x).into_scalar::<f64>(), 36.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Product<A, B>(pub(super) A, pub(super) B);

impl<const D: usize, A: Kernel<D>, B: Kernel<D>> Kernel<D> for Product<A, B> {
    fn between(&self, a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
        self.0.between(a.clone(), b.clone()) * self.1.between(a, b)
    }
}
