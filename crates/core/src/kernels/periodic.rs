//! The periodic kernel.

use std::f64::consts::PI;

use burn_tensor::Tensor;

use super::{Kernel, coordinates, difference, no_coordinates, scaled};
use crate::distributions::{Combine, Param};

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
