//! Draws and their scores.

use crate::error::{self, Error};

/// Draws with their scores ∇ log p, and perhaps weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    pub(super) dimension: usize,
    pub(super) draws: Vec<f64>,
    pub(super) scores: Vec<f64>,
    pub(super) weights: Option<Vec<f64>>,
}

impl Points {
    /// `draws` and `scores` row by row, `dimension` numbers each.
    pub fn new(draws: &[f64], scores: &[f64], dimension: usize) -> Result<Self, Error> {
        error::rows("draws", draws, dimension)?;
        error::rows("scores", scores, dimension)?;
        if draws.len() != scores.len() {
            let per = "column of every draw";
            return Err(Error::Length { what: "scores", found: scores.len(), expected: draws.len(), per });
        }
        Ok(Self { dimension, draws: draws.to_vec(), scores: scores.to_vec(), weights: None })
    }

    /// The same with a weight for each draw.
    pub fn weights(self, weights: &[f64]) -> Result<Self, Error> {
        error::weights(weights, self.len())?;
        Ok(Self { weights: Some(weights.to_vec()), ..self })
    }

    /// Only the given columns: the block of a named parameter.
    pub fn columns(&self, columns: impl IntoIterator<Item = usize>) -> Result<Self, Error> {
        let columns: Vec<usize> = columns.into_iter().collect();
        if let Some(column) = columns.iter().copied().find(|column| *column >= self.dimension) {
            return Err(Error::Column { column, width: self.dimension });
        }
        if columns.is_empty() {
            return Err(Error::Setting { what: "the number of columns", found: 0.0, expected: "at least 1" });
        }
        let pick = |table: &[f64]| -> Vec<f64> {
            table.chunks_exact(self.dimension).flat_map(|row| columns.iter().map(|column| row[*column])).collect()
        };
        let (draws, scores) = (pick(&self.draws), pick(&self.scores));
        Ok(Self { dimension: columns.len(), draws, scores, weights: self.weights.clone() })
    }

    /// The draws of all chains together. Chains without weights count 1 a draw if others have weights.
    pub fn pooled(chains: &[Self]) -> Result<Self, Error> {
        let Some(first) = chains.first() else { return Err(Error::TooFew { what: "the pool", found: 0, least: 1 }) };
        if let Some(other) = chains.iter().find(|chain| chain.dimension != first.dimension) {
            let (found, expected) = (other.dimension, first.dimension);
            return Err(Error::Length { what: "a draw of another chain", found, expected, per: "column of the first" });
        }
        let join = |part: fn(&Self) -> &[f64]| chains.iter().flat_map(part).copied().collect();
        let weighted = chains.iter().any(|chain| chain.weights.is_some());
        let weights =
            || chains.iter().flat_map(|chain| chain.weights.clone().unwrap_or_else(|| vec![1.0; chain.len()]));
        Ok(Self {
            dimension: first.dimension,
            draws: join(|chain| &chain.draws),
            scores: join(|chain| &chain.scores),
            weights: weighted.then(|| weights().collect()),
        })
    }

    /// How many draws there are.
    pub fn len(&self) -> usize {
        self.draws.len() / self.dimension
    }

    /// Whether there are no draws.
    pub fn is_empty(&self) -> bool {
        self.draws.is_empty()
    }

    pub(super) fn weight(&self, draw: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[draw])
    }
}
