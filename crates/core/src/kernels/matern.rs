//! The Matérn kernels.

use burn_tensor::Tensor;

use super::{Kernel, scaled, squared_distance};
use crate::distributions::{Combine, Param};

/// The smoothness of a Matérn kernel.
#[derive(Clone, Copy, Debug)]
enum Order {
    Half,
    ThreeHalves,
    FiveHalves,
}

/// The Matérn kernels of order 1/2, 3/2 and 5/2, whose processes have no, one and two derivatives.
///
/// ```text
/// order 1/2:  k(a, b) = scale² exp(−r)
/// order 3/2:  k(a, b) = scale² (1 + s) exp(−s),           s = √3 r
/// order 5/2:  k(a, b) = scale² (1 + s + s²/3) exp(−s),    s = √5 r
/// r² = Σⱼ ((a[j] − b[j])/length[j])²
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `scale` | standard deviation of the process | number or `[…, 1, 1]` | positive |
/// | `length` | distance over which the process varies | number, `[…, 1, 1]` or `[…, 1, k]` | positive |
///
/// Where two points are equal, the gradient with respect to the points is zero.
///
/// # Examples
///
/// ```
/// use sgmcmc::kernels::{Kernel, Matern};
///
/// let (a, b) = (sgmcmc::array(vec![0.0], [1, 1])?, sgmcmc::array(vec![1.0], [1, 1])?);
/// let covariance = Matern::three_halves(1.0, 1.0).between(a, b).into_scalar::<f64>();
/// let s = 3.0_f64.sqrt();
/// assert!((covariance - (1.0 + s) * (-s).exp()).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Matern<const D: usize> {
    order: Order,
    scale: Param<D>,
    length: Param<D>,
}

impl<const D: usize> Matern<D> {
    /// Creates the kernel of order 1/2, also called the exponential kernel.
    ///
    /// # Panics
    ///
    /// Panics if a parameter is a number that is not positive and finite. Tensors are not checked.
    pub fn half(scale: impl Into<Param<D>>, length: impl Into<Param<D>>) -> Self {
        Self::new(Order::Half, scale.into(), length.into())
    }

    /// Creates the kernel of order 3/2.
    ///
    /// # Panics
    ///
    /// Panics if a parameter is a number that is not positive and finite. Tensors are not checked.
    pub fn three_halves(scale: impl Into<Param<D>>, length: impl Into<Param<D>>) -> Self {
        Self::new(Order::ThreeHalves, scale.into(), length.into())
    }

    /// Creates the kernel of order 5/2.
    ///
    /// # Panics
    ///
    /// Panics if a parameter is a number that is not positive and finite. Tensors are not checked.
    pub fn five_halves(scale: impl Into<Param<D>>, length: impl Into<Param<D>>) -> Self {
        Self::new(Order::FiveHalves, scale.into(), length.into())
    }

    fn new(order: Order, scale: Param<D>, length: Param<D>) -> Self {
        Self { order, scale: scale.positive("Matern", "scale"), length: length.positive("Matern", "length") }
    }
}

impl<const D: usize> Kernel<D> for Matern<D> {
    fn between(&self, a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
        let squared = squared_distance(a.over(&self.length), b.over(&self.length));
        // The root is not differentiable at zero, where the derivative of the kernel by the squared distance is not used.
        let zero = squared.clone().equal_elem(0.0);
        let root = squared.clone().mask_fill(zero.clone(), 1.0).sqrt().mask_fill(zero, 0.0);
        let correlation = match self.order {
            Order::Half => root.neg().exp(),
            Order::ThreeHalves => {
                let s = root * 3.0_f64.sqrt();
                (s.clone() + 1.0) * s.neg().exp()
            }
            Order::FiveHalves => {
                let s = root * 5.0_f64.sqrt();
                (s.clone() + 1.0 + squared * (5.0 / 3.0)) * s.neg().exp()
            }
        };
        scaled(correlation, &self.scale)
    }
}
