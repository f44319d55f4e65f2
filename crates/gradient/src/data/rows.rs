//! Selections of observations with weights.

use std::ops::Range;

use crate::error::{Error, Result};

/// The indices of selected observations.
///
/// # Examples
///
/// ```
/// use sgmcmc::data::{Rows, Selection};
///
/// assert_eq!(Rows::range(3..7).selection(), Selection::Range { start: 3, length: 4 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Selection<'a> {
    /// Consecutive observations.
    Range {
        /// The index of the first observation.
        start: usize,
        /// The number of observations.
        length: usize,
    },
    /// The observations with these indices, in this order. An index may be repeated.
    List(&'a [usize]),
}

/// The weights of selected observations.
///
/// # Examples
///
/// ```
/// use sgmcmc::data::{Rows, Weights};
///
/// assert_eq!(Rows::range(3..7).scaled(2.0).weights(), Weights::Same(2.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weights<'a> {
    /// The same weight for all observations.
    Same(f64),
    /// One weight per selected observation.
    Each(&'a [f64]),
}

/// Selected observations and their weights wᵢ, the terms of Σᵢ wᵢ log p(xᵢ|θ).
///
/// # Examples
///
/// ```
/// use sgmcmc::data::Rows;
///
/// let minibatch = Rows::list(&[7, 2]).scaled(500.0);
/// assert_eq!(minibatch.iter().collect::<Vec<_>>(), [(7, 500.0), (2, 500.0)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rows<'a> {
    selection: Selection<'a>,
    weights: Weights<'a>,
}

impl<'a> Rows<'a> {
    /// Creates a selection of the observations in `range`, with weight one.
    pub fn range(range: Range<usize>) -> Self {
        let selection = Selection::Range { start: range.start, length: range.len() };
        Self { selection, weights: Weights::Same(1.0) }
    }

    /// Creates a selection of the observations with the indices `rows`, with weight one.
    pub fn list(rows: &'a [usize]) -> Self {
        Self { selection: Selection::List(rows), weights: Weights::Same(1.0) }
    }

    /// Sets the weight of all observations to `weight`.
    #[must_use]
    pub fn scaled(self, weight: f64) -> Self {
        Self { weights: Weights::Same(weight), ..self }
    }

    /// Sets the weight of each observation.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Length`] if there is not one weight per observation.
    pub fn weighted(self, weights: &'a [f64]) -> Result<Self> {
        if weights.len() == self.len() {
            Ok(Self { weights: Weights::Each(weights), ..self })
        } else {
            Err(Error::Length { what: "the list of row weights", expected: self.len(), found: weights.len() })
        }
    }

    /// Returns the indices of the observations.
    pub fn selection(&self) -> Selection<'a> {
        self.selection
    }

    /// Returns the weights of the observations.
    pub fn weights(&self) -> Weights<'a> {
        self.weights
    }

    /// Returns the number of observations.
    pub fn len(&self) -> usize {
        match self.selection {
            Selection::Range { length, .. } => length,
            Selection::List(rows) => rows.len(),
        }
    }

    /// Returns `true` if no observation is selected.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an iterator over the indices and the weights of the observations.
    pub fn iter(self) -> impl Iterator<Item = (usize, f64)> + 'a {
        (0..self.len()).map(move |position| (self.row(position), self.weight(position)))
    }

    /// Returns the index of the observation at `position` of the selection.
    ///
    /// # Panics
    ///
    /// Panics if the selection is a list and `position` is out of range.
    pub fn row(&self, position: usize) -> usize {
        match self.selection {
            Selection::Range { start, .. } => start + position,
            Selection::List(rows) => rows[position],
        }
    }

    /// Splits the selection into chunks of at most `size` observations.
    pub fn chunks(self, size: usize) -> impl Iterator<Item = Self> {
        let size = size.max(1);
        (0..self.len()).step_by(size).map(move |start| self.part(start, size.min(self.len() - start)))
    }

    /// Checks that all indices are less than `observations`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::RowOutOfRange`] if one is not.
    pub fn check(&self, observations: usize) -> Result<()> {
        let outside = match self.selection {
            Selection::Range { start, length } => length > 0 && start + length > observations,
            Selection::List(rows) => any_outside(rows, observations),
        };
        if outside {
            let row = self.iter().map(|(row, _)| row).max().unwrap_or(observations);
            return Err(Error::RowOutOfRange { row, observations });
        }
        Ok(())
    }

    /// Returns the weight of the observation at `position` of the selection.
    fn weight(&self, position: usize) -> f64 {
        match self.weights {
            Weights::Same(weight) => weight,
            Weights::Each(weights) => weights[position],
        }
    }

    /// Returns the selection of `length` observations from position `from`.
    ///
    /// # Panics
    ///
    /// Panics if the indices or the weights are a list and the part is out of range.
    pub fn part(&self, from: usize, length: usize) -> Self {
        let selection = match self.selection {
            Selection::Range { start, .. } => Selection::Range { start: start + from, length },
            Selection::List(rows) => Selection::List(&rows[from..from + length]),
        };
        let weights = match self.weights {
            Weights::Same(weight) => Weights::Same(weight),
            Weights::Each(weights) => Weights::Each(&weights[from..from + length]),
        };
        Self { selection, weights }
    }
}

/// Returns `true` if one of `rows` is not less than `observations`, which is at most `isize::MAX`.
///
/// This check runs in every step. It has no branch per row and uses only operations with SIMD instructions on all
/// targets: if the sign bits of row and bound are zero, the sign bit of row − bound is set if and only if row < bound.
fn any_outside(rows: &[usize], observations: usize) -> bool {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            let (below, large) =
                rows.iter().fold((!0, 0), |(below, large), row| (below & row.wrapping_sub(observations), large | row));
            (!below | large) >> (usize::BITS - 1) == 1
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_the_selection_once() {
        let list = [5, 3, 8, 8, 1, 0, 2];
        let weights = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        let rows = Rows::list(&list).weighted(&weights).unwrap();
        let chunks: Vec<_> = rows.chunks(3).flat_map(|chunk| chunk.iter().collect::<Vec<_>>()).collect();
        assert_eq!(chunks, rows.iter().collect::<Vec<_>>());
        let range: Vec<_> = Rows::range(4..11).chunks(3).map(|chunk| (chunk.row(0), chunk.len())).collect();
        assert_eq!(range, [(4, 3), (7, 3), (10, 1)]);
    }

    #[test]
    fn indices_out_of_range_are_errors() {
        let error = Rows::list(&[1, 9, 3]).check(9).unwrap_err();
        assert_eq!(error, Error::RowOutOfRange { row: 9, observations: 9 });
        assert!(Rows::range(0..9).check(9).is_ok());
        assert!(Rows::range(0..10).check(9).is_err());
    }
}
