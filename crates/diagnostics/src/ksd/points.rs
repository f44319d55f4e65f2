//! Draws with their scores.

use crate::error::{self, Error};

/// Draws with their scores ∇ log p and optional weights.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::ksd::Points;
///
/// // Two draws of two parameters, with the scores −x of the standard normal distribution.
/// let points = Points::new(&[1.0, 2.0, 3.0, 4.0], &[-1.0, -2.0, -3.0, -4.0], 2).unwrap();
/// assert_eq!(points.len(), 2);
/// assert_eq!(points.columns([1]).unwrap(), Points::new(&[2.0, 4.0], &[-2.0, -4.0], 1).unwrap());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    pub(super) dimension: usize,
    pub(super) draws: Vec<f64>,
    pub(super) scores: Vec<f64>,
    pub(super) weights: Option<Vec<f64>>,
}

impl Points {
    /// Creates points from row-major tables of `draws` and `scores` with rows of `dimension` numbers.
    ///
    /// # Errors
    ///
    /// Returns an error if the tables differ in length, are not made of complete rows, or have a number that is not
    /// finite.
    pub fn new(draws: &[f64], scores: &[f64], dimension: usize) -> Result<Self, Error> {
        error::rows("draws", draws, dimension)?;
        error::rows("scores", scores, dimension)?;
        if draws.len() != scores.len() {
            let per = "column of every draw";
            return Err(Error::Length { what: "scores", found: scores.len(), expected: draws.len(), per });
        }
        Ok(Self { dimension, draws: draws.to_vec(), scores: scores.to_vec(), weights: None })
    }

    /// Sets the weight of each draw.
    ///
    /// # Errors
    ///
    /// Returns an error if there is not one weight for each draw, if a weight is negative or not finite, or if all
    /// are zero.
    pub fn weights(self, weights: &[f64]) -> Result<Self, Error> {
        error::weights(weights, self.len())?;
        Ok(Self { weights: Some(weights.to_vec()), ..self })
    }

    /// Selects columns, for instance those of one parameter block.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no columns, or if a column is out of range.
    pub fn columns(&self, columns: impl IntoIterator<Item = usize>) -> Result<Self, Error> {
        let columns: Vec<usize> = columns.into_iter().collect();
        if let Some(column) = columns.iter().copied().find(|column| *column >= self.dimension) {
            return Err(Error::Column { column, width: self.dimension });
        }
        if columns.is_empty() {
            return Err(Error::Setting { what: "the number of columns", found: 0.0, expected: "at least 1" });
        }
        let select = |table: &[f64]| -> Vec<f64> {
            table.chunks_exact(self.dimension).flat_map(|row| columns.iter().map(|column| row[*column])).collect()
        };
        let (draws, scores) = (select(&self.draws), select(&self.scores));
        Ok(Self { dimension: columns.len(), draws, scores, weights: self.weights.clone() })
    }

    /// Concatenates the draws of all chains. If some chains have weights, the draws of the others have weight 1.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no chains, or if their draws differ in dimension.
    pub fn pooled(chains: &[Self]) -> Result<Self, Error> {
        let Some(first) = chains.first() else { return Err(Error::TooFew { what: "the pool", found: 0, least: 1 }) };
        if let Some(other) = chains.iter().find(|chain| chain.dimension != first.dimension) {
            let (found, expected) = (other.dimension, first.dimension);
            return Err(Error::Length { what: "a draw of another chain", found, expected, per: "column of the first" });
        }
        let join = |field: fn(&Self) -> &[f64]| chains.iter().flat_map(field).copied().collect();
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

    /// Returns the number of draws.
    pub fn len(&self) -> usize {
        self.draws.len() / self.dimension
    }

    /// Returns whether there are no draws.
    pub fn is_empty(&self) -> bool {
        self.draws.is_empty()
    }

    /// Returns the weight of a draw.
    pub(super) fn weight(&self, draw: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[draw])
    }
}
