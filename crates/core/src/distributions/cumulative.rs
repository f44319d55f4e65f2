//! Distribution functions, for truncated and censored distributions.

use burn_tensor::Tensor;
use rand::Rng;

use super::Distribution;
use super::param::{Param, from_host};
use crate::special::{broadcast, log1mexp};

/// A continuous distribution on the line whose distribution function F is known: [`Normal`](super::Normal),
/// [`LogNormal`](super::LogNormal), [`Exponential`](super::Exponential), [`Weibull`](super::Weibull),
/// [`Logistic`](super::Logistic), [`Laplace`](super::Laplace) and [`Cauchy`](super::Cauchy).
///
/// [`Truncated`](super::Truncated) and [`Censored`](super::Censored) are made from such distributions, and the methods
/// can be used directly for likelihoods of their own.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::{Cumulative, Exponential};
///
/// let lifetime = Exponential::<1>::new(0.5);
/// let x = sgmcmc::array(vec![3.0], [1])?;
/// let survival: Vec<f64> = lifetime.log_survival(x).into_data().iter::<f64>().collect();
/// assert!((survival[0] + 1.5).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the distribution function of `{Self}` is not available",
    label = "`Truncated` and `Censored` need a distribution function",
    note = "`Normal`, `LogNormal`, `Exponential`, `Weibull`, `Logistic`, `Laplace` and `Cauchy` have one",
    note = "a prior without parameters in it needs none: restrict the field by a constraint such as `interval(0, 5)`"
)]
pub trait Cumulative<const D: usize>: Distribution<D> {
    /// Returns log F(x) for each element of `value`.
    fn log_cdf(&self, value: Tensor<D>) -> Tensor<D>;

    /// Returns log(1 − F(x)) for each element of `value`.
    fn log_survival(&self, value: Tensor<D>) -> Tensor<D>;

    /// Returns log(F(high) − F(low)), where low < high, without cancellation in the tails.
    fn log_interval(&self, low: Tensor<D>, high: Tensor<D>) -> Tensor<D> {
        let (low, high) = broadcast(low, high);
        let (below_low, below_high) = (self.log_cdf(low.clone()), self.log_cdf(high.clone()));
        let (above_low, above_high) = (self.log_survival(low), self.log_survival(high));
        // Differences are taken in the tail in which the probabilities are smaller.
        let upper = below_low.clone().greater_elem(-std::f64::consts::LN_2);
        let difference = |larger: Tensor<D>, smaller: Tensor<D>| {
            // Where the smaller probability is zero, nothing is subtracted.
            let zero = smaller.clone().equal_elem(f64::NEG_INFINITY);
            let gap = (smaller - larger.clone()).mask_fill(zero.clone(), -1.0);
            larger + log1mexp(gap).mask_fill(zero, 0.0)
        };
        let from_above = difference(above_low.mask_fill(upper.clone().bool_not(), 0.0), {
            above_high.mask_fill(upper.clone().bool_not(), -1.0)
        });
        let from_below = difference(below_high.mask_fill(upper.clone(), 0.0), below_low.mask_fill(upper.clone(), -1.0));
        from_below.mask_where(upper, from_above)
    }

    /// Returns independent draws from the distribution between `low` and `high`, each in an `f64` tensor of the given
    /// shape on the default device. Bounds may be infinite. A draw is NaN if no value is between its bounds.
    fn sample_between(&self, low: &Param<D>, high: &Param<D>, shape: [usize; D], rng: &mut dyn Rng) -> Tensor<D>;
}

/// Returns a tensor of the given shape. `draw` draws each element from the values of its parameters and its bounds.
pub(super) fn draws_between<const D: usize, const P: usize>(
    params: [&Param<D>; P],
    bounds: [&Param<D>; 2],
    shape: [usize; D],
    rng: &mut dyn Rng,
    draw: impl Fn([f64; P], [f64; 2], &mut dyn Rng) -> f64,
) -> Tensor<D> {
    let values = params.map(|param| param.values(shape));
    let [low, high] = bounds.map(|bound| bound.values(shape));
    let count: usize = shape.iter().product();
    let drawn = (0..count).map(|i| {
        let bounds = [low[i], high[i]];
        if bounds[0] < bounds[1] { draw(std::array::from_fn(|p| values[p][i]), bounds, rng) } else { f64::NAN }
    });
    from_host(drawn.collect(), shape)
}
