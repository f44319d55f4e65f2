//! Draws from stable distributions.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, PI};

use burn_tensor::Tensor;
use rand::{Rng, RngExt};
use rand_distr::{Exp1, Open01};

use super::param::{Param, draws};
use super::positive;

/// The bounds of the logarithm of the absolute value of a standard draw: its square stays finite.
const LOG_BOUND: f64 = 350.0;

/// The stable distribution, for draws.
///
/// Sums of independent draws have a distribution of the same family. Its characteristic function is
///
/// ```text
/// E exp(itX) = exp(i t loc − |scale t|^index (1 − i skewness sign(t) w))
/// w = tan(π index/2) if index ≠ 1,   w = −(2/π) log |t| if index = 1
/// ```
///
/// which is the parameterization S₁ of Nolan, as in SciPy.
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `index` | weight of the tails: P(\|X\| > x) is proportional to x^(−index) | number or `Tensor<D>` | above 0, at most 2 |
/// | `skewness` | skewness | number or `Tensor<D>` | from −1 to 1 |
/// | `loc` | location | number or `Tensor<D>` | any real |
/// | `scale` | scale | number or `Tensor<D>` | positive |
///
/// There is no density in closed form, so this type has no `log_prob` and is not a [`Distribution`](super::Distribution).
/// Special cases are the normal distribution of variance 2 scale² (index 2), the Cauchy distribution (index 1, skewness 0)
/// and the Lévy distribution (index ½, skewness 1).
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Stable_distribution).
///
/// # Source
///
/// Chambers, Mallows & Stuck (1976).
///
/// # Examples
///
/// ```
/// use rand::SeedableRng;
/// use sgmcmc::distributions::Stable;
/// use sgmcmc::rng::StreamRng;
///
/// let noise = Stable::new(1.5, 0.0, 0.0, 1.0).sample([1000], &mut StreamRng::seed_from_u64(1));
/// assert_eq!(noise.dims(), [1000]);
/// ```
#[derive(Clone, Debug)]
pub struct Stable<const D: usize> {
    index: Param<D>,
    skewness: Param<D>,
    loc: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> Stable<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the draws.
    ///
    /// # Panics
    ///
    /// Panics if a parameter is a number that is out of range or not finite. Tensors are not checked.
    pub fn new(
        index: impl Into<Param<D>>,
        skewness: impl Into<Param<D>>,
        loc: impl Into<Param<D>>,
        scale: impl Into<Param<D>>,
    ) -> Self {
        Self {
            index: index.into().checked(|a| a > 0.0 && a <= 2.0, "Stable", "index", "above 0 and at most 2"),
            skewness: skewness.into().checked(|b| b.abs() <= 1.0, "Stable", "skewness", "from -1 to 1"),
            loc: loc.into().finite("Stable", "loc"),
            scale: scale.into().positive("Stable", "scale"),
        }
    }

    /// Returns independent draws in an `f64` tensor of the given shape on the default device. A draw is NaN if one of its
    /// parameters is out of range.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; D], rng: &mut R) -> Tensor<D> {
        let params = [&self.index, &self.skewness, &self.loc, &self.scale];
        draws(params, shape, rng, |[index, skewness, loc, scale], rng| {
            let scale = positive(scale);
            #[expect(clippy::float_cmp, reason = "exactly one has a formula of its own")]
            let shift = if index == 1.0 { FRAC_2_PI * skewness * scale * scale.ln() } else { 0.0 };
            loc + scale * Stable::draw_standard(index, skewness, rng) + shift
        })
    }
}

impl Stable<1> {
    /// Draws a number from the distribution with location 0 and scale 1. Returns NaN if a parameter is out of range.
    ///
    /// # Examples
    ///
    /// ```
    /// use rand::SeedableRng;
    /// use sgmcmc::distributions::Stable;
    /// use sgmcmc::rng::StreamRng;
    ///
    /// assert!(Stable::draw_standard(1.5, 0.5, &mut StreamRng::seed_from_u64(1)).is_finite());
    /// ```
    pub fn draw_standard<R: Rng + ?Sized>(index: f64, skewness: f64, rng: &mut R) -> f64 {
        if !(index > 0.0 && index <= 2.0 && skewness.abs() <= 1.0) {
            return f64::NAN;
        }
        let u = PI * rng.sample::<f64, _>(Open01) - FRAC_PI_2;
        let e: f64 = rng.sample(Exp1);
        #[expect(clippy::float_cmp, reason = "exactly one has a formula of its own")]
        if index == 1.0 && skewness != 0.0 {
            let angle = FRAC_PI_2 + skewness * u;
            return FRAC_2_PI * (angle * u.tan() - skewness * (FRAC_PI_2 * e * u.cos() / angle).ln());
        }
        let (tangent, shift) = if skewness.abs() > 0.0 {
            let tangent = skewness * (FRAC_PI_2 * index).tan();
            (tangent, tangent.atan())
        } else {
            (0.0, 0.0)
        };
        let sine = (index * u + shift).sin();
        let tail = (1.0 - index) / index * (((1.0 - index) * u - shift).cos().ln() - e.ln());
        let log = sine.abs().ln() - u.cos().ln() / index + tail + 0.5 / index * (tangent * tangent).ln_1p();
        log.clamp(-LOG_BOUND, LOG_BOUND).exp().copysign(sine)
    }
}
