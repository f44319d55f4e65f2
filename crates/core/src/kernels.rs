//! Covariance functions of Gaussian processes.
//!
//! A kernel returns the covariance between the values of a process at two sets of inputs. Inputs have shape `[n, k]`: n
//! points with k coordinates. A batch of data sets has further axes in front, `[…, n, k]`.
//!
//! Hyperparameters are numbers, or tensors of the rank of the inputs. Gradients flow to them and to the inputs. For a
//! parameter of shape `[1]` or `[k]`, `unsqueeze` adds the axes.
//!
//! Kernels are added and multiplied by [`Kernel::plus`] and [`Kernel::times`]. The matrix of [`Kernel::covariance`] is
//! the covariance of [`MultivariateNormal`](crate::distributions::MultivariateNormal).
//!
//! # Examples
//!
//! ```
//! use sgmcmc::array;
//! use sgmcmc::distributions::MultivariateNormal;
//! use sgmcmc::kernels::{Kernel, Linear, SquaredExponential};
//!
//! let x = array(vec![0.0, 0.5, 1.0], [3, 1])?;
//! let trend = Linear::new(1.0, 0.0).plus(SquaredExponential::new(0.5, 0.3));
//! // Noise of variance 0.01 is added to the diagonal.
//! let covariance = trend.covariance(x, 0.01);
//! let y = array(vec![0.1, 0.4, 1.2], [1, 3])?;
//! assert!(MultivariateNormal::covariance(0.0, covariance).log_prob(y).into_scalar::<f64>().is_finite());
//! # Ok::<(), sgmcmc::Error>(())
//! ```

use std::f64::consts::PI;
use std::fmt::Debug;

use burn_tensor::Tensor;

use crate::distributions::{Combine, Param};
use crate::matrix::add_diagonal;

/// A covariance function for inputs of rank `D`.
///
/// # Examples
///
/// ```
/// use sgmcmc::kernels::{Kernel, Matern};
///
/// let x = sgmcmc::array(vec![0.0, 1.0], [2, 1])?;
/// let rough = Matern::half(2.0, 1.0).between(x.clone(), x);
/// let values: Vec<f64> = rough.into_data().iter::<f64>().collect();
/// // 2² exp(−|a − b|)
/// assert!((values[0] - 4.0).abs() < 1e-6 && (values[1] - 4.0 * (-1.0_f64).exp()).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait Kernel<const D: usize>: Debug {
    /// Returns the covariances between the points of `a` and those of `b`: `[…, n, m]` for `[…, n, k]` and `[…, m, k]`.
    ///
    /// # Panics
    ///
    /// Panics if the numbers of coordinates differ, or if there are fewer than two axes.
    fn between(&self, a: Tensor<D>, b: Tensor<D>) -> Tensor<D>;

    /// Returns the covariances between the points of `x`, with `jitter` added to the diagonal: the variance of noise, or a
    /// small number such as 1e-8 that keeps the matrix positive definite.
    ///
    /// # Panics
    ///
    /// Panics if there are fewer than two axes.
    fn covariance(&self, x: Tensor<D>, jitter: f64) -> Tensor<D> {
        add_diagonal(self.between(x.clone(), x), jitter)
    }

    /// Returns the sum of two kernels.
    fn plus<K: Kernel<D>>(self, other: K) -> Sum<Self, K>
    where
        Self: Sized,
    {
        Sum(self, other)
    }

    /// Returns the product of two kernels.
    fn times<K: Kernel<D>>(self, other: K) -> Product<Self, K>
    where
        Self: Sized,
    {
        Product(self, other)
    }
}

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
pub struct Sum<A, B>(A, B);

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
pub struct Product<A, B>(A, B);

impl<const D: usize, A: Kernel<D>, B: Kernel<D>> Kernel<D> for Product<A, B> {
    fn between(&self, a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
        self.0.between(a.clone(), b.clone()) * self.1.between(a, b)
    }
}

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

/// The periodic kernel.
///
/// ```text
/// k(a, b) = scale² exp(−2 Σⱼ (sin(π (a[j] − b[j])/period[j])/length[j])²)
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `scale` | standard deviation of the process | number or `[…, 1, 1]` | positive |
/// | `length` | variation within a period, relative to the period | number, `[…, 1, 1]` or `[…, 1, k]` | positive |
/// | `period` | period | number, `[…, 1, 1]` or `[…, 1, k]` | positive |
///
/// # Examples
///
/// ```
/// use sgmcmc::kernels::{Kernel, Periodic};
///
/// let (a, b) = (sgmcmc::array(vec![0.5], [1, 1])?, sgmcmc::array(vec![24.5], [1, 1])?);
/// let daily = Periodic::new(2.0, 1.0, 24.0).between(a, b).into_scalar::<f64>();
/// assert!((daily - 4.0).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Periodic<const D: usize> {
    scale: Param<D>,
    length: Param<D>,
    period: Param<D>,
}

impl<const D: usize> Periodic<D> {
    /// Creates the kernel.
    ///
    /// # Panics
    ///
    /// Panics if a parameter is a number that is not positive and finite. Tensors are not checked.
    pub fn new(scale: impl Into<Param<D>>, length: impl Into<Param<D>>, period: impl Into<Param<D>>) -> Self {
        Self {
            scale: scale.into().positive("Periodic", "scale"),
            length: length.into().positive("Periodic", "length"),
            period: period.into().positive("Periodic", "period"),
        }
    }
}

impl<const D: usize> Kernel<D> for Periodic<D> {
    fn between(&self, a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
        let (k, angle) = (coordinates(&a, &b), |x: Tensor<D>| x.over(&self.period) * PI);
        let (a, b) = (angle(a), angle(b));
        let terms = (0..k).map(|j| {
            let sine = difference(&a, &b, j).sin();
            let of_coordinate = match &self.length {
                Param::Tensor(length) if length.dims()[D - 1] > 1 => Param::Tensor(length.clone().narrow(D - 1, j, 1)),
                length => length.clone(),
            };
            sine.over(&of_coordinate).square()
        });
        let sum = terms.reduce(|sum, term| sum + term).unwrap_or_else(|| no_coordinates(&a, &b));
        scaled((sum * -2.0).exp(), &self.scale)
    }
}

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

/// Returns `scale`² · correlation.
fn scaled<const D: usize>(correlation: Tensor<D>, scale: &Param<D>) -> Tensor<D> {
    correlation.times(&(scale.clone() * scale.clone()))
}

/// Returns the number of coordinates of the points.
fn coordinates<const D: usize>(a: &Tensor<D>, b: &Tensor<D>) -> usize {
    let (of_a, of_b) = (a.dims(), b.dims());
    match (of_a.as_slice(), of_b.as_slice()) {
        ([.., _, k], [.., _, l]) if k == l => *k,
        _ => panic!("a kernel: inputs must be [n, k] and [m, k], not {of_a:?} and {of_b:?}"),
    }
}

/// Returns a[i, j] − b[l, j] for all pairs of points, `[…, n, m]`.
fn difference<const D: usize>(a: &Tensor<D>, b: &Tensor<D>, j: usize) -> Tensor<D> {
    let column = |x: &Tensor<D>| x.clone().narrow(D - 1, j, 1);
    column(a) - column(b).swap_dims(D - 2, D - 1)
}

/// Returns zeros `[…, n, m]`, for points without coordinates.
fn no_coordinates<const D: usize>(a: &Tensor<D>, b: &Tensor<D>) -> Tensor<D> {
    a.clone().matmul(b.clone().swap_dims(D - 2, D - 1))
}

/// Returns the squared distances between all pairs of points. They are sums of squares of differences, which do not
/// cancel for points far from the origin.
fn squared_distance<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
    let terms = (0..coordinates(&a, &b)).map(|j| difference(&a, &b, j).square());
    terms.reduce(|sum, term| sum + term).unwrap_or_else(|| no_coordinates(&a, &b))
}
