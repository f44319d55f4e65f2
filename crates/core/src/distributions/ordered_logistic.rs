//! The ordered logistic distribution, for ordinal regression.

use burn_tensor::{Int, Tensor, TensorData};
use rand::{Rng, RngExt};

use super::observed::{Support, record_integers};
use super::param::{Param, as_rows, host};
use crate::special::{log1mexp, log1pexp};

/// The ordered logistic distribution of categories 0 … k−1 with an order, as in ordinal regression.
///
/// A latent variable with the logistic distribution around `eta` falls into one of k intervals, which the k − 1
/// cutpoints separate.
///
/// ```text
/// p(x) = σ(eta − cut[x−1]) − σ(eta − cut[x]),   cut[−1] = −∞, cut[k−1] = ∞,   x = 0 … k−1
/// σ(z) = 1/(1 + exp(−z))
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `eta` | location of the latent variable | `[n]` or `[1]` | any real |
/// | `cutpoints` | limits of the categories | `[n, k−1]`, `[1, k−1]` or `[k−1]` | increasing |
///
/// Support: the integers 0 … k−1, one per value; the log probability is −∞ for other integers. The constraint `Ordered`
/// keeps cutpoints increasing. Cutpoints that decrease give NaN.
///
/// This is Stan's `ordered_logistic`, with categories from zero.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::OrderedLogistic;
///
/// let eta = sgmcmc::array(vec![0.0, 1.0], [2])?;
/// let cutpoints = sgmcmc::array(vec![-1.0, 1.0], [2])?;
/// let x = sgmcmc::array(vec![0_i64, 2], [2])?;
/// let log_prob: Vec<f64> =
///     OrderedLogistic::new(eta, cutpoints).log_prob(x).into_data().iter::<f64>().collect();
/// // σ(−1) and σ(0)
/// assert!((log_prob[0] + 1.3132617).abs() < 1e-6);
/// assert!((log_prob[1] + 2.0_f64.ln()).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct OrderedLogistic {
    eta: Tensor<1>,
    cutpoints: Tensor<2>,
}

impl OrderedLogistic {
    /// Creates the distribution from locations of shape `[n]` or `[1]` and cutpoints of shape `[n, k−1]`, `[1, k−1]` or
    /// `[k−1]`.
    ///
    /// # Panics
    ///
    /// Panics if the rank of `cutpoints` is neither one nor two, or if there is no cutpoint.
    pub fn new<const R: usize>(eta: Tensor<1>, cutpoints: Tensor<R>) -> Self {
        let cutpoints = as_rows(cutpoints, "OrderedLogistic", "cutpoints");
        assert!(cutpoints.dims()[1] > 0, "OrderedLogistic: there must be at least one cutpoint");
        Self { eta, cutpoints }
    }

    /// Returns the log probability of each category in `value`.
    pub fn log_prob(&self, value: Tensor<1, Int>) -> Tensor<1> {
        let [n] = value.dims();
        let [rows, cuts] = self.cutpoints.dims();
        let last = cuts as i64;
        record_integers("OrderedLogistic", &value, Support::Counts(last as f64));
        let outside = value.clone().lower_elem(0).bool_or(value.clone().greater_elem(last));
        let value = value.mask_fill(outside.clone(), 0);
        let lowest = value.clone().equal_elem(0);
        let highest = value.clone().equal_elem(last);
        let cutpoints = if rows == n { self.cutpoints.clone() } else { self.cutpoints.clone().expand([n, cuts]) };
        let eta = if self.eta.dims() == [n] { self.eta.clone() } else { self.eta.clone().expand([n]) };
        let at = |index: Tensor<1, Int>| {
            let index = index.clamp(0, last - 1).unsqueeze_dim(1);
            cutpoints.clone().gather(1, index).squeeze_dim::<1>(1)
        };
        // a = eta − lower cutpoint, b = eta − upper cutpoint, and σ(a) − σ(b) = σ(a) σ(−b) (1 − exp(b − a)).
        let a = eta.clone() - at(value.clone() - 1);
        let b = eta - at(value);
        let log_above = log1pexp(a.clone().neg()).neg().mask_fill(lowest.clone(), 0.0);
        let log_below = log1pexp(b.clone()).neg().mask_fill(highest.clone(), 0.0);
        // Categories at the ends have one cutpoint only. Minus one stands for the difference that does not exist.
        let difference = (b - a).mask_fill(lowest.clone().bool_or(highest.clone()), -1.0);
        let log_between = log1mexp(difference).mask_fill(lowest.bool_or(highest), 0.0);
        (log_above + log_below + log_between).mask_fill(outside, f64::NEG_INFINITY)
    }

    /// Draws `n` categories.
    ///
    /// # Panics
    ///
    /// Panics if `eta` has neither one nor `n` elements, or if `cutpoints` has neither one nor `n` rows.
    pub fn sample<R: Rng + ?Sized>(&self, n: usize, rng: &mut R) -> Tensor<1, Int> {
        let [_, cuts] = self.cutpoints.dims();
        let cutpoints = Param::Tensor(self.cutpoints.clone()).values([n, cuts]);
        let eta = host(&self.eta);
        assert!(eta.len() == 1 || eta.len() == n, "OrderedLogistic: {} locations for {n} draws", eta.len());
        let mut category = |row: usize| {
            let u: f64 = rng.random();
            let latent = eta[if eta.len() == 1 { 0 } else { row }] + (u / (1.0 - u)).ln();
            cutpoints[row * cuts..(row + 1) * cuts].iter().filter(|cut| latent > **cut).count() as i64
        };
        let drawn: Vec<i64> = (0..n).map(&mut category).collect();
        Tensor::from_data(TensorData::new(drawn, [n]), &crate::array::default_device())
    }
}
