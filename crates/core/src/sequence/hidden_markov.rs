//! Hidden Markov models.

use burn_tensor::{DType, Tensor, TensorData};
use rand::Rng;

use super::scan;
use crate::array::default_device;
use crate::distributions::{Distribution, Generative, category};
use crate::special::logsumexp;

/// The distribution of the observations of a hidden Markov model, summed over the hidden states.
///
/// ```text
/// p(y) = Σ_z start[z₁] p(y₁|z₁) Πₜ transition[zₜ₋₁, zₜ] p(yₜ|zₜ)
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `start` | probabilities of the first state | `[k]` | a simplex |
/// | `transition` | probabilities of the next state, a row for each state | `[k, k]` | rows are simplexes |
/// | `observation` | distribution of an observation in each state | parameters of shape `[k]` or `[1]` | |
///
/// Values have shape `[n, T]`: each of the n rows is one series. The log density is computed by the forward algorithm in log
/// space, a [`scan`], which is compiled to a loop.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Hidden_Markov_model).
///
/// # Examples
///
/// ```
/// use sgmcmc::array;
/// use sgmcmc::distributions::{Generative, Normal};
/// use sgmcmc::sequence::HiddenMarkov;
///
/// let start = array(vec![0.5, 0.5], [2])?;
/// let transition = array(vec![0.9, 0.1, 0.2, 0.8], [2, 2])?;
/// let means = array(vec![0.0, 3.0], [2])?;
/// let model = HiddenMarkov::new(start, transition, Normal::new(means, 1.0));
/// // One step: an even mixture of N(0, 1) and N(3, 1).
/// let density = model.rows(array(vec![1.5], [1, 1])?).into_scalar::<f64>();
/// assert!((density + 0.5 * 1.5 * 1.5 + 0.918_938_5).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct HiddenMarkov {
    /// The logarithms of the probabilities of the first state, `[1, k]`.
    start: Tensor<2>,
    /// The logarithms of the probabilities of the next state, `[k, k]`.
    transition: Tensor<2>,
    observation: Box<dyn Distribution<2>>,
}

impl HiddenMarkov {
    /// Creates the distribution.
    ///
    /// # Panics
    ///
    /// Panics if `transition` is not square, or has another number of states than `start`. The probabilities are not
    /// checked.
    pub fn new(start: Tensor<1>, transition: Tensor<2>, observation: impl Distribution<2> + 'static) -> Self {
        let (states, dims) = (start.dims()[0], transition.dims());
        assert!(
            dims == [states, states],
            "HiddenMarkov: transition must be [{states}, {states}] for {states} states, not {dims:?}"
        );
        let start = start.log().unsqueeze_dim::<2>(0);
        Self { start, transition: transition.log(), observation: Box::new(observation) }
    }
}

impl Generative<Tensor<2>> for HiddenMarkov {
    fn rows(&self, value: Tensor<2>) -> Tensor<1> {
        let states = self.start.dims()[1];
        // log p(state, y₁, …, yₜ₋₁) for each state.
        let forward = scan(self.start.clone(), value, 1, |log_p: Tensor<2>, y: Tensor<2>| {
            let seen = log_p + self.observation.log_prob(y.repeat_dim(1, states));
            let moved = seen.unsqueeze_dim::<3>(2) + self.transition.clone().unsqueeze_dim::<3>(0);
            (logsumexp(moved, 1).squeeze_dim::<2>(1), ())
        });
        // The rows of the transition matrix sum to one, so that the last transition does not change the sum.
        logsumexp(forward.last, 1).squeeze_dim::<1>(1)
    }

    fn draw(&self, like: &Tensor<2>, rng: &mut dyn Rng) -> Tensor<2> {
        let ([n, steps], states) = (like.dims(), self.start.dims()[1]);
        let host = |tensor: Tensor<2>| tensor.into_data().iter::<f64>().collect::<Vec<f64>>();
        let (start, transition) = (host(self.start.clone()), host(self.transition.clone()));
        let seen = host(self.observation.sample([n * steps, states], rng));
        let mut drawn = Vec::with_capacity(n * steps);
        for _ in 0..n {
            let mut state = category(&start, rng);
            for _ in 0..steps {
                drawn.push(seen[drawn.len() * states + state]);
                state = category(&transition[state * states..(state + 1) * states], rng);
            }
        }
        Tensor::from_data(TensorData::new(drawn, [n, steps]), (&default_device(), DType::F64))
    }
}
