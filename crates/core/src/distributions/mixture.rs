//! Mixtures of any distributions over values of the same kind.

use burn_tensor::Tensor;
use rand::Rng;

use super::Distribution;
use super::categorical_logits::category;
use super::observed::unobserved;
use super::param::{Combine, Param, as_rows, from_host, host};
use crate::special::{log_sum_exp_of, logsumexp};

/// A mixture of any distributions over values of the same kind, also of different families.
///
/// ```text
/// log p(x) = log Σₖ exp(log w[k] + log pₖ(x)),   log w = logits − log Σₖ exp(logits[k])
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `weights` | probabilities of the components, numbers | positive, with sum one |
/// | `logits` | or log probabilities up to a constant: `[k]`, `[1, k]`, or `[n, k]` along the first axis | any real |
///
/// Support: the union of the components' supports; −∞ outside. A component whose support ends before x plays no part
/// there.
///
/// ```
/// use sgmcmc_core::distributions::{Mixture, Normal, StudentT};
///
/// let mixture = Mixture::weights(&[0.9, 0.1]).with(Normal::new(0.0, 1.0)).with(StudentT::new(3.0, 0.0, 10.0));
/// let y = sgmcmc_core::array(vec![0.0, 30.0], [2])?;
/// assert_eq!(mixture.log_prob(y).dims(), [2]);
/// # Ok::<(), sgmcmc_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Mixture<const D: usize, const OUT: usize = D> {
    weights: Weights,
    components: Vec<Box<dyn Distribution<D, OUT>>>,
}

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a mixture has one")]
enum Weights {
    Probabilities(Vec<f64>),
    Logits(Tensor<2>),
}

impl Weights {
    fn count(&self) -> usize {
        match self {
            Self::Probabilities(weights) => weights.len(),
            Self::Logits(logits) => logits.dims()[1],
        }
    }
}

impl<const D: usize, const OUT: usize> Mixture<D, OUT> {
    /// A mixture with these probabilities, to which as many components are added by [`with`](Self::with).
    pub fn weights(weights: &[f64]) -> Self {
        let valid = weights.iter().all(|weight| *weight > 0.0);
        let sum: f64 = weights.iter().sum();
        assert!(
            valid && (sum - 1.0).abs() < 1e-9,
            "Mixture: weights must be positive and add up to one, not {weights:?} (sum {sum})"
        );
        Self { weights: Weights::Probabilities(weights.to_vec()), components: Vec::new() }
    }

    /// A mixture with these log probabilities, `[k]`, `[1, k]` or `[n, k]`, which need not be normalised.
    pub fn logits<const R: usize>(logits: Tensor<R>) -> Self {
        Self { weights: Weights::Logits(as_rows(logits, "Mixture", "logits")), components: Vec::new() }
    }

    /// The mixture with one more component.
    pub fn with(mut self, component: impl Distribution<D, OUT> + 'static) -> Self {
        self.components.push(Box::new(component));
        self
    }

    /// The log density of each value.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<OUT> {
        self.check_count();
        let log_weights = match &self.weights {
            Weights::Probabilities(weights) => weights.iter().map(|weight| Param::Number(weight.ln())).collect(),
            Weights::Logits(logits) => columns(logits.clone() - logsumexp(logits.clone(), 1)),
        };
        let terms = self
            .components
            .iter()
            .zip(log_weights)
            // A value may be outside the support of some.
            .map(|(component, log_weight)| unobserved(|| component.log_prob(value.clone())).plus(&log_weight));
        log_sum_exp_of(terms.collect()).unwrap_or_else(|| panic!("Mixture: there are no components"))
    }

    /// Draws of the given shape, in `f64` on the default device.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; D], mut rng: &mut R) -> Tensor<D> {
        self.check_count();
        let count = self.components.len();
        // One choice for each log density; what is left of the shape belongs to it.
        let choices: usize = shape.iter().take(OUT).product();
        let block: usize = shape.iter().skip(OUT).product();
        let rows = shape.first().copied().unwrap_or(1);
        let logits = match &self.weights {
            Weights::Probabilities(weights) => weights.iter().map(|weight| weight.ln()).collect(),
            Weights::Logits(logits) => Param::Tensor(logits.clone()).values([logits.dims()[0].max(1), count]),
        };
        let per_row = logits.len() > count;
        assert!(!per_row || logits.len() == rows * count, "Mixture: logits have other rows than draws of {shape:?}");
        let drawn: Vec<Vec<f64>> =
            self.components.iter().map(|component| host(&component.sample(shape, &mut rng))).collect();
        let mut values = Vec::with_capacity(choices * block);
        for choice in 0..choices {
            let row = if per_row { choice * rows / choices.max(1) } else { 0 };
            let component = category(&logits[row * count..(row + 1) * count], rng);
            values.extend_from_slice(&drawn[component][choice * block..(choice + 1) * block]);
        }
        from_host(values, shape)
    }

    fn check_count(&self) {
        let (weights, components) = (self.weights.count(), self.components.len());
        assert!(weights == components, "Mixture: {weights} weights for {components} components");
    }
}

/// The columns of log weights, each `[1]` or `[n]`.
fn columns<const OUT: usize>(log_weights: Tensor<2>) -> Vec<Param<OUT>> {
    let [rows, count] = log_weights.dims();
    let shape: [usize; OUT] = std::array::from_fn(|axis| if axis == 0 { rows } else { 1 });
    (0..count).map(|k| Param::Tensor(log_weights.clone().narrow(1, k, 1).reshape(shape))).collect()
}

impl<const D: usize, const OUT: usize> Distribution<D, OUT> for Mixture<D, OUT> {
    fn log_prob(&self, value: Tensor<D>) -> Tensor<OUT> {
        Self::log_prob(self, value)
    }

    fn sample(&self, shape: [usize; D], rng: &mut dyn Rng) -> Tensor<D> {
        Self::sample(self, shape, rng)
    }
}
