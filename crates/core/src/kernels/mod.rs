//! Covariance functions of Gaussian processes.
//!
//! A kernel returns the covariance between the values of a process at two sets of inputs. Inputs have shape `[n, k]`: n
//! points with k coordinates. A batch of data sets has further axes in front, `[…, n, k]`.
//!
//! Hyperparameters are numbers, vectors of shape `[1]` or `[k]`, or tensors of the rank of the inputs. Gradients flow to them
//! and to the inputs.
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

mod composed;
mod linear;
mod matern;
mod periodic;
mod squared_exponential;

use std::fmt::Debug;

use burn_tensor::Tensor;

use crate::distributions::{Combine, Param};
use crate::matrix::add_diagonal;

pub use composed::{Product, Sum};
pub use linear::Linear;
pub use matern::Matern;
pub use periodic::Periodic;
pub use squared_exponential::SquaredExponential;

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

    /// Returns the covariances between the points of `x`, with `jitter` added to the diagonal: the variance of noise, which
    /// may be a parameter, or a small number such as 1e-8 that keeps the matrix positive definite.
    ///
    /// # Panics
    ///
    /// Panics if there are fewer than two axes.
    fn covariance(&self, x: Tensor<D>, jitter: impl Into<Param<D>>) -> Tensor<D>
    where
        Self: Sized,
    {
        let covariance = self.between(x.clone(), x);
        match jitter.into() {
            Param::Number(number) => add_diagonal(covariance, number),
            Param::Tensor(tensor) => {
                let identity = add_diagonal(covariance.zeros_like(), 1.0);
                covariance + identity * tensor
            }
        }
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
