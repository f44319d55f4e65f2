//! The log-likelihood of every observation at every draw, and predictive accuracy.

use rayon::prelude::*;
use sgmcmc_gradient::{Error, Result, Target};

use sgmcmc_diagnostics::ess_mean;
use sgmcmc_diagnostics::loo::{self, Loo, Waic};

use super::Fit;
use super::stein::draws_error;

/// The memory limit of [`Fit::pointwise_log_likelihood`] in bytes.
const MEMORY_LIMIT: usize = 1 << 30;

/// The log-likelihood log p(xᵢ|θₛ) of every observation at every draw.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 0.0], [4])?)?;
/// let start = zeros([1]);
/// let fit = hmc(&model, &data, 0.006).seed(1).sample(&start, 200)?;
/// let pointwise = fit.pointwise_log_likelihood(&model.with(&data), &start)?;
/// assert_eq!((pointwise.observations(), pointwise.draws()), (4, 200));
/// assert!(pointwise.loo()?.elpd < pointwise.log_predictive_density() * 4.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PointwiseLogLikelihood {
    observations: usize,
    values: Vec<f64>,
    weights: Vec<f64>,
    chains: Vec<usize>,
    /// The ratio of the effective sample size of the mean to the number of draws, averaged over the values as in ArviZ.
    /// It is 1 for a single chain.
    relative_ess: f64,
    equal_weights: bool,
}

impl PointwiseLogLikelihood {
    /// Creates the table of the draws of `fit` from its values, one row per draw.
    pub(crate) fn from_values(fit: &Fit, observations: usize, values: Vec<f64>) -> Self {
        Self {
            observations,
            values,
            weights: fit.chains.iter().flat_map(|chain| chain.weights()).copied().collect(),
            chains: fit.chains.iter().map(|chain| chain.len()).collect(),
            relative_ess: fit.relative_ess(),
            equal_weights: !fit.is_weighted(),
        }
    }

    /// Returns the effective sample size divided by the number of draws.
    ///
    /// # Errors
    ///
    /// Returns an error if the draws have different weights.
    pub(crate) fn relative_size(&self) -> Result<f64> {
        self.check_weights()?;
        Ok(self.relative_ess)
    }

    /// Returns the number of observations.
    pub fn observations(&self) -> usize {
        self.observations
    }

    /// Returns the number of draws of all chains.
    pub fn draws(&self) -> usize {
        self.weights.len()
    }

    /// Returns the number of draws of each chain.
    pub fn chains(&self) -> &[usize] {
        &self.chains
    }

    /// Returns the matrix in row-major order, with one row per draw and one column per observation. Chains follow each
    /// other.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns an iterator over the rows of the matrix, one per draw.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.observations.max(1))
    }

    /// Returns the log-likelihood of one observation at every draw.
    pub fn observation(&self, index: usize) -> Vec<f64> {
        self.rows().filter_map(|row| row.get(index)).copied().collect()
    }

    /// Returns the weight of each draw.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Returns the mean over observations of log Σₛ wₛ p(xᵢ|θₛ) / Σₛ wₛ. See [`Fit::log_predictive_density`].
    pub fn log_predictive_density(&self) -> f64 {
        let mut mixture = Mixture::new(self.observations);
        self.rows().zip(&self.weights).for_each(|(row, weight)| mixture.add(row, *weight));
        mixture.mean_log()
    }

    /// Estimates leave-one-out cross-validation by Pareto-smoothed importance sampling.
    ///
    /// # Errors
    ///
    /// Returns an error if there are too few draws, if their weights differ, or if a log-likelihood is not finite.
    pub fn loo(&self) -> Result<Loo> {
        self.check_weights()?;
        loo::loo(&self.values, self.observations, self.relative_ess).map_err(draws_error)
    }

    /// Computes the widely applicable information criterion. [`loo`](Self::loo) is more robust and has better
    /// diagnostics.
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`loo`](Self::loo).
    pub fn waic(&self) -> Result<Waic> {
        self.check_weights()?;
        loo::waic(&self.values, self.observations).map_err(draws_error)
    }

    /// Checks that all draws have the same weight.
    fn check_weights(&self) -> Result<()> {
        if self.equal_weights {
            return Ok(());
        }
        let reason = "LOO and WAIC need draws of equal weight, but these were made with different step sizes: \
                      use a constant step size, or `log_predictive_density` on a test set";
        Err(Error::Draws { reason: reason.into() })
    }
}

impl Fit {
    /// Returns the log-likelihood log p(xᵢ|θₛ) of every observation of `target` at every draw, computed on all threads.
    ///
    /// `target` is the posterior of the run, or the same model with other data. The memory limit is 1 GiB. For more,
    /// thin the fit or use [`pointwise_log_likelihood_within`](Self::pointwise_log_likelihood_within).
    ///
    /// # Errors
    ///
    /// Returns an error if `like` has other names or shapes than the fit, if the model fails at a draw or has no
    /// log-likelihood per observation, or if the result exceeds the memory limit.
    pub fn pointwise_log_likelihood<T: Target>(&self, target: &T, like: &T::Params) -> Result<PointwiseLogLikelihood> {
        self.pointwise_log_likelihood_within(target, like, MEMORY_LIMIT)
    }

    /// Returns the same as [`pointwise_log_likelihood`](Self::pointwise_log_likelihood), with a memory limit of `bytes` bytes.
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`pointwise_log_likelihood`](Self::pointwise_log_likelihood).
    pub fn pointwise_log_likelihood_within<T: Target>(
        &self,
        target: &T,
        like: &T::Params,
        bytes: usize,
    ) -> Result<PointwiseLogLikelihood> {
        let observations = target.evaluator(like)?.observations();
        let draws: usize = self.chains.iter().map(|chain| chain.len()).sum();
        let needed = observations.saturating_mul(draws).saturating_mul(size_of::<f64>());
        if needed > bytes {
            let what = format!("the log-likelihood of {observations} observations at {draws} draws");
            let remedy = "use `fit.thinned(…)` first, or `pointwise_log_likelihood_within` with more memory; \
                          `log_predictive_density` needs no table";
            return Err(Error::memory(what, needed, bytes, remedy));
        }
        let chunks = self.accumulate_chunks(target, like, Vec::new, |values: &mut Vec<f64>, row, _| {
            values.extend_from_slice(row);
        })?;
        Ok(PointwiseLogLikelihood::from_values(self, observations, chunks.concat()))
    }

    /// Returns the mean log predictive density of the data of `target`, usually a test set: the mean over observations of
    /// log Σₛ wₛ p(xᵢ|θₛ) / Σₛ wₛ. The memory is linear in the number of observations.
    ///
    /// # Errors
    ///
    /// Returns an error if `like` has other names or shapes than the fit, or if the model fails at a draw or has no
    /// log-likelihood per observation.
    pub fn log_predictive_density<T: Target>(&self, target: &T, like: &T::Params) -> Result<f64> {
        let observations = target.evaluator(like)?.observations();
        let new = || Mixture::new(observations);
        let chunks =
            self.accumulate_chunks(target, like, new, |mixture: &mut Mixture, row, weight| mixture.add(row, weight))?;
        Ok(chunks.into_iter().fold(new(), Mixture::join).mean_log())
    }

    /// Estimates leave-one-out cross-validation on the data of `target`. See [`PointwiseLogLikelihood::loo`].
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`pointwise_log_likelihood`](Self::pointwise_log_likelihood) and [`PointwiseLogLikelihood::loo`].
    pub fn loo<T: Target>(&self, target: &T, like: &T::Params) -> Result<Loo> {
        self.pointwise_log_likelihood(target, like)?.loo()
    }

    /// Computes the widely applicable information criterion on the data of `target`. See [`PointwiseLogLikelihood::waic`].
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`pointwise_log_likelihood`](Self::pointwise_log_likelihood) and [`PointwiseLogLikelihood::waic`].
    pub fn waic<T: Target>(&self, target: &T, like: &T::Params) -> Result<Waic> {
        self.pointwise_log_likelihood(target, like)?.waic()
    }

    /// Returns the ratio of the effective sample size of the mean to the number of draws, averaged over the values.
    fn relative_ess(&self) -> f64 {
        let draws: usize = self.chains.iter().map(|chain| chain.len()).sum();
        if self.chains.len() == 1 {
            return 1.0;
        }
        let size = |index: usize| {
            let chains: Vec<Vec<f64>> = self.chains.iter().map(|chain| chain.element(index)).collect();
            ess_mean(&chains)
        };
        // The effective sample size of a constant value is not defined.
        let sizes: Vec<f64> =
            (0..self.layout.value_count()).into_par_iter().map(size).filter(|size| size.is_finite()).collect();
        if sizes.is_empty() { 1.0 } else { sizes.iter().sum::<f64>() / (sizes.len() * draws) as f64 }
    }

    /// Splits the draws into one chunk per thread, each with its own evaluator and accumulator. Calls `add` with the
    /// accumulator, the log-likelihoods and the weight of each draw, and returns the accumulators in order.
    fn accumulate_chunks<T: Target, A: Send>(
        &self,
        target: &T,
        like: &T::Params,
        new: impl Fn() -> A + Sync,
        add: impl Fn(&mut A, &[f64], f64) + Sync,
    ) -> Result<Vec<A>> {
        let parameters = self.only_parameters(&target.layout(like)?)?;
        let draws: Vec<(&[f64], f64)> =
            parameters.chains.iter().flat_map(|chain| chain.rows().zip(chain.weights().iter().copied())).collect();
        let chunk_length = draws.len().div_ceil(rayon::current_num_threads()).max(1);
        let chunks = draws.par_chunks(chunk_length).map(|draws| {
            let mut evaluator = target.evaluator(like)?;
            let mut row = vec![0.0; evaluator.observations()];
            let mut accumulator = new();
            for (values, weight) in draws {
                let theta = evaluator.layout().coordinates(values)?;
                evaluator.log_likelihood_per_observation(&theta, evaluator.all_rows(), &mut row)?;
                add(&mut accumulator, &row, *weight);
            }
            Ok(accumulator)
        });
        chunks.collect()
    }
}

/// The sum Σₛ wₛ exp(ℓᵢₛ) of every observation. Stores the largest exponent and the sum relative to it, to avoid
/// overflow.
struct Mixture {
    largest: Vec<f64>,
    sums: Vec<f64>,
    weight: f64,
}

impl Mixture {
    /// Creates an empty sum for each observation.
    fn new(observations: usize) -> Self {
        Self { largest: vec![f64::NEG_INFINITY; observations], sums: vec![0.0; observations], weight: 0.0 }
    }

    /// Adds the log-likelihoods of a draw with its weight.
    fn add(&mut self, row: &[f64], weight: f64) {
        self.weight += weight;
        self.largest
            .iter_mut()
            .zip(&mut self.sums)
            .zip(row)
            .for_each(|((top, sum), value)| add_exp(top, sum, *value, weight));
    }

    /// Adds the sums of `other`.
    fn join(mut self, other: Self) -> Self {
        self.weight += other.weight;
        let sums = self.largest.iter_mut().zip(&mut self.sums);
        sums.zip(other.largest.iter().zip(&other.sums))
            .for_each(|((top, sum), (value, part))| add_exp(top, sum, *value, *part));
        self
    }

    /// Returns the mean over observations of the log of the weighted mean likelihood.
    fn mean_log(&self) -> f64 {
        let logs = self.largest.iter().zip(&self.sums).map(|(top, sum)| top + (sum / self.weight).ln());
        logs.sum::<f64>() / self.largest.len() as f64
    }
}

/// Adds weight · e^value to sum · e^top. Updates `top` to the larger of the two exponents.
fn add_exp(top: &mut f64, sum: &mut f64, value: f64, weight: f64) {
    if value > *top {
        *sum = *sum * (*top - value).exp() + weight;
        *top = value;
    } else if value > f64::NEG_INFINITY || value.is_nan() {
        *sum += weight * (value - *top).exp();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixtures_do_not_overflow_and_count_weights() {
        let rows = [[-1000.0, 800.0, 0.5], [-1001.0, 802.0, f64::NEG_INFINITY], [-999.0, 0.0, 0.25]];
        let weights = [1.0, 2.0, 0.5];
        let exact = |i: usize, shift: f64| {
            let sum: f64 = rows.iter().zip(weights).map(|(row, w)| w * (row[i] - shift).exp()).sum();
            shift + (sum / 3.5).ln()
        };
        let expected = (exact(0, -999.0) + exact(1, 802.0) + exact(2, 0.0)) / 3.0;
        let mut whole = Mixture::new(3);
        rows.iter().zip(weights).for_each(|(row, weight)| whole.add(row, weight));
        assert!((whole.mean_log() - expected).abs() < 1e-10, "{} against {expected}", whole.mean_log());
        let (mut first, mut second) = (Mixture::new(3), Mixture::new(3));
        first.add(&rows[0], weights[0]);
        second.add(&rows[1], weights[1]);
        second.add(&rows[2], weights[2]);
        assert!((first.join(second).mean_log() - expected).abs() < 1e-10);
    }
}
