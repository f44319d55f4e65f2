//! Weighted subsampling.

use std::fmt;
use std::sync::Arc;

use rand_distr::Distribution;
use rand_distr::weighted::WeightedAliasIndex;
use serde::{Deserialize, Serialize};

use super::{BatchSize, BatchWeights, Minibatch, Scheme};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprinter;
use crate::rng::StreamRng;

/// Minibatches of n independent observations, where observation i has probability pᵢ.
///
/// The weights are wᵢ = 1/(n pᵢ). The variance of Σ wᵢ aᵢ is (1/n) (Σ aᵢ²/pᵢ − (Σ aᵢ)²), which is small if pᵢ is
/// proportional to
/// |aᵢ|. The scheme needs a likelihood with one entry per observation.
///
/// # Examples
///
/// ```
/// use sgmcmc::minibatch::Weighted;
///
/// let scheme = Weighted::new(2, vec![1.0, 3.0])?;
/// assert_eq!(scheme.probabilities(), [0.25, 0.75]);
/// assert!(Weighted::new(2, vec![1.0, 0.0]).is_err());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone)]
pub struct Weighted {
    size: BatchSize,
    probabilities: Arc<[f64]>,
    alias: Arc<WeightedAliasIndex<f64>>,
}

/// Shows the size, the number of weights and a fingerprint of them. The text identifies the scheme in checkpoints.
impl fmt::Debug for Weighted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Fingerprinter::new();
        parts.numbers(&self.probabilities);
        f.debug_struct("Weighted")
            .field("size", &self.size)
            .field("weights", &self.probabilities.len())
            .field("fingerprint", &format_args!("{}", parts.finish()))
            .finish()
    }
}

impl Weighted {
    /// Creates a scheme with minibatches of `size` observations, where the probability of observation i is proportional
    /// to `weights[i]`.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no weights, or if a weight is not a positive, finite number. An observation that
    /// is never drawn would bias the estimate.
    pub fn new(size: impl Into<BatchSize>, weights: Vec<f64>) -> Result<Self> {
        if let Some(row) = weights.iter().position(|weight| !(weight.is_finite() && *weight > 0.0)) {
            return Err(Error::SubsamplingWeight { row, value: weights[row] });
        }
        let total: f64 = weights.iter().sum();
        let probabilities: Arc<[f64]> = weights.iter().map(|weight| weight / total).collect();
        let alias = WeightedAliasIndex::new(weights)
            .map_err(|_| Error::EmptyDataset { reason: "there are no subsampling weights".into() })?;
        Ok(Self { size: size.into(), probabilities, alias: Arc::new(alias) })
    }

    /// Returns the probability of each observation.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }
}

/// The state of [`Weighted`]: the number of observations per minibatch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    size: usize,
}

impl Scheme for Weighted {
    type State = State;

    fn init(&self, observations: usize) -> Result<State> {
        if self.probabilities.len() != observations {
            let found = self.probabilities.len();
            return Err(Error::Length { what: "the list of subsampling weights", expected: observations, found });
        }
        Ok(State { size: self.size.resolve(observations)? })
    }

    fn draw(&self, state: &mut State, rng: &mut StreamRng, batch: &mut Minibatch) {
        if !matches!(batch.weights, BatchWeights::Each(_)) {
            batch.weights = BatchWeights::Each(Vec::new());
        }
        let BatchWeights::Each(weights) = &mut batch.weights else { return };
        weights.clear();
        batch.rows.clear();
        for _ in 0..state.size {
            let row = self.alias.sample(rng);
            batch.rows.push(row);
            weights.push(1.0 / (state.size as f64 * self.probabilities[row]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checkpoints compare schemes by their texts.
    #[test]
    fn schemes_with_other_weights_have_other_texts() {
        let text = |weights: [f64; 2]| format!("{:?}", Weighted::new(2, weights.to_vec()).unwrap());
        assert_eq!(text([1.0, 2.0]), text([2.0, 4.0]));
        assert_ne!(text([1.0, 2.0]), text([2.0, 1.0]));
    }

    #[test]
    fn invalid_weights_are_errors() {
        let zero = Weighted::new(2, vec![1.0, 0.0]).unwrap_err().to_string();
        assert!(zero.contains("weight 1 is 0"), "{zero}");
        let short = Weighted::new(2, vec![1.0, 2.0]).unwrap().init(3).unwrap_err().to_string();
        assert!(short.contains("subsampling weights has length 2, expected 3"), "{short}");
    }
}
