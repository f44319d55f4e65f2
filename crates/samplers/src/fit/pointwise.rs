//! The log-likelihood of every observation at every draw, on the data of the fit or on others.

use rayon::prelude::*;
use sgmcmc_core::{Error, Result, Target};

use sgmcmc_diagnostics::ess_mean;
use sgmcmc_diagnostics::loo::{self, Loo, Waic};

use super::Fit;
use super::stein::refused;

/// Most bytes that [`Fit::pointwise`] takes.
const MEMORY_LIMIT: usize = 1 << 30;

/// log p(xᵢ|θₛ) of every observation at every draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Pointwise {
    observations: usize,
    values: Vec<f64>,
    weights: Vec<f64>,
    chains: Vec<usize>,
    /// The effective sample size of means over the number of draws: the mean over values, as in ArviZ; 1 for one chain.
    relative_size: f64,
    equal_weights: bool,
}

impl Pointwise {
    /// How many observations there are.
    pub fn observations(&self) -> usize {
        self.observations
    }

    /// How many draws there are, over all chains.
    pub fn draws(&self) -> usize {
        self.weights.len()
    }

    /// Draws of each chain.
    pub fn chains(&self) -> &[usize] {
        &self.chains
    }

    /// All numbers, a row of observations for each draw, chain after chain.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The numbers of one draw after another.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.observations.max(1))
    }

    /// The numbers of one observation along the draws, chain after chain.
    pub fn observation(&self, index: usize) -> Vec<f64> {
        self.rows().filter_map(|row| row.get(index)).copied().collect()
    }

    /// The weight of each draw.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The mean over observations of log Σₛ wₛ p(xᵢ|θₛ) / Σₛ wₛ; see [`Fit::log_predictive_density`].
    pub fn log_predictive_density(&self) -> f64 {
        let mut mixture = Mixture::new(self.observations);
        self.rows().zip(&self.weights).for_each(|(row, weight)| mixture.add(row, *weight));
        mixture.mean_log()
    }

    /// Leave-one-out cross-validation by Pareto-smoothed importance sampling.
    ///
    /// # Errors
    ///
    /// If there are too few draws, they differ in weight, or a log-likelihood is not finite.
    pub fn loo(&self) -> Result<Loo> {
        self.check_weights()?;
        loo::loo(&self.values, self.observations, self.relative_size).map_err(refused)
    }

    /// The widely applicable information criterion; [`loo`](Self::loo) is more robust and says where it fails.
    ///
    /// # Errors
    ///
    /// As [`loo`](Self::loo).
    pub fn waic(&self) -> Result<Waic> {
        self.check_weights()?;
        loo::waic(&self.values, self.observations).map_err(refused)
    }

    fn check_weights(&self) -> Result<()> {
        if self.equal_weights {
            return Ok(());
        }
        let reason = "LOO and WAIC are for draws of equal weight, and these were made with different step sizes: \
                      use a constant step size, or `log_predictive_density` on a test set";
        Err(Error::Draws { reason: reason.into() })
    }
}

impl Fit {
    /// log p(xᵢ|θₛ) of every observation of `target` at every draw, on all threads.
    ///
    /// `target` is the posterior of the run, or the same model with other data for what the fit says of those. Up to 1 GiB; beyond that
    /// thin first, or use [`pointwise_within`](Self::pointwise_within).
    ///
    /// # Errors
    ///
    /// If `like` has other names or shapes than the fit, the model fails at a draw or does not tell observations apart, or it takes more
    /// memory than allowed.
    pub fn pointwise<T: Target>(&self, target: &T, like: &T::Params) -> Result<Pointwise> {
        self.pointwise_within(target, like, MEMORY_LIMIT)
    }

    /// As [`pointwise`](Self::pointwise), with up to `bytes` bytes.
    ///
    /// # Errors
    ///
    /// As [`pointwise`](Self::pointwise).
    pub fn pointwise_within<T: Target>(&self, target: &T, like: &T::Params, bytes: usize) -> Result<Pointwise> {
        let observations = target.evaluator(like)?.observations();
        let draws: usize = self.chains.iter().map(|chain| chain.len()).sum();
        let needed = observations.saturating_mul(draws).saturating_mul(size_of::<f64>());
        if needed > bytes {
            let what = format!("the log-likelihood of {observations} observations at {draws} draws");
            let remedy = "use `fit.thinned(…)` first, or `pointwise_within` with more memory; \
                          `log_predictive_density` needs no table";
            return Err(Error::memory(what, needed, bytes, remedy));
        }
        let pieces = self.each_piece(target, like, Vec::new, |values: &mut Vec<f64>, row, _| {
            values.extend_from_slice(row);
        })?;
        Ok(Pointwise {
            observations,
            values: pieces.concat(),
            weights: self.chains.iter().flat_map(|chain| chain.weights()).copied().collect(),
            chains: self.chains.iter().map(|chain| chain.len()).collect(),
            relative_size: self.relative_size(),
            equal_weights: !self.is_weighted(),
        })
    }

    /// How well the fit predicts the data of `target`, usually a test set: the mean over observations of the log of the predictive density
    /// Σₛ wₛ p(xᵢ|θₛ) / Σₛ wₛ. Takes no more memory than a few numbers per observation.
    ///
    /// # Errors
    ///
    /// As [`pointwise`](Self::pointwise), but for the memory.
    pub fn log_predictive_density<T: Target>(&self, target: &T, like: &T::Params) -> Result<f64> {
        let observations = target.evaluator(like)?.observations();
        let new = || Mixture::new(observations);
        let pieces =
            self.each_piece(target, like, new, |mixture: &mut Mixture, row, weight| mixture.add(row, weight))?;
        Ok(pieces.into_iter().fold(new(), Mixture::join).mean_log())
    }

    /// [`Pointwise::loo`] of the data of `target`.
    ///
    /// # Errors
    ///
    /// As [`pointwise`](Self::pointwise) and [`Pointwise::loo`].
    pub fn loo<T: Target>(&self, target: &T, like: &T::Params) -> Result<Loo> {
        self.pointwise(target, like)?.loo()
    }

    /// [`Pointwise::waic`] of the data of `target`.
    ///
    /// # Errors
    ///
    /// As [`pointwise`](Self::pointwise) and [`Pointwise::waic`].
    pub fn waic<T: Target>(&self, target: &T, like: &T::Params) -> Result<Waic> {
        self.pointwise(target, like)?.waic()
    }

    fn relative_size(&self) -> f64 {
        let draws: usize = self.chains.iter().map(|chain| chain.len()).sum();
        if self.chains.len() == 1 {
            return 1.0;
        }
        let size = |index: usize| {
            let chains: Vec<Vec<f64>> = self.chains.iter().map(|chain| chain.element(index)).collect();
            ess_mean(&chains)
        };
        // A value that does not vary has no effective size.
        let sizes: Vec<f64> =
            (0..self.layout.value_count()).into_par_iter().map(size).filter(|size| size.is_finite()).collect();
        if sizes.is_empty() { 1.0 } else { sizes.iter().sum::<f64>() / (sizes.len() * draws) as f64 }
    }

    /// Goes through the draws in one piece per thread, each with its own evaluator, and shows `each` the log-likelihoods and the weight of
    /// each draw.
    fn each_piece<T: Target, A: Send>(
        &self,
        target: &T,
        like: &T::Params,
        new: impl Fn() -> A + Sync,
        each: impl Fn(&mut A, &[f64], f64) + Sync,
    ) -> Result<Vec<A>> {
        self.layout.check_like(like)?;
        let draws: Vec<(&[f64], f64)> =
            self.chains.iter().flat_map(|chain| chain.rows().zip(chain.weights().iter().copied())).collect();
        let piece = draws.len().div_ceil(rayon::current_num_threads()).max(1);
        let pieces = draws.par_chunks(piece).map(|draws| {
            let mut evaluator = target.evaluator(like)?;
            let mut row = vec![0.0; evaluator.observations()];
            let mut piece = new();
            for (values, weight) in draws {
                let theta = evaluator.layout().coordinates(values)?;
                evaluator.pointwise(&theta, evaluator.all_rows(), &mut row)?;
                each(&mut piece, &row, *weight);
            }
            Ok(piece)
        });
        pieces.collect()
    }
}

/// Σₛ wₛ exp(ℓᵢₛ) of every observation, without overflow: a largest exponent, and the sum relative to it.
struct Mixture {
    largest: Vec<f64>,
    sums: Vec<f64>,
    weight: f64,
}

impl Mixture {
    fn new(observations: usize) -> Self {
        Self { largest: vec![f64::NEG_INFINITY; observations], sums: vec![0.0; observations], weight: 0.0 }
    }

    fn add(&mut self, row: &[f64], weight: f64) {
        self.weight += weight;
        self.largest
            .iter_mut()
            .zip(&mut self.sums)
            .zip(row)
            .for_each(|((top, sum), value)| put(top, sum, *value, weight));
    }

    fn join(mut self, other: Self) -> Self {
        self.weight += other.weight;
        let places = self.largest.iter_mut().zip(&mut self.sums);
        places
            .zip(other.largest.iter().zip(&other.sums))
            .for_each(|((top, sum), (value, part))| put(top, sum, *value, *part));
        self
    }

    fn mean_log(&self) -> f64 {
        let logs = self.largest.iter().zip(&self.sums).map(|(top, sum)| top + (sum / self.weight).ln());
        logs.sum::<f64>() / self.largest.len() as f64
    }
}

/// sum · e^top += weight · e^value, with `top` the larger of both exponents.
fn put(top: &mut f64, sum: &mut f64, value: f64, weight: f64) {
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
