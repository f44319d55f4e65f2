//! The von Mises distribution, for angles.

use std::f64::consts::{PI, TAU};

use burn_tensor::Tensor;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

use super::param::{Combine, Param};

/// The von Mises distribution of an angle.
///
/// ```text
/// log p(x) = concentration · cos(x − loc) − log 2π − log I₀(concentration)
/// I₀: modified Bessel function of order zero
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `loc` | mean direction | number or `Tensor<D>` | any real |
/// | `concentration` | concentration; the variance is about its inverse if it is large | number or `Tensor<D>` | positive |
///
/// Support: all real numbers, as angles. Angles that differ by 2π have the same density, and the density integrates to
/// one over an interval of length 2π. Draws are in [−π, π).
///
/// The density is accurate for all concentrations, also where I₀ overflows.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Von_Mises_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::VonMises;
///
/// let x = sgmcmc::array(vec![0.5], [1])?;
/// let log_prob: Vec<f64> = VonMises::new(0.5, 1.0).log_prob(x).into_data().iter::<f64>().collect();
/// // 1 − log 2π − log I₀(1)
/// assert!((log_prob[0] + 1.0737914).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct VonMises<const D: usize> {
    loc: Param<D>,
    concentration: Param<D>,
}

impl<const D: usize> VonMises<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `loc` is a number that is not finite, or if `concentration` is a number that is not positive and
    /// finite. Tensors are not checked.
    pub fn new(loc: impl Into<Param<D>>, concentration: impl Into<Param<D>>) -> Self {
        Self {
            loc: loc.into().finite("VonMises", "loc"),
            concentration: concentration.into().positive("VonMises", "concentration"),
        }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        // cos δ − 1 = −2 sin²(δ/2) does not cancel, and log I₀(c) − c is the scaled Bessel function.
        let half = value.minus(&self.loc) * 0.5;
        let constant = self.concentration.log_bessel_i0_scaled() + TAU.ln();
        (half.sin().square() * -2.0).times(&self.concentration).minus(&constant)
    }
}

elementwise!(VonMises { loc, concentration }, |[loc, concentration], rng| {
    if !(concentration > 0.0 && loc.is_finite()) {
        return f64::NAN;
    }
    let angle = loc + deviation(concentration, rng);
    (angle + PI).rem_euclid(TAU) - PI
});

/// Draws an angle with mean direction zero, by the algorithm of Best & Fisher (1979).
fn deviation<R: Rng + ?Sized>(concentration: f64, rng: &mut R) -> f64 {
    // Beyond this concentration, the normal distribution is equal to rounding, and the proposal below cancels.
    if concentration > 1e7 {
        let z: f64 = rng.sample(StandardNormal);
        return z / concentration.sqrt();
    }
    let r = if concentration < 1e-5 {
        concentration.recip() + concentration
    } else {
        let tau = 1.0 + (1.0 + 4.0 * concentration * concentration).sqrt();
        let rho = (tau - (2.0 * tau).sqrt()) / (2.0 * concentration);
        (1.0 + rho * rho) / (2.0 * rho)
    };
    loop {
        let z = (PI * rng.random::<f64>()).cos();
        let f = (1.0 + r * z) / (r + z);
        let c = concentration * (r - f);
        let u: f64 = rng.random();
        if c * (2.0 - c) > u || (c / u).ln() + 1.0 >= c {
            let angle = f.clamp(-1.0, 1.0).acos();
            return if rng.random() { angle } else { -angle };
        }
    }
}
