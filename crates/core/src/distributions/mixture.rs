//! Finite mixtures of distributions.

use burn_tensor::Tensor;
use rand::Rng;

use super::{Distribution, Domain};
use super::categorical_logits::category;
use super::observed::without_recording;
use super::param::{Combine, Param, as_rows, from_host, host};
use crate::special::{log_sum_exp_of, logsumexp};

/// A finite mixture of distributions over values of the same shape, possibly of different families.
///
/// ```text
/// log p(x) = log Σₖ exp(log w[k] + log pₖ(x)),   log w = logits − log Σₖ exp(logits[k])
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | [`weights`](Self::weights) | probabilities of the components | slice of numbers | positive, with sum one |
/// | [`logits`](Self::logits) | log probabilities up to a constant | `[k]`, `[1, k]` or `[n, k]` | any real |
///
/// Support: the union of the supports of the components; the log density is −∞ outside. A component whose support does
/// not contain x does not contribute to the density at x.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Mixture_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::{Mixture, Normal};
///
/// let mixture = Mixture::weights(&[0.25, 0.75]).with(Normal::new(0.0, 1.0)).with(Normal::new(0.0, 2.0));
/// let x = sgmcmc::array(vec![0.0], [1])?;
/// let log_prob: Vec<f64> = mixture.log_prob(x).into_data().iter::<f64>().collect();
/// // (0.25 + 0.75/2)/√(2π)
/// assert!((log_prob[0] + 1.3889421).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct Mixture<const D: usize, const OUT: usize = D> {
    weights: Weights,
    components: Vec<Box<dyn Distribution<D, OUT>>>,
}

/// The weights of the components, as numbers or as unnormalized log probabilities.
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
    /// Creates a mixture with these probabilities. Add one component for each of them by [`with`](Self::with).
    ///
    /// # Panics
    ///
    /// Panics if a weight is not positive, or if their sum is not one.
    pub fn weights(weights: &[f64]) -> Self {
        let valid = weights.iter().all(|weight| *weight > 0.0);
        let sum: f64 = weights.iter().sum();
        assert!(
            valid && (sum - 1.0).abs() < 1e-9,
            "Mixture: weights must be positive and add up to one, not {weights:?} (sum {sum})"
        );
        Self { weights: Weights::Probabilities(weights.to_vec()), components: Vec::new() }
    }

    /// Creates a mixture with log probabilities of shape `[k]`, `[1, k]` or `[n, k]`, which need not be normalized. Add
    /// one component for each of them by [`with`](Self::with).
    ///
    /// # Panics
    ///
    /// Panics if the rank of `logits` is neither one nor two.
    pub fn logits<const R: usize>(logits: Tensor<R>) -> Self {
        Self { weights: Weights::Logits(as_rows(logits, "Mixture", "logits")), components: Vec::new() }
    }

    /// Adds a component.
    pub fn with(mut self, component: impl Distribution<D, OUT> + 'static) -> Self {
        self.components.push(Box::new(component));
        self
    }

    /// Returns the log density of each value.
    ///
    /// # Panics
    ///
    /// Panics if there are no components, or not as many as weights.
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
            // A value may be outside the support of some components, so the components do not record it.
            .map(|(component, log_weight)| without_recording(|| component.log_prob(value.clone())).plus(&log_weight));
        log_sum_exp_of(terms.collect()).unwrap_or_else(|| panic!("Mixture: there are no components"))
    }

    /// Returns independent draws in an `f64` tensor of the given shape on the default device.
    ///
    /// # Panics
    ///
    /// Panics if there are not as many components as weights, or if `logits` has neither one row nor one for each
    /// index of the first axis.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; D], mut rng: &mut R) -> Tensor<D> {
        self.check_count();
        let count = self.components.len();
        // A component is chosen for each log density. The remaining axes belong to one value.
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

/// Returns the columns of the log weights, each of shape `[1]` or `[n]` (padded with ones to rank `OUT`).
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

    fn support(&self) -> Domain {
        let supports = self.components.iter().map(|component| component.support());
        supports.reduce(Domain::union).unwrap_or(Domain::Real)
    }
}
