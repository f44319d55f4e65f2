//! The logistic distribution.

use burn_tensor::Tensor;
use burn_tensor::activation::log_sigmoid;
use rand::{Rng, RngExt};
use rand_distr::Open01;

use super::cumulative::{Cumulative, draws_between};
use super::param::{Combine, Param};
use super::positive;

/// The logistic distribution.
///
/// ```text
/// log p(x) = log σ(z) + log σ(−z) − log scale,   z = (x − loc)/scale,   σ(z) = 1/(1 + exp(−z))
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `loc` | mean and median | number or `Tensor<D>` | any real |
/// | `scale` | scale, the standard deviation times √3/π | number or `Tensor<D>` | positive |
///
/// Support: all reals.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Logistic_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::Logistic;
///
/// let x = sgmcmc::array(vec![0.0], [1])?;
/// let log_prob: Vec<f64> = Logistic::new(0.0, 1.0).log_prob(x).into_data().iter::<f64>().collect();
/// // log(½ · ½)
/// assert!((log_prob[0] + 1.3862944).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Logistic<const D: usize> {
    loc: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> Logistic<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `loc` is a number that is not finite, or if `scale` is a number that is not positive and finite.
    /// Tensors are not checked.
    pub fn new(loc: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self { loc: loc.into().finite("Logistic", "loc"), scale: scale.into().positive("Logistic", "scale") }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        let z = value.minus(&self.loc).over(&self.scale);
        (log_sigmoid(z.clone()) + log_sigmoid(z.neg())).minus(&self.scale.log())
    }
}

elementwise!(Logistic { loc, scale }, |[loc, scale], rng| {
    let u: f64 = rng.sample(Open01);
    loc + positive(scale) * (u / (1.0 - u)).ln()
}, mean: |[loc, _]| loc);

impl<const D: usize> Cumulative<D> for Logistic<D> {
    fn log_cdf(&self, value: Tensor<D>) -> Tensor<D> {
        log_sigmoid(value.minus(&self.loc).over(&self.scale))
    }

    fn log_survival(&self, value: Tensor<D>) -> Tensor<D> {
        log_sigmoid(value.minus(&self.loc).over(&self.scale).neg())
    }

    fn sample_between(&self, low: &Param<D>, high: &Param<D>, shape: [usize; D], rng: &mut dyn Rng) -> Tensor<D> {
        draws_between([&self.loc, &self.scale], [low, high], shape, rng, |[loc, scale], bounds, rng| {
            let scale = positive(scale);
            let [low, high] = bounds.map(|bound| (bound - loc) / scale);
            // The inverse distribution function is accurate below the mode.
            let u: f64 = rng.sample(Open01);
            let z = if low > 0.0 { -inverse_between(-high, -low, u) } else { inverse_between(low, high, u) };
            loc + scale * z
        })
    }
}

/// Returns the quantile `u` of the standard logistic distribution between `low` and `high`.
fn inverse_between(low: f64, high: f64, u: f64) -> f64 {
    let [low, high] = [low, high].map(|z| 1.0 / (1.0 + (-z).exp()));
    let p = low + u * (high - low);
    p.ln() - (-p).ln_1p()
}
