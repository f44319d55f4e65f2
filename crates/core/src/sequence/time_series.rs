//! Time series whose values depend on a state that the past determines.

use std::fmt;

use burn_tensor::{Bool, DType, Int, Tensor, TensorData};
use rand::Rng;

use super::scan;
use crate::array::default_device;
use crate::distributions::{Distribution, Generative};
use crate::tree::prior::copy;
use crate::tree::{Path, TensorTree, Visitor};

/// The distribution of time series, by the distribution of each value given a state that the values before it determine.
///
/// ```text
/// log p(y) = Σₜ log p(yₜ | sₜ),   sₜ₊₁ = next(sₜ, yₜ),   s₁ = initial
/// ```
///
/// Autoregressions, volatility models, and the filters of state-space models have this form. The states are functions of
/// the past, not random variables.
///
/// | argument | meaning |
/// |---|---|
/// | `initial` | the state before the first value: a tensor or a tuple of tensors |
/// | `distribution` | the distribution of a value given the state, such as [`Normal`](crate::distributions::Normal) |
/// | `next` | the next state given the state and the value |
///
/// Values have shape `[n, T]`: each of the n rows is one series. The closures see all series at one time: the value is a
/// tensor of shape `[n]`, against which parameters of shape `[1]` broadcast. Series are an observation each in a data set
/// with leaves of shape `[n, T]`, usually with n = 1.
///
/// The log density is a [`scan`], which is compiled to a loop. Draws go through the series step by
/// step.
///
/// # Examples
///
/// A GARCH model, whose variance depends on the last return and the last variance.
///
/// ```
/// use sgmcmc::distributions::Normal;
/// use sgmcmc::prelude::*;
/// use sgmcmc::sequence::TimeSeries;
///
/// let model = Model::observe(
///     |[omega, alpha]: [Tensor<1>; 2], _: Tensor<2>| {
///         TimeSeries::new(
///             omega.clone(),
///             |h: Tensor<1>| Normal::new(0.0, h.sqrt()),
///             move |_, y: Tensor<1>| omega.clone() + alpha.clone() * y.square(),
///         )
///     },
///     |returns: Tensor<2>| returns,
/// );
/// let data = Dataset::new(zeros([1, 50]))?;
/// let simulated = model.simulate(&[full([1], 0.5), full([1], 0.3)], &data, 1)?;
/// assert_eq!(simulated.columns()[0].numbers().count(), 50);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub struct TimeSeries<S, L, N> {
    initial: S,
    distribution: L,
    next: N,
}

impl<S, L, N> TimeSeries<S, L, N> {
    /// Creates the distribution.
    pub fn new<G>(initial: S, distribution: L, next: N) -> Self
    where
        S: TensorTree,
        G: Distribution<1>,
        L: Fn(S) -> G,
        N: Fn(S, Tensor<1>) -> S,
    {
        Self { initial, distribution, next }
    }
}

impl<S: TensorTree, L, N> fmt::Debug for TimeSeries<S, L, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shapes = Shapes(vec![]);
        self.initial.visit(&mut Path::root(), &mut shapes);
        f.debug_struct("TimeSeries").field("state", &shapes.0).finish_non_exhaustive()
    }
}

/// The shapes of the leaves of a state.
struct Shapes(Vec<Vec<usize>>);

impl Visitor for Shapes {
    fn float<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D>) {
        self.0.push(tensor.dims().to_vec());
    }

    fn int<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D, Int>) {
        self.0.push(tensor.dims().to_vec());
    }

    fn bool<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D, Bool>) {
        self.0.push(tensor.dims().to_vec());
    }
}

impl<S, G, L, N> Generative<Tensor<2>> for TimeSeries<S, L, N>
where
    S: TensorTree,
    G: Distribution<1>,
    L: Fn(S) -> G + Send + Sync,
    N: Fn(S, Tensor<1>) -> S + Send + Sync,
{
    fn rows(&self, value: Tensor<2>) -> Tensor<1> {
        let terms = scan(copy(&self.initial), value, 1, |state: S, y: Tensor<2>| {
            let y = y.squeeze_dim::<1>(1);
            let term = (self.distribution)(copy(&state)).log_prob(y.clone());
            ((self.next)(state, y), term.unsqueeze_dim::<2>(1))
        });
        terms.outputs.sum_dim(1).squeeze_dim::<1>(1)
    }

    fn draw(&self, like: &Tensor<2>, rng: &mut dyn Rng) -> Tensor<2> {
        let [n, steps] = like.dims();
        let mut state = copy(&self.initial);
        let mut drawn = vec![0.0; n * steps];
        for step in 0..steps {
            let y = (self.distribution)(copy(&state)).sample([n], rng);
            for (row, value) in y.to_data().iter::<f64>().enumerate() {
                drawn[row * steps + step] = value;
            }
            state = (self.next)(state, y.cast(like.dtype()));
        }
        Tensor::from_data(TensorData::new(drawn, [n, steps]), (&default_device(), DType::F64))
    }
}
